"""`python -m loadtest.simulator.checks.reality`: a load test of one service, and its simulation, side by side.

    calibrate   documents one at a time: seconds of a batch by its tokens, seconds of the front and of the way
    load        Poisson arrivals at shares of full load, the last of them more than it can do
    simulate    the same documents at the same times, event by event (`single_task`)

The device is throttled to a speed that leaves the processor free, or is as it is with `--pace 0`. Exit code 1 if the
throughput differs by more than 5 %, or p50 or p99 by more than 10 %. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np

from loadtest.client.http import HttpClient
from loadtest.client.open_loop import Sender
from loadtest.errors import LoadtestError, Unreachable
from loadtest.knee.batch_latency_fit import from_answers
from loadtest.records.answer import STAGES
from loadtest.records.recorder import Recorder
from loadtest.records.records import Records
from loadtest.scaling.rehearsal import TEXT
from loadtest.service_process.service import ServiceProcess, clean_environment, settings_environment
from loadtest.service_process.sigterm import end_on_sigterm
from loadtest.simulator.service_model import Documents, ServiceModel
from loadtest.simulator.single_task import Document, SingleTask
from loadtest.workload.mix import JSON, Job

LOADS = (0.3, 0.6, 0.85, 1.2)
BATCH_TOKENS, WINDOW_TOKENS, OVERLAP_TOKENS = 2_048, 512, 128
MAX_QUEUE_MS = 2_000
CALIBRATION_SECONDS = 15.0
CONNECTIONS = 1_000
THROUGHPUT, LATENCY = 0.05, 0.10
"""Most that the simulator may be off by, as shares."""


@dataclass(frozen=True, slots=True)
class Found:
    """One load, measured or simulated: answers a second, and their latency."""

    per_second: float
    p50_ms: float
    p99_ms: float
    refused: float


@dataclass(frozen=True, slots=True)
class Pair:
    """One load both ways."""

    load: float
    measured: Found
    simulated: Found

    @property
    def off(self) -> tuple[float, float, float]:
        """Simulated over measured, less one: throughput, p50, p99."""
        one, other = self.measured, self.simulated
        return (
            other.per_second / one.per_second - 1,
            other.p50_ms / one.p50_ms - 1,
            other.p99_ms / one.p99_ms - 1,
        )

    @property
    def agrees(self) -> bool:
        """True within what is allowed."""
        throughput, *latencies = map(abs, self.off)
        return throughput <= THROUGHPUT and max(latencies) <= LATENCY


def calibrated(records: Records) -> ServiceModel:
    """The task that answered these documents, one at a time.

    Raises:
        Unreachable: too few were answered to know it.
    """
    answered = records.where(records.ok)
    stages = dict(zip(STAGES, answered.stages_ms.T, strict=True))
    tokens = answered.tokens.astype(np.float64)
    fit = from_answers(tokens, stages["compute"] / 1000)
    if fit is None:
        raise Unreachable(f"only {len(answered)} documents were answered one at a time")
    front = float(np.nanmedian(stages["tokenize"]) + np.nanmedian(stages["decode"])) / 1000
    rest = float(np.median(answered.latency_ms - stages["compute"])) / 1000
    return ServiceModel(
        base_seconds=fit.base_seconds,
        seconds_per_token=fit.seconds_per_token,
        batch_tokens=BATCH_TOKENS,
        documents=Documents(float(tokens.mean()), text_seconds=front),
        slo_seconds=1.0,
        window_tokens=WINDOW_TOKENS,
        overlap_tokens=OVERLAP_TOKENS,
        workers=1,
        overhead_seconds=max(rest - front, 0.0),
        max_queue_seconds=MAX_QUEUE_MS / 1000,
    )


def simulated(model: ServiceModel, records: Records, tokens: dict[int, int]) -> Found:
    """The same documents at the same times. `tokens`: of each job, as the service counted them."""
    rows = zip(records.intended.tolist(), records.job.tolist(), strict=True)
    answers = SingleTask(model).run(Document(at, tokens[job]) for at, job in rows)
    kept = [each for each in answers if not each.refused]
    return _found(
        np.array([each.document.at_seconds for each in kept]),
        np.array([each.ended_seconds for each in kept]),
        len(records),
    )


def measured(records: Records) -> Found:
    """What callers saw."""
    answered = records.where(records.ok)
    return _found(answered.intended, answered.done, len(records))


def line(pair: Pair) -> str:
    """As it is printed."""
    one, other = pair.measured, pair.simulated
    cells = " ".join(
        f"{a:9.1f} {b:9.1f} {off:+7.1%}"
        for a, b, off in zip(
            (one.per_second, one.p50_ms, one.p99_ms),
            (other.per_second, other.p50_ms, other.p99_ms),
            pair.off,
            strict=True,
        )
    )
    return f"{pair.load:5.2f} {cells}  {one.refused:6.1%} {other.refused:6.1%}" + ("" if pair.agrees else "  differs")


def main() -> int:
    """Start a service, load it, simulate it, and print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=150.0, help="of each load (default: 150)")
    parser.add_argument("--pace", type=float, default=2_500.0, help="tokens a second of the device; 0: as it is")
    chosen = parser.parse_args()
    end_on_sigterm()
    settings = {
        "WORKERS": 1,
        "PARSERS": 1,
        "BATCH_TOKENS": BATCH_TOKENS,
        "WINDOW_TOKENS": WINDOW_TOKENS,
        "OVERLAP_TOKENS": OVERLAP_TOKENS,
        "MAX_QUEUE_MS": MAX_QUEUE_MS,
        "PACE_TOKENS_PER_SECOND": chosen.pace,
        "LOG_LEVEL": "WARNING",
    }
    try:
        with tempfile.TemporaryDirectory(prefix="gleaner-reality-") as home:
            environment = {**clean_environment(), **settings_environment(settings)}
            with ServiceProcess(Path(home) / "serve.log", environment) as service:
                pairs = asyncio.run(_compare(service.url, chosen.seconds))
    except LoadtestError as error:
        print(f"reality: {error}", file=sys.stderr)
        return error.exit_code
    return 0 if all(pair.agrees for pair in pairs) else 1


