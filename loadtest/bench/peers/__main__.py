"""`python -m loadtest.bench.peers`: prints the peers' tables of BENCHMARKS.md. It takes minutes on an idle machine."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from loadtest.bench.peers.client import ContestResult, LatencyRun, PeerResult, ThroughputRun
from loadtest.bench.peers.contest import PER_REQUEST, SAMPLE_SIZES, Contest, GleanerVariant, Setup
from loadtest.bench.throughput import DIFFERENCES, compare
from loadtest.errors import end_on_sigterm

FULL_LOAD = ("model", "software", "set-up", "documents per second")
LATENCY = ("model", "offered a second", "which is", "software", "answered a second meanwhile", "requests", "p50 ms",
           "p99 ms", "unanswered", "client's lag p99 ms")  # fmt: skip
SUSTAINED_SHARE = 0.95
"""A software that answers a smaller part of the offered rate meanwhile has no steady latency."""


def full_load(outcomes: list[ContestResult], ours: list[str]) -> Iterator[str]:
    """Documents per second; for each variant of ours a column with its ratio to each peer."""
    yield from _head((*FULL_LOAD, *(f"{name} ÷ it" for name in ours), *DIFFERENCES))
    blanks = [""] * len(ours)
    for outcome in outcomes:
        for peer in outcome.peers:
            ratios = [f"{peer.ratio(name):.2f}" for name in ours]
            yield _full_load_row(outcome, peer.name, peer.setup, peer.run, ratios)
        for name in ours:
            yield _full_load_row(outcome, name, "one document a request", outcome.ours(name), blanks)
            many = f"{PER_REQUEST} documents a request"
            yield _full_load_row(outcome, name, many, outcome.grouped[name], blanks)


def latency(outcomes: list[ContestResult]) -> Iterator[str]:
    """Latencies of ours and of the best server at the same offered rates."""
    yield from _head(LATENCY)
    for outcome in outcomes:
        for run in outcome.latencies:
            yield _latency_row(outcome.model, run)


def verdicts(outcomes: list[ContestResult], ours: list[str]) -> Iterator[str]:
    """Sentences: our ratios to the best peer, the best server and tuned peers; and whose p99 is lower at each rate."""
    for outcome in outcomes:
        for name in ours:
            peers = {peer.name: peer for peer in (outcome.best, outcome.best_server, *outcome.tuned)}.values()
            ratios = ", ".join(f"{peer.ratio(name):.2f} times {_place(outcome, peer)}" for peer in peers)
            yield f"{outcome.model}: {name} is {ratios}."
        for mine, other in zip(outcome.latencies[::2], outcome.latencies[1::2], strict=True):
            yield f"{outcome.model}: {_comparison(mine, other)}"


def _place(outcome: ContestResult, peer: PeerResult) -> str:
    if peer.tuned:
        return f"{peer.name} (tuned beyond its defaults)"
    return f"{peer.name} (the best {'peer' if peer is outcome.best else 'server'})"


def _comparison(mine: LatencyRun, other: LatencyRun) -> str:
    word = "below" if mine.figures.p99_ms < other.figures.p99_ms else "NOT below"
    overloaded = other.figures.sustained < SUSTAINED_SHARE * other.figures.offered
    end = f", which answers only {other.figures.sustained:.1f} a second of them and falls ever further behind"
    return (
        f"at {mine.share}, {mine.figures.offered:.1f} documents a second, the p99 of {mine.name} is "
        f"{mine.figures.p99_ms:.0f} ms, {word} the {other.figures.p99_ms:.0f} ms of {other.name}"
        f"{end if overloaded else ''}."
    )


def _full_load_row(outcome: ContestResult, name: str, setup: str, run: ThroughputRun, ratios: list[str]) -> str:
    difference, differing = compare(outcome.reference, run.entities)
    rate = f"{run.per_second:.1f}"
    return _row(outcome.model, name, setup, rate, *ratios, f"{difference:.4f}", f"{differing:.2%}")


def _latency_row(model: str, run: LatencyRun) -> str:
    found = run.figures
    times = (f"{found.p50_ms:.0f}", f"{found.p99_ms:.0f}", str(found.unanswered), f"{found.lag_p99_ms:.1f}")
    rates = (f"{found.offered:.1f}", run.share, run.name, f"{found.sustained:.1f}")
    return _row(model, *rates, str(found.requests), *times)


def _head(heads: tuple[str, ...]) -> Iterator[str]:
    yield _row(*heads)
    yield "|" + "---|" * len(heads)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


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
    print("\n## Peers at full load, CPU\n", *full_load(results, names), sep="\n")
    print("\n## Peers' latency, Poisson arrivals\n", *latency(results), "", sep="\n")
    print(*verdicts(results, names), sep="\n")


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
