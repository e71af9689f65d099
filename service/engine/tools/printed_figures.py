"""The main program of a tool that measures one model and prints what it found as one JSON object."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import msgspec

from service.logs import configure
from service.process import die_with_parent
from service.settings import Settings, read_settings


def print_figures(measure: Callable[[Settings, str], dict[str, Any]]) -> int:
    """Print what `measure` finds of the model that the command line names; returns the exit code."""
    die_with_parent()
    configure("WARNING")
    sys.stdout.buffer.write(msgspec.json.encode(measure(read_settings(), sys.argv[1])))
    return 0
