"""`python -m loadtest.bench.peers`: prints the peers' tables of BENCHMARKS.md. Minutes; leave the machine alone."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from loadtest.bench.peers import tables
from loadtest.bench.peers.contest import AMOUNTS, Contest, GleanerVariant
from loadtest.bench.peers.setups import Setup
from loadtest.service_process.sigterm import end_on_sigterm

DEFAULT = (GleanerVariant("ours"), GleanerVariant("ours, int8", {"DTYPE": "int8"}))
OURS_HELP = """one way to run ours, e.g. 'ours, int8:DTYPE=int8'; may be repeated, the first is compared in latency too
(default: 'ours' as users get it, and int8)"""


def main() -> None:
    """A contest for each model, then the tables; progress on stderr."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.bench.peers", description=__doc__)
    parser.add_argument("--model", choices=AMOUNTS, action="append", help="this one only (may be repeated)")
    parser.add_argument("--ours", action="append", type=read_ours, metavar="NAME:SETTING=VALUE,…", help=OURS_HELP)
    chosen = parser.parse_args()
    end_on_sigterm()
    ours = chosen.ours or list(DEFAULT)
    setups: dict[str, Setup] = {}
    begun = time.monotonic()

    def say(words: str) -> None:
        print(f"{time.monotonic() - begun:5.0f} s  {words}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="gleaner-bench-") as home:
        outcomes = [Contest(Path(home), model, ours, setups, say).run() for model in chosen.model or AMOUNTS]
    names = [each.name for each in ours]
    print("\n## Peers at full load, CPU\n", *tables.full_load(outcomes, names), sep="\n")
    print("\n## Peers' latency, Poisson arrivals\n", *tables.latency(outcomes), "", sep="\n")
    print(*tables.verdicts(outcomes, names), sep="\n")


def read_ours(text: str) -> GleanerVariant:
    """`name:SETTING=VALUE,…`; the settings may be left away.

    Raises:
        argparse.ArgumentTypeError: a setting has no value.
    """
    name, _, settings = text.partition(":")
    pairs = [pair.partition("=") for pair in settings.split(",") if pair]
    if any(not sign for _, sign, _ in pairs):
        raise argparse.ArgumentTypeError(f"{settings!r} is not SETTING=VALUE,…")
    return GleanerVariant(name, {setting: value for setting, _, value in pairs})


if __name__ == "__main__":
    main()
