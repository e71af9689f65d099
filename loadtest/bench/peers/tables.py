"""What the contests gave, as tables and sentences for BENCHMARKS.md. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from loadtest.bench.engine.throughput import DIFFERENCES, compare
from loadtest.bench.peers.client import ThroughputRun
from loadtest.bench.peers.contest import OF_A_REQUEST
from loadtest.bench.peers.outcome import ContestResult, LatencyRun, PeerResult

FULL_LOAD = ("model", "software", "set-up", "documents per second")
LATENCY = ("model", "offered a second", "which is", "software", "answered a second meanwhile", "requests", "p50 ms",
           "p99 ms", "unanswered", "client's lag p99 ms")  # fmt: skip
BORNE_SHARE = 0.95
"""Of the offered rate; who answers fewer while they come has no steady latency."""


def full_load(outcomes: list[ContestResult], ours: list[str]) -> Iterator[str]:
    """Documents per second; for each of ours a column of ratios, side by side with each peer."""
    yield from _head((*FULL_LOAD, *(f"{name} ÷ it" for name in ours), *DIFFERENCES))
    blanks = [""] * len(ours)
    for outcome in outcomes:
        for peer in outcome.peers:
            ratios = [f"{peer.ratio(name):.2f}" for name in ours]
            yield _full_load_row(outcome, peer.name, peer.setup, peer.answered, ratios)
        for name in ours:
            yield _full_load_row(outcome, name, "one document a request", outcome.ours(name), blanks)
            many = f"{OF_A_REQUEST} documents a request"
            yield _full_load_row(outcome, name, many, outcome.together[name], blanks)


def latency(outcomes: list[ContestResult]) -> Iterator[str]:
    """What ours and the best server bear at the same offered rates."""
    yield from _head(LATENCY)
    for outcome in outcomes:
        for borne in outcome.latencies:
            yield _latency_row(outcome.model, borne)


def verdicts(outcomes: list[ContestResult], ours: list[str]) -> Iterator[str]:
    """Sentences: the ratios to the best peer, the best server and what was tuned; whose p99 is lower at each rate."""
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
    word = "below" if mine.latency.p99_ms < other.latency.p99_ms else "NOT below"
    drowns = other.latency.sustained < BORNE_SHARE * other.latency.offered
    end = f", which answers only {other.latency.sustained:.1f} a second of them and falls ever further behind"
    return (
        f"at {mine.share}, {mine.latency.offered:.1f} documents a second, the p99 of {mine.name} is "
        f"{mine.latency.p99_ms:.0f} ms, {word} the {other.latency.p99_ms:.0f} ms of {other.name}"
        f"{end if drowns else ''}."
    )


def _full_load_row(outcome: ContestResult, name: str, setup: str, answered: ThroughputRun, ratios: list[str]) -> str:
    difference, differing = compare(outcome.reference, answered.entities)
    rate = f"{answered.per_second:.1f}"
    return _row(outcome.model, name, setup, rate, *ratios, f"{difference:.4f}", f"{differing:.2%}")


def _latency_row(model: str, borne: LatencyRun) -> str:
    found = borne.latency
    times = (f"{found.p50_ms:.0f}", f"{found.p99_ms:.0f}", str(found.unanswered), f"{found.lag_p99_ms:.1f}")
    rates = (f"{found.offered:.1f}", borne.share, borne.name, f"{found.sustained:.1f}")
    return _row(model, *rates, str(found.requests), *times)


def _head(heads: tuple[str, ...]) -> Iterator[str]:
    yield _row(*heads)
    yield "|" + "---|" * len(heads)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
