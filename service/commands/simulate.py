"""`gleaner simulate`: a scaling policy against a demand; all in the package `loadtest.simulator`."""

from __future__ import annotations

import argparse

from loadtest.simulator import command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the simulator's arguments."""
    command.add_arguments(parser)
