"""Contest of one model: ours and its peers, each at its best set-up, measured right before and after each other."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import psutil

from loadtest.bench.fixtures import PipelineProcess, published, service, texts
from loadtest.bench.peers.client import ContestResult, LatencyRun, PeerResult, ThroughputRun, answer_all, answer_at
from loadtest.service_process import START_SECONDS, KeptPort, clean_environment, process_tree

STEP = 4
MOST = 16
"""Larger batches only wait and pad: on the CPUs tried, throughput falls from much smaller ones on."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Worker processes, threads of each, and the largest batch that the server collects."""

    workers: int
    threads: int
    batch_size: int

    def __str__(self) -> str:
        return f"{self.workers} × {_several(self.threads, 'thread')}, batches of {self.batch_size}"


def best_setup(first: Setup, measure: Callable[[Setup], float]) -> Setup:
    """The fastest set-up found: first workers and threads exchanged, then smaller or larger batches while that gains.

    `measure` returns documents per second, and is called once per set-up.
    """
    found: dict[Setup, float] = {}

    def rate(setup: Setup) -> float:
        if setup not in found:
            found[setup] = measure(setup)
        return found[setup]

    best = max(first, replace(first, workers=first.threads, threads=first.workers), key=rate)
    for step in (_smaller, _larger):
        start = best
        while (other := step(best)) is not None and rate(other) > rate(best):
            best = other
        if best != start:
            break
    return best


def _smaller(setup: Setup) -> Setup | None:
    return replace(setup, batch_size=setup.batch_size // STEP) if setup.batch_size >= STEP else None


def _larger(setup: Setup) -> Setup | None:
    return replace(setup, batch_size=setup.batch_size * STEP) if setup.batch_size * STEP <= MOST else None


def _several(count: int, word: str) -> str:
    return f"{count} {word}" + "s" * (count != 1)


SERVERS = {"LitServe": "litserve_server", "mosec": "mosec_server", "Ray Serve": "ray_server"}
"""The name in the tables, and the module in `servers/`."""
ROOT = Path(__file__).parents[3]
PYTHON = Path(sys.prefix) / "peers" / "bin" / "python"
WAIT_SECONDS = 0.01
"""How long a server waits for a batch to fill: the default of Ray Serve and of mosec; LitServe has none."""
STOP_SECONDS = 20.0
ENVIRONMENT = {"GOMP_SPINCOUNT": "5000", "RAY_USAGE_STATS_ENABLED": "0"}
"""OpenMP threads spin as briefly as in the service: by default they starve the server's other processes."""
PROBE = {"text": "bakedi ladore nisoti."}


@contextmanager
def peer_server(name: str, folder: Path, setup: Setup, log: Path) -> Iterator[str]:
    """Run a peer's server that answers POST /extract; yields its URL."""
    if not PYTHON.exists():
        raise SystemExit(f"the peers are not installed in {PYTHON.parents[1]}; `make bench-peers` does it")
    port = KeptPort()
    numbers = {"port": port.number, "workers": setup.workers, "threads": setup.threads, "batch-size": setup.batch_size}
    options = [part for option, number in numbers.items() for part in (f"--{option}", str(number))]
    module = f"loadtest.bench.peers.servers.{SERVERS[name]}"
    command = [str(PYTHON), "-m", module, str(folder), *options, "--wait-seconds", str(WAIT_SECONDS)]
    with running(command, f"http://127.0.0.1:{port.number}", log) as url:
        yield url


@contextmanager
def running(
    command: list[str], url: str, log: Path, path: str = "/extract", probe: Mapping[str, object] = PROBE
) -> Iterator[str]:
    """Run a server by its command; yields its URL once it answers. All its processes are gone at the end."""
    environment = {**ENVIRONMENT, **clean_environment(), "PYTHONPATH": str(ROOT)}
    with log.open("ab") as sink:
        process = subprocess.Popen(
            command, env=environment, stdout=sink, stderr=sink, start_new_session=True, cwd=log.parent
        )
    try:
        _wait_until_it_answers(url + path, probe, process, log)
        yield url
    finally:
        _end(process)


def _wait_until_it_answers(url: str, probe: Mapping[str, object], process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"a peer's server ended:\n{log.read_text()[-2000:]}")
        with contextlib.suppress(httpx.HTTPError):
            if httpx.post(url, json=probe, timeout=60.0).status_code == 200:
                return
        time.sleep(0.1)
    raise SystemExit(f"a peer's server did not answer within {START_SECONDS:.0f} s:\n{log.read_text()[-2000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, then SIGKILL to every process of its tree and of its process group that is left."""
    tree = process_tree(process.pid)
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    for each in tree:
        with contextlib.suppress(OSError, psutil.Error):
            if os.getsid(each.pid) == process.pid:
                each.kill()
    process.wait()


PIPELINES = {"transformers' pipeline": "float32", "the pipeline in bfloat16": "bfloat16"}
PIPELINE_MODULE = "loadtest.bench.peers.servers.pipeline"
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
        self,
        home: Path,
        model: str,
        ours: tuple[GleanerVariant, ...],
        setups: dict[str, Setup],
        log: Callable[[str], None],
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
            size = best_setup(Setup(1, 1, FIRST_BATCH), lambda s: ask(s.batch_size, self._tried).per_second).batch_size
            before, ours, after = ask(size, self._sample), self._ours_between(urls), ask(size, self._sample)
            return PeerResult(name, f"batches of {size}", False, before + after, ours)

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
