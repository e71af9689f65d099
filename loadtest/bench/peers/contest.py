"""The runs of one model's contest: each peer's best set-up, its documents per second and ours beside it, latency.

Our service stays up all the time, idle while a peer is measured. Each peer is measured right before and right after
ours, and its rate is that of both together: a machine that slows down meanwhile does so for either. Ours answers the
documents several times over, so that a run of either takes about as long. Only one peer's server is up at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from loadtest.bench.fixtures import PipelineProcess, serve
from loadtest.bench.models import published
from loadtest.bench.peers.client import ThroughputRun, answer_all, answer_at
from loadtest.bench.peers.outcome import ContestResult, LatencyRun, PeerResult
from loadtest.bench.peers.server_process import SERVERS, peer_server
from loadtest.bench.peers.setups import Setup, best_setup, best_size
from loadtest.bench.texts import texts

DEFAULT_DTYPE = "float32"
PIPELINES = {"transformers' pipeline": DEFAULT_DTYPE, "the pipeline in bfloat16": "bfloat16"}
AT_ONCE = 64
"""Documents under way at full load: twice what the largest set-up collects in all its workers."""
OF_A_REQUEST = 8
FIRST_BATCH = 4
WARM_DOCUMENTS = 8
SHARE = 0.7
"""Of a capacity, for latency."""
REQUESTS = 150
WINDOW_SECONDS = (20.0, 40.0)
"""Shortest and longest time of an offered rate; in between, as long as so many requests take."""


@dataclass(frozen=True, slots=True)
class SampleSizes:
    """How many documents one measurement takes, and one trial of the search."""

    measured: int
    tried: int


AMOUNTS = {"six-layer": SampleSizes(512, 64), "bert-base": SampleSizes(160, 16)}
TIMES_OVER = 3
"""How often ours answers a measurement's documents in a row."""


@dataclass(frozen=True, slots=True)
class GleanerVariant:
    """One way to run our service, and what it is called in the tables."""

    name: str
    settings: dict[str, str] = field(default_factory=dict)


class Contest:
    """One model's. `setups`: where the search begins, by server; what it found is left there for the next model."""

    def __init__(
        self, home: Path, model: str, ours: list[GleanerVariant], setups: dict[str, Setup], say: Callable[[str], None]
    ) -> None:
        self._home, self._model, self._ours, self._setups, self._report = home, model, ours, setups, say
        amount = AMOUNTS[model]
        self._sample = texts(amount.measured)
        self._tried = self._sample[: amount.tried]
        self._folder = published(home, model)

    def run(self) -> ContestResult:
        """All of it; minutes."""
        with ExitStack() as stack:
            urls = {each.name: stack.enter_context(self._serve(each)) for each in self._ours}
            for url in urls.values():
                answer_all(url, self._sample, at_once=AT_ONCE)
            pipelines = [self._pipeline(name, dtype, urls) for name, dtype in PIPELINES.items()]
            servers = [self._server(name, urls) for name in SERVERS]
            together = {name: self._together(name, url) for name, url in urls.items()}
            outcome = ContestResult(self._model, (*pipelines, *servers), together)
            return replace(outcome, latencies=tuple(self._latencies(outcome, urls[self._ours[0].name])))

    def _serve(self, ours: GleanerVariant) -> AbstractContextManager[str]:
        settings = {"MODELS": self._model, "MODEL_STORE": self._home / "store", **ours.settings}
        return serve(self._home / "bench.log", **settings)

    def _pipeline(self, name: str, dtype: str, urls: dict[str, str]) -> PeerResult:
        with closing(
            PipelineProcess("loadtest.bench.peers.servers.transformers_pipeline", str(self._folder), "--dtype", dtype)
        ) as peer:

            def ask(size: int, sample: list[str]) -> ThroughputRun:
                answer = peer.ask(batch_size=size, texts=sample)
                return self._said(f"{name}, batches of {size}", ThroughputRun(answer["seconds"], answer["entities"]))

            ask(1, self._tried[:WARM_DOCUMENTS])
            size = best_size(FIRST_BATCH, lambda size: ask(size, self._tried).per_second)
            before, ours, after = ask(size, self._sample), self._in_between(urls), ask(size, self._sample)
            return PeerResult(name, f"batches of {size}", False, before + after, ours, tuned=dtype != DEFAULT_DTYPE)

    def _server(self, name: str, urls: dict[str, str]) -> PeerResult:
        def trial(setup: Setup) -> float:
            with self._peer(name, setup) as url:
                return self._full_load(f"{name}, {setup}", url, self._tried).per_second

        first = self._setups.get(name, Setup(1, os.cpu_count() or 1, FIRST_BATCH))
        setup = self._setups[name] = best_setup(first, trial)
        before = self._in_full(name, setup)
        ours = self._in_between(urls)
        return PeerResult(name, str(setup), True, before + self._in_full(name, setup), ours)

    def _in_full(self, name: str, setup: Setup) -> ThroughputRun:
        with self._peer(name, setup) as url:
            return self._full_load(f"{name}, {setup}, in full", url, self._sample)

    @contextmanager
    def _peer(self, name: str, setup: Setup) -> Iterator[str]:
        with peer_server(name, self._folder, setup, self._home / "peers.log") as url:
            answer_all(url, self._tried[:WARM_DOCUMENTS], at_once=WARM_DOCUMENTS)
            yield url

    def _in_between(self, urls: dict[str, str]) -> dict[str, ThroughputRun]:
        return {name: self._full_load(name, url, self._sample, TIMES_OVER) for name, url in urls.items()}

    def _together(self, name: str, url: str) -> ThroughputRun:
        at_once = AT_ONCE // OF_A_REQUEST
        answered = answer_all(url, self._sample, at_once=at_once, of_a_request=OF_A_REQUEST, times_over=TIMES_OVER)
        return self._said(f"{name}, {OF_A_REQUEST} documents a request", answered)

    def _full_load(self, name: str, url: str, sample: list[str], times_over: int = 1) -> ThroughputRun:
        return self._said(name, answer_all(url, sample, at_once=AT_ONCE, times_over=times_over))

    def _said(self, name: str, answered: ThroughputRun) -> ThroughputRun:
        self._say(f"{name}: {answered.per_second:.1f} documents a second")
        return answered

    def _say(self, words: str) -> None:
        self._report(f"{self._model}: {words}")

    def _latencies(self, outcome: ContestResult, url: str) -> Iterator[LatencyRun]:
        """A fresh server for each rate: what one could not answer in time is no burden on the next."""
        ours, server = self._ours[0].name, outcome.best_server
        rates = {ours: SHARE * outcome.ours(ours).per_second, server.name: SHARE * server.answered.per_second}
        for whose, rate in rates.items():
            yield self._borne(ours, whose, url, rate)
            with self._peer(server.name, self._setups[server.name]) as other:
                yield self._borne(server.name, whose, other, rate)

    def _borne(self, name: str, whose: str, url: str, rate: float) -> LatencyRun:
        seconds = min(max(REQUESTS / rate, WINDOW_SECONDS[0]), WINDOW_SECONDS[1])
        borne = LatencyRun(name, f"{SHARE:.0%} of {whose}", answer_at(url, self._sample, rate, seconds))
        self._say(f"{name} at {borne.share}, {rate:.1f} a second: p99 {borne.latency.p99_ms:.0f} ms")
        return borne
