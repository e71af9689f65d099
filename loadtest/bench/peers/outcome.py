"""The result of one model's contest as values: every run, the best peers, and our own median run."""

from __future__ import annotations

from dataclasses import dataclass

from loadtest.bench.peers.client import Entities, LatencyFigures, ThroughputRun


@dataclass(frozen=True, slots=True)
class PeerResult:
    """A peer at its best set-up, and the runs of ours between its two runs, by name.

    `served`: over HTTP. `tuned`: in a precision other than its default.
    """

    name: str
    setup: str
    served: bool
    run: ThroughputRun
    ours: dict[str, ThroughputRun]
    tuned: bool = False

    def ratio(self, name: str) -> float:
        """The rate of our variant of this name over the peer's."""
        return self.ours[name].per_second / self.run.per_second


@dataclass(frozen=True, slots=True)
class LatencyRun:
    """One software at one offered rate; `share`: which part of whose capacity that rate is."""

    name: str
    share: str
    figures: LatencyFigures


@dataclass(frozen=True, slots=True)
class ContestResult:
    """The result of one contest. The first peer, the pipeline in float32, is the reference for the entities.

    `grouped`: ours with several documents per request, by name. `latencies`: ours and the best server at a share of our
    capacity, then both at the same share of that server's.
    """

    model: str
    peers: tuple[PeerResult, ...]
    grouped: dict[str, ThroughputRun]
    latencies: tuple[LatencyRun, ...] = ()

    @property
    def best(self) -> PeerResult:
        """The fastest peer in its default precision."""
        return max((peer for peer in self.peers if not peer.tuned), key=lambda peer: peer.run.per_second)

    @property
    def tuned(self) -> tuple[PeerResult, ...]:
        return tuple(peer for peer in self.peers if peer.tuned)

    @property
    def best_server(self) -> PeerResult:
        """The fastest peer over HTTP: only those have a latency to compare."""
        return max((peer for peer in self.peers if peer.served), key=lambda peer: peer.run.per_second)

    @property
    def reference(self) -> list[Entities]:
        return self.peers[0].run.entities

    def ours(self, name: str) -> ThroughputRun:
        """The median of our runs of this name, by rate."""
        runs = sorted((peer.ours[name] for peer in self.peers), key=lambda run: run.per_second)
        return runs[(len(runs) - 1) // 2]
