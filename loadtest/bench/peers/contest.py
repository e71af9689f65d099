"""The contest of one model: each peer's best set-up, its documents per second beside ours, and latencies.

Our service runs all the time, idle while a peer is measured. Each peer is measured right before and right after ours,
and its rate is that of both runs together, so that a machine that slows down meanwhile slows down both. Ours answers
the documents in several rounds, so that its run takes about as long. Only one peer's server runs at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from loadtest.bench.fixtures import PipelineProcess, published, service, texts
from loadtest.bench.peers.client import ThroughputRun, answer_all, answer_at
from loadtest.bench.peers.outcome import ContestResult, LatencyRun, PeerResult
from loadtest.bench.peers.server_process import SERVERS, peer_server
from loadtest.bench.peers.setups import Setup, best_batch_size, best_setup

DEFAULT_DTYPE = "float32"
PIPELINES = {"transformers' pipeline": DEFAULT_DTYPE, "the pipeline in bfloat16": "bfloat16"}
PIPELINE_MODULE = "loadtest.bench.peers.servers.transformers_pipeline"
AT_ONCE = 64
"""Documents under way at full load: twice what the largest set-up collects in all its workers."""
PER_REQUEST = 8
FIRST_BATCH = 4
WARM_UP_DOCUMENTS = 8
SHARE = 0.7
"""The part of a capacity at which latencies are measured."""
REQUESTS = 150
WINDOW_SECONDS = (20.0, 40.0)
"""Shortest and longest time of an offered rate; between them it lasts for `REQUESTS`."""


@dataclass(frozen=True, slots=True)
class SampleSizes:
    """The documents of one measurement, and of one trial of the search for a set-up."""

    measured: int
    tried: int


SAMPLE_SIZES = {"six-layer": SampleSizes(512, 64), "bert-base": SampleSizes(160, 16)}
ROUNDS = 3
"""How often ours answers a measurement's documents in a row."""


@dataclass(frozen=True, slots=True)
class GleanerVariant:
    """Settings of our service, and their name in the tables."""

    name: str
    settings: dict[str, str] = field(default_factory=dict)


class Contest:
    """The contest of one model. `setups`: by server, where the search begins; replaced by what it finds."""

    def __init__(
        self, home: Path, model: str, ours: list[GleanerVariant], setups: dict[str, Setup], log: Callable[[str], None]
    ) -> None:
        self._home, self._model, self._ours, self._setups = home, model, ours, setups
        self._write_log = log
        sizes = SAMPLE_SIZES[model]
        self._sample = texts(sizes.measured)
        self._tried = self._sample[: sizes.tried]
        self._folder = published(home, model)

    def run(self) -> ContestResult:
        """Run the whole contest; it takes minutes."""
        with ExitStack() as stack:
            running = {
                each.name: stack.enter_context(service(self._home, **{"MODELS": self._model, **each.settings}))
                for each in self._ours
            }
            urls = {name: each.url for name, each in running.items()}
            for url in urls.values():
                answer_all(url, self._sample, at_once=AT_ONCE)
            pipelines = [self._pipeline(name, dtype, urls) for name, dtype in PIPELINES.items()]
            servers = [self._server(name, urls) for name in SERVERS]
            grouped = {name: self._grouped(name, url) for name, url in urls.items()}
            result = ContestResult(self._model, (*pipelines, *servers), grouped)
            return replace(result, latencies=tuple(self._latencies(result, urls[self._ours[0].name])))

    def _pipeline(self, name: str, dtype: str, urls: dict[str, str]) -> PeerResult:
        with closing(PipelineProcess(PIPELINE_MODULE, str(self._folder), "--dtype", dtype)) as pipeline:

            def ask(size: int, sample: list[str]) -> ThroughputRun:
                answer = pipeline.ask(batch_size=size, texts=sample)
                return self._logged(f"{name}, batches of {size}", ThroughputRun(answer["seconds"], answer["entities"]))

            ask(1, self._tried[:WARM_UP_DOCUMENTS])
            size = best_batch_size(FIRST_BATCH, lambda size: ask(size, self._tried).per_second)
            before, ours, after = ask(size, self._sample), self._ours_between(urls), ask(size, self._sample)
            return PeerResult(name, f"batches of {size}", False, before + after, ours, tuned=dtype != DEFAULT_DTYPE)

    def _server(self, name: str, urls: dict[str, str]) -> PeerResult:
        def trial(setup: Setup) -> float:
            with self._peer(name, setup) as url:
                return self._full_load(f"{name}, {setup}", url, self._tried).per_second

        first = self._setups.get(name, Setup(1, os.cpu_count() or 1, FIRST_BATCH))
        setup = self._setups[name] = best_setup(first, trial)
        before = self._whole_sample(name, setup)
        ours = self._ours_between(urls)
        return PeerResult(name, str(setup), True, before + self._whole_sample(name, setup), ours)

    def _whole_sample(self, name: str, setup: Setup) -> ThroughputRun:
        with self._peer(name, setup) as url:
            return self._full_load(f"{name}, {setup}, whole sample", url, self._sample)

    @contextmanager
    def _peer(self, name: str, setup: Setup) -> Iterator[str]:
        with peer_server(name, self._folder, setup, self._home / "peers.log") as url:
            answer_all(url, self._tried[:WARM_UP_DOCUMENTS], at_once=WARM_UP_DOCUMENTS)
            yield url

    def _ours_between(self, urls: dict[str, str]) -> dict[str, ThroughputRun]:
        """The runs of ours between a peer's two runs."""
        return {name: self._full_load(name, url, self._sample, ROUNDS) for name, url in urls.items()}

    def _grouped(self, name: str, url: str) -> ThroughputRun:
        run = answer_all(url, self._sample, at_once=AT_ONCE // PER_REQUEST, per_request=PER_REQUEST, rounds=ROUNDS)
        return self._logged(f"{name}, {PER_REQUEST} documents a request", run)

    def _full_load(self, name: str, url: str, sample: list[str], rounds: int = 1) -> ThroughputRun:
        return self._logged(name, answer_all(url, sample, at_once=AT_ONCE, rounds=rounds))

    def _logged(self, name: str, run: ThroughputRun) -> ThroughputRun:
        self._log(f"{name}: {run.per_second:.1f} documents a second")
        return run

    def _log(self, text: str) -> None:
        self._write_log(f"{self._model}: {text}")

    def _latencies(self, result: ContestResult, url: str) -> Iterator[LatencyRun]:
        """Ours and the best server at both rates; that server is started anew for each, without an old queue."""
        ours, server = self._ours[0].name, result.best_server
        rates = {ours: SHARE * result.ours(ours).per_second, server.name: SHARE * server.run.per_second}
        for whose, rate in rates.items():
            yield self._latency(ours, whose, url, rate)
            with self._peer(server.name, self._setups[server.name]) as other:
                yield self._latency(server.name, whose, other, rate)

    def _latency(self, name: str, whose: str, url: str, rate: float) -> LatencyRun:
        seconds = min(max(REQUESTS / rate, WINDOW_SECONDS[0]), WINDOW_SECONDS[1])
        run = LatencyRun(name, f"{SHARE:.0%} of {whose}", answer_at(url, self._sample, rate, seconds))
        self._log(f"{name} at {run.share}, {rate:.1f} a second: p99 {run.figures.p99_ms:.0f} ms")
        return run