async def _compare(url: str, seconds: float) -> list[Pair]:
    jobs, began = _jobs(), time.monotonic()
    async with HttpClient(url, most=CONNECTIONS, timeout_seconds=60.0) as client:
        recorder = Recorder(began)
        await Sender(client, jobs, recorder).back_to_back(1, began + CALIBRATION_SECONDS, count())
        alone = recorder.records()
        model, tokens = calibrated(alone), dict(zip(alone.job.tolist(), alone.tokens.tolist(), strict=True))
        documents = replace(model.documents, tokens=float(np.mean([tokens[each] for each in range(len(jobs))])))
        model = replace(model, documents=documents)
        full = model.tokens_per_second / documents.tokens
        print(
            f"S(tokens) = {model.base_seconds * 1000:.2f} ms + {model.seconds_per_token * 1e6:.1f} µs a token, "
            f"front {documents.text_seconds * 1000:.2f} ms, way {model.overhead_seconds * 1000:.2f} ms: "
            f"{full:.1f}/s when full"
        )
        heads = (f"{name + ', measured':>9} {'simulated':>9} {'':7}" for name in ("/s", "p50", "p99"))
        print(f"{'load':>5} {' '.join(heads)}  refused, both", flush=True)
        pairs = []
        for load in LOADS:
            records = await _loaded(client, jobs, load * full, seconds)
            pairs.append(Pair(load, measured(records), simulated(model, records, tokens)))
            print(line(pairs[-1]), flush=True)
    return pairs


async def _loaded(client: HttpClient, jobs: list[Job], rate: float, seconds: float) -> Records:
    draw = np.random.default_rng(round(rate * 1000))
    times = np.cumsum(draw.exponential(1 / rate, math.ceil(rate * seconds)))
    began = time.monotonic() + 0.5
    recorder = Recorder(began)
    due: Iterator[tuple[float, int]] = ((began + at, number) for number, at in enumerate(times.tolist()))
    await Sender(client, jobs, recorder).on_schedule(due)
    return recorder.records()


def _jobs() -> list[Job]:
    """Texts of one to four invoices, in a shuffled order that is always the same."""
    sizes = np.random.default_rng(1).permutation(np.repeat([1, 2, 3, 4], 5))
    texts = (" ".join(TEXT.format(number=10 * number + i) for i in range(size)) for number, size in enumerate(sizes))
    return [Job("text", json.dumps({"text": text}).encode(), JSON) for text in texts]


def _found(came: np.ndarray, went: np.ndarray, offered: int) -> Found:
    if not len(came):
        return Found(0.0, math.nan, math.nan, 1.0)
    latencies = (went - came) * 1000
    seconds = float(went.max() - came.min())
    p50, p99 = np.quantile(latencies, (0.5, 0.99))
    return Found(len(came) / seconds, float(p50), float(p99), 1 - len(came) / offered)


if __name__ == "__main__":
    sys.exit(main())
