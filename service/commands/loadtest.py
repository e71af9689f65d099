"""`gleaner loadtest`: load on a service, on schedule whatever it does; its knee; a report (all in `loadtest`)."""

from __future__ import annotations

import argparse

from loadtest import cli
from loadtest.service_process.sigterm import end_on_sigterm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be asked for."""
    parser.description = __doc__
    cli.add_arguments(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Do what was asked for; the exit code."""
    end_on_sigterm()
    return cli.run(chosen)
