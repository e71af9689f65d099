"""`gleaner loadtest`: load on a service, on schedule whatever it does; its knee; a report (all in `loadtest`)."""

from __future__ import annotations

from typing import Any

from loadtest import command


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("loadtest", help="load a service and report, or find its knee", description=__doc__)
    command.add_arguments(parser)
    parser.set_defaults(run=command.run)
