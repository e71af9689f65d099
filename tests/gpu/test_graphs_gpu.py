"""CUDA graphs on a CUDA device: accuracy, offloaded weights, failed captures, and their memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.core.arrays import TokenIds
from service.engine.cuda_graphs.buckets import bucket_for, buckets
from service.engine.cuda_graphs.capturable import NotCapturable
from service.engine.cuda_graphs.capture import CudaGraphCapture
from service.engine.cuda_graphs.capture_queue import CaptureQueue
from service.engine.cuda_graphs.graph import GraphedRow, Replay
from service.engine.cuda_graphs.graphed_encoder import USES, GraphedEncoder
from service.engine.cuda_graphs.validation import worst_error
from service.engine.device.dtype import choose_dtype
from service.engine.device.selection import choose_device, free_cache
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.execution.executor import DeviceExecutor
from service.engine.execution.gpu_pipeline import LANES, PipelinedEncoder
from service.engine.execution.offloading import HostOffloaded
from service.engine.execution.packed_batch import PackedBatch
from service.engine.execution.runner import Runner
from service.engine.execution.turn_lock import TurnLock
from service.engine.memory.probe import CudaProbe, MemoryLimit, graph_bytes
from service.metrics.gpu import GraphMetrics
from service.settings import Settings
from tests.support.startup import start_up
from tests.support.tiny_models import PACKABLE, make_model

pytestmark = pytest.mark.needs("cuda")

BATCH_LENGTHS = ([100], [40, 20], [65, 30, 5], [300, 90, 5], [1], [512])
LIMIT_SECONDS = 60.0
LAYERS = 4
MOST_ERROR = {"float32": 1e-3, "bfloat16": 0.2, "float16": 0.1}
"""Between a filled batch and one that is not: wide random weights amplify differences of rounding."""


def _batch(lengths: list[int], seed: int = 0) -> list[TokenIds]:
    random = np.random.default_rng(seed)
    return [random.integers(5, 100, length).astype(np.int32) for length in lengths]


def _load(folder: Path, precision: str = "auto") -> TransformersEncoder:
    device = choose_device("cuda")
    return load_encoder(folder, device, choose_dtype(precision, device))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("m") / "m", hidden=256, layers=LAYERS)


@pytest.mark.parametrize("kind", PACKABLE)
@pytest.mark.parametrize("precision", ["float32", "auto"])
def test_a_graph_gives_what_the_plain_pass_gives(kind: str, precision: str, tmp_path: Path) -> None:
    encoder = _load(make_model(tmp_path / kind, kind, hidden=64), precision)
    graphed = GraphedEncoder(encoder, CudaGraphCapture(encoder.device), lambda _: None, GraphMetrics(), "m")
    if kind == "modernbert" and encoder.dtype_name == "float32":  # No kernel for windows in float32 reads cu_seqlens.
        with pytest.raises(NotCapturable, match="cu_seqlens"):
            graphed.try_capture(buckets(encoder.max_tokens)[0])
        return
    for bucket in buckets(encoder.max_tokens):
        graph, check = graphed.try_capture(bucket)
        assert check.is_accurate(encoder.dtype_name), (bucket, check)
        batches = [lengths for lengths in BATCH_LENGTHS if bucket_for(buckets(encoder.max_tokens), lengths) == bucket]
        for seed, lengths in enumerate(batches):
            with torch.inference_mode():
                found = graph.forward(_batch(lengths, seed))
            assert worst_error(encoder.forward(_batch(lengths, seed)), found) < MOST_ERROR[encoder.dtype_name]


def test_two_batches_that_are_queued_together_do_not_mix(folder: Path) -> None:
    encoder = _load(folder)
    bucket = bucket_for(buckets(encoder.max_tokens), [100])
    assert bucket is not None
    with torch.inference_mode():
        graph = GraphedRow(bucket, encoder, CudaGraphCapture(encoder.device))
        alone = [graph.forward(_batch([100], seed)) for seed in range(20)]
        pending = [graph.begin(_batch([100], seed)) for seed in range(20)]
    for logits, expected in zip(pending, alone, strict=True):
        np.testing.assert_array_equal(logits()[0], expected[0])


class SmallEngine:
    """An engine's parts around one model."""

    def __init__(self, encoder: TransformersEncoder, graph_capture: CudaGraphCapture) -> None:
        self.compute = DeviceExecutor()
        self.compute.overlap(LANES)
        self.captures = CaptureQueue(self.compute)
        self.probe = CudaProbe(encoder.device, MemoryLimit(0.9), graphs=True)
        self.graphed = GraphedEncoder(encoder, graph_capture, self.captures.request, GraphMetrics(), "m")
        pipelined = PipelinedEncoder(self.graphed, TurnLock())
        self.weights = HostOffloaded(pipelined, encoder.module, self.graphed.drop_graphs)
        self.runner = Runner(self.weights, self.compute, lambda: None)
        self._encoder = encoder
        self._right = {tuple(lengths): encoder.forward(_batch(lengths)) for lengths in BATCH_LENGTHS}

    def run_batches(self, times: int) -> None:
        handles = [(lengths, self.runner.launch(_batch(lengths))) for _ in range(times) for lengths in BATCH_LENGTHS]
        for lengths, handle in handles:
            found = [rows for rows in handle.result() if isinstance(rows, np.ndarray)]
            assert worst_error(self._right[tuple(lengths)], found) < MOST_ERROR[self._encoder.dtype_name]

    def until_captured(self) -> None:
        self.captures.open(self.probe.rebaseline)
        for _ in range(USES + 10):
            self.run_batches(1)
        self.compute.submit(lambda: None).result()


