"""`gleaner loadtest`: loads a service on schedule and reports, or finds its knee; all in the package `loadtest`."""

from __future__ import annotations

import argparse

from loadtest import cli


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the load test's commands and their arguments."""
    cli.add_arguments(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Run the chosen command; returns the exit code."""
    cli.end_on_sigterm()
    return cli.run(chosen)
