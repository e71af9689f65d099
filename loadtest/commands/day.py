"""`gleaner loadtest day KIND FILE`: a synthetic day of arrivals, written as a trace."""

from __future__ import annotations

import argparse

from loadtest.arrivals.synthetic_days import make_day
from loadtest.arrivals.traces import lines


def run(chosen: argparse.Namespace) -> None:
    """Write the trace."""
    chosen.file.write_text("\n".join(lines(make_day(chosen.kind, chosen.seed))) + "\n")
    print(f"written: {chosen.file}")