@pytest.fixture
def serving(folder: Path) -> Iterator[Callable[[CudaGraphCapture | None], SmallEngine]]:
    engines: list[SmallEngine] = []

    def serve(capture: CudaGraphCapture | None = None) -> SmallEngine:
        encoder = _load(folder)
        engines.append(SmallEngine(encoder, capture or CudaGraphCapture(encoder.device)))
        return engines[-1]

    yield serve
    for engine in engines:
        engine.compute.shutdown()


def test_a_graph_captured_while_serving_is_faster_or_rejected(
    serving: Callable[[CudaGraphCapture | None], SmallEngine], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        serving(None).until_captured()
    found = [each.__dict__ for each in caplog.records if each.message == "a graph was captured"]
    assert sorted(each["tokens"] for each in found) == [64, 128, 512]
    for each in found:
        assert each["kept"] == (each["graph_ms"] <= 0.9 * each["plain_ms"]), each


def test_graphs_are_captured_again_after_weights_were_offloaded(
    serving: Callable[[CudaGraphCapture | None], SmallEngine],
) -> None:
    engine = serving(None)
    engine.until_captured()
    for _ in range(2):
        engine.compute.submit(engine.weights.offload).result()
        hog = torch.full((64 << 20,), 7, dtype=torch.uint8, device="cuda")  # Takes the memory that the weights had.
        engine.compute.submit(engine.weights.load).result()
        engine.until_captured()
        del hog


def test_memory_of_graphs_is_at_rest_until_they_are_dropped(
    serving: Callable[[CudaGraphCapture | None], SmallEngine],
) -> None:
    engine = serving(None)
    device = choose_device("cuda")
    engine.run_batches(2)
    free_cache(device)
    engine.probe.rebaseline()
    before_rest, before = engine.probe.rest_bytes, torch.cuda.memory_reserved(device)
    engine.until_captured()
    free_cache(device)
    engine.probe.rebaseline()
    held = torch.cuda.memory_reserved(device) - before
    assert engine.probe.rest_bytes - before_rest == pytest.approx(held, abs=8 << 20)
    free, _ = torch.cuda.mem_get_info(device)
    assert engine.probe.available_bytes() <= 0.9 * free + (24 << 20)
    engine.compute.submit(engine.weights.offload).result()
    engine.compute.submit(engine.weights.load).result()
    assert graph_bytes(torch.cuda.memory_snapshot(), device.index) == 0  # type: ignore[no-untyped-call]


def test_an_engine_with_cuda_graphs_auto_captures_once_it_is_loaded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    publish(make_model(tmp_path / "m", hidden=64), "tiny", Store(tmp_path / "store"))
    settings = Settings(
        model_store=tmp_path / "store",
        models=("tiny",),
        device="cuda",
        cuda_graphs="auto",
        model_poll_seconds=0,
        runtime_dir=tmp_path,
    )
    with DeviceExecutor() as compute, caplog.at_level("INFO"):
        outcome = start_up(settings, compute)
        assert outcome.initial is not None, outcome.state.failure
        assert "a graph was captured" not in caplog.text
        for _ in range(USES + 1):
            outcome.initial.models[0].model.runner.launch(_batch([100])).result()
    assert "a graph was captured" in caplog.text


class DeviceSync(CudaGraphCapture):
    """Captures code that waits for the device: always, or during the capture only, where CUDA ends it."""

    def __init__(self, device: torch.device, *, always: bool) -> None:
        super().__init__(device)
        self._always = always

    def capture(self, compute: Callable[[PackedBatch], torch.Tensor], batch: PackedBatch) -> Replay:
        def waiting(batch: PackedBatch) -> torch.Tensor:
            rows = compute(batch)
            if self._always or torch.cuda.is_current_stream_capturing():
                rows.sum().item()
            return rows

        return super().capture(waiting, batch)


def test_a_pass_that_waits_for_the_device_is_not_captured(
    serving: Callable[[CudaGraphCapture | None], SmallEngine], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        serving(DeviceSync(choose_device("cuda"), always=True)).until_captured()
    assert caplog.text.count("a graph cannot be captured") == 3


def test_a_capture_that_fails_midway_leaves_a_usable_device(
    serving: Callable[[CudaGraphCapture | None], SmallEngine], caplog: pytest.LogCaptureFixture
) -> None:
    engine = serving(DeviceSync(choose_device("cuda"), always=False))
    engine.until_captured()
    assert caplog.text.count("nothing more is captured") == 1
    torch.cuda.empty_cache()
    stream = engine.compute.submit(torch.cuda.current_stream).result()
    assert stream == torch.cuda.default_stream()
    engine.run_batches(10)
    free_cache(choose_device("cuda"))
    engine.run_batches(10)
