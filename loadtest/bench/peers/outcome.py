"""What one model's contest gave, as values; which peer was best, and what our own documents per second are."""

from __future__ import annotations

from dataclasses import dataclass

from loadtest.bench.peers.client import Entities, LatencyFigures, ThroughputRun


@dataclass(frozen=True, slots=True)
class PeerResult:
    """A peer at its best set-up, and each of ours between its two runs, by name.

    `served`: over HTTP. `tuned`: beyond the precision that is its default.
    """

    name: str
    setup: str
    served: bool
    answered: ThroughputRun
    ours: dict[str, ThroughputRun]
    tuned: bool = False

    def ratio(self, name: str) -> float:
        """How many times as fast as the peer the one of ours with this name is."""
        return self.ours[name].per_second / self.answered.per_second


@dataclass(frozen=True, slots=True)
class LatencyRun:
    """One piece of software at one offered rate, and whose capacity that rate is a share of."""

    name: str
    share: str
    latency: LatencyFigures


@dataclass(frozen=True, slots=True)
class ContestResult:
    """All of it. The first peer, the pipeline in float32, is the reference for what is found in the documents.

    `together`: ours with several documents a request, as its API allows, by name. `latencies`: ours and the best
    server at a share of our capacity, then both at the same share of that server's.
    """

    model: str
    peers: tuple[PeerResult, ...]
    together: dict[str, ThroughputRun]
    latencies: tuple[LatencyRun, ...] = ()

    @property
    def best(self) -> PeerResult:
        """The best of those that compute in their default precision."""
        return max((peer for peer in self.peers if not peer.tuned), key=lambda peer: peer.answered.per_second)

    @property
    def tuned(self) -> tuple[PeerResult, ...]:
        return tuple(peer for peer in self.peers if peer.tuned)

    @property
    def best_server(self) -> PeerResult:
        """The best of those that answer over HTTP: only they have a latency to compare."""
        return max((peer for peer in self.peers if peer.served), key=lambda peer: peer.answered.per_second)

    @property
    def reference(self) -> list[Entities]:
        return self.peers[0].answered.entities

    def ours(self, name: str) -> ThroughputRun:
        """The run of ours that was its median."""
        runs = sorted((peer.ours[name] for peer in self.peers), key=lambda run: run.per_second)
        return runs[(len(runs) - 1) // 2]
