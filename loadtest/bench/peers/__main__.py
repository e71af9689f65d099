"""`python -m loadtest.bench.peers`: prints the peers' tables of BENCHMARKS.md. It takes minutes on an idle machine."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from loadtest.bench.peers import tables
from loadtest.bench.peers.contest import SAMPLE_SIZES, Contest, GleanerVariant
from loadtest.bench.peers.setups import Setup
from loadtest.service_process.sigterm import end_on_sigterm

DEFAULT = (GleanerVariant("ours"), GleanerVariant("ours, int8", {"DTYPE": "int8"}))
OURS_HELP = """a variant of ours, e.g. 'ours, int8:DTYPE=int8'; may be repeated, the first is compared in latency too
(default: 'ours' with its defaults, and int8)"""


def main() -> None:
    """Run a contest for each model, then print the tables; progress goes to stderr."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.bench.peers", description=__doc__)
    parser.add_argument("--model", choices=SAMPLE_SIZES, action="append", help="this one only (may be repeated)")
    parser.add_argument("--ours", action="append", type=parse_variant, metavar="NAME:SETTING=VALUE,…", help=OURS_HELP)
    chosen = parser.parse_args()
    end_on_sigterm()
    ours = chosen.ours or list(DEFAULT)
    setups: dict[str, Setup] = {}
    began = time.monotonic()

    def log(text: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {text}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="gleaner-bench-") as home:
        results = [Contest(Path(home), model, ours, setups, log).run() for model in chosen.model or SAMPLE_SIZES]
    names = [each.name for each in ours]
    print("\n## Peers at full load, CPU\n", *tables.full_load(results, names), sep="\n")
    print("\n## Peers' latency, Poisson arrivals\n", *tables.latency(results), "", sep="\n")
    print(*tables.verdicts(results, names), sep="\n")


def parse_variant(text: str) -> GleanerVariant:
    """The variant in `name:SETTING=VALUE,…`; the settings are optional.

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
