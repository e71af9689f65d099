"""Small batches are replayed from graphs that are accurate and faster; everything else runs plain."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import InternalError
from service.engine.cuda_graphs.capture_queue import CaptureQueue
from service.engine.cuda_graphs.graphed_encoder import EARLY_TOKENS, USES, GraphedEncoder
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.execution.executor import DeviceExecutor
from service.engine.execution.gpu_pipeline import LANES, PipelinedEncoder
from service.engine.execution.offloading import HostOffloaded
from service.engine.execution.packed_batch import PackedBatch
from service.engine.execution.runner import Runner
from service.engine.execution.turn_lock import TurnLock
from service.metrics.gpu import GraphMetrics
from tests.support.graph_captures import CpuCapture, DeviceSync, FailsMidway, FrozenBorders, NanLogits, StaleLogits
from tests.support.metric_values import value
from tests.support.tiny_models import make_model

CPU = torch.device("cpu")
PLAIN_SECONDS, GRAPH_SECONDS = 0.006, 0.001
MODEL = "sha256:a"


class CountingEncoder:
    """An encoder whose plain batches are counted and advance a manual clock."""

    def __init__(self, encoder: TransformersEncoder) -> None:
        self.device, self.max_tokens = encoder.device, encoder.max_tokens
        self.first_position, self.vocabulary_size = encoder.first_position, encoder.vocabulary_size
        self.dtype_name = encoder.dtype_name
        self.validate = encoder.validate
        self.forward = encoder.forward
        self.module = encoder.module
        self.now = 0.0
        self.plain = 0
        self.metrics = GraphMetrics()
        self._encoder = encoder

    def compute(self, batch: PackedBatch) -> torch.Tensor:
        return self._encoder.compute(batch)

    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        self.plain += 1
        self.now += PLAIN_SECONDS
        return self._encoder.begin(sequences)

    def graphs(self) -> tuple[float, float]:
        """Their number and the batches that they ran, from the metrics."""
        return value(self.metrics.held, model=MODEL), value(self.metrics.batches)

    def taking(self, seconds: float) -> Callable[[], None]:
        """Advances the clock at each replay."""

        def advance() -> None:
            self.now += seconds

        return advance


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model") / "model")


@pytest.fixture
def encoder(folder: Path) -> CountingEncoder:
    return CountingEncoder(load_encoder(folder, CPU, torch.float32))


def batch(*lengths: int, seed: int = 0) -> list[TokenIds]:
    random = np.random.default_rng(seed)
    return [random.integers(5, 100, length).astype(np.int32) for length in lengths]


def capture_at_once(capture: Callable[[], None]) -> None:
    capture()


def graphed(
    encoder: CountingEncoder, captures: CpuCapture, request: Callable[[Callable[[], None]], None] = capture_at_once
) -> GraphedEncoder:
    return GraphedEncoder(encoder, captures, request, encoder.metrics, MODEL, lambda: encoder.now)


def use(graphed: GraphedEncoder, *lengths: int, times: int = USES) -> None:
    for _ in range(times):
        graphed.begin(batch(*lengths))()


def assert_equal(graphed: GraphedEncoder, encoder: CountingEncoder, *lengths: int, seed: int = 7) -> None:
    sequences = batch(*lengths, seed=seed)
    for found, wanted in zip(graphed.begin(sequences)(), encoder.forward(sequences), strict=True):
        np.testing.assert_allclose(found, wanted, atol=2e-5)


def runs_plain(graphed: GraphedEncoder, encoder: CountingEncoder, *lengths: int) -> bool:
    before = encoder.plain
    assert_equal(graphed, encoder, *lengths)
    return encoder.plain > before


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_row_that_is_used_often_is_captured_and_replayed(folder: Path, dtype: torch.dtype) -> None:
    encoder = CountingEncoder(load_encoder(folder, CPU, dtype))
    capture = CpuCapture(encoder.taking(GRAPH_SECONDS))
    model = graphed(encoder, capture)
    use(model, 100, times=USES - 1)
    assert capture.rows == []
    use(model, 70, 20, times=1)
    assert capture.rows == [128]
    plain = encoder.plain
    for lengths in ((128,), (65,), (100, 20), (1, 60, 7)):
        found = model.begin(batch(*lengths))()
        assert [len(rows) for rows in found] == list(lengths)
    assert encoder.plain == plain


def test_the_rows_of_lone_documents_are_captured_before_any_batch(encoder: CountingEncoder) -> None:
    capture = CpuCapture(encoder.taking(GRAPH_SECONDS))
    model = graphed(encoder, capture)
    for early in model.early_captures():
        early()
    assert tuple(capture.rows) == EARLY_TOKENS
    assert not runs_plain(model, encoder, 175)
    assert not runs_plain(model, encoder, 300)
    assert runs_plain(model, encoder, 40)
    for again in model.early_captures():
        again()
    assert tuple(capture.rows) == EARLY_TOKENS


def test_only_batches_of_that_row_are_replayed(encoder: CountingEncoder) -> None:
    model = graphed(encoder, CpuCapture(encoder.taking(GRAPH_SECONDS)))
    use(model, 100)
    assert not runs_plain(model, encoder, 100)
    assert not runs_plain(model, encoder, 60, 30, 10)
    assert runs_plain(model, encoder, 64)
    assert runs_plain(model, encoder, 129)
    assert runs_plain(model, encoder, *[10] * 9)
    assert runs_plain(model, encoder, *[400] * 9)


def test_metrics_count_graphs_and_the_batches_that_they_ran(encoder: CountingEncoder) -> None:
    model = graphed(encoder, CpuCapture(encoder.taking(GRAPH_SECONDS)))
    use(model, 100, times=USES - 1)
    assert encoder.graphs() == (0, 0)
    use(model, 100, times=3)
    assert encoder.graphs() == (1, 2)
    use(model, 60, times=USES + 4)
    assert encoder.graphs() == (2, 6)
    with pytest.raises(InternalError):
        model.begin([np.full(100, 1_000_000, np.int32)])
    model.drop_graphs()
    use(model, 100, times=2)
    assert encoder.graphs() == (0, 6)


def test_metrics_of_a_new_engine_start_without_graphs(encoder: CountingEncoder) -> None:
    use(graphed(encoder, CpuCapture(encoder.taking(GRAPH_SECONDS))), 100)
    assert encoder.graphs() == (1, 0)
    graphed(encoder, CpuCapture())
    assert encoder.graphs() == (0, 0)


def test_a_graph_that_is_hardly_faster_is_rejected_for_good(
    encoder: CountingEncoder, caplog: pytest.LogCaptureFixture
) -> None:
    capture = CpuCapture(encoder.taking(0.95 * PLAIN_SECONDS))
    model = graphed(encoder, capture)
    with caplog.at_level(logging.INFO):
        use(model, 100, times=3 * USES)
    assert capture.rows == [128]
    assert runs_plain(model, encoder, 100)
    assert encoder.graphs() == (0, 0)
    record = next(each for each in caplog.records if each.message == "a graph was captured")
    assert record.__dict__["kept"] is False
    assert record.__dict__["model"] == MODEL
    assert (record.__dict__["plain_ms"], record.__dict__["graph_ms"]) == (6.0, 5.7)


@pytest.mark.parametrize("capture", [FrozenBorders, StaleLogits, NanLogits])
def test_a_wrong_graph_is_rejected_however_fast(
    encoder: CountingEncoder, capture: type[CpuCapture], caplog: pytest.LogCaptureFixture
) -> None:
    model = graphed(encoder, capture())
    use(model, 100)
    assert runs_plain(model, encoder, 100)
    assert [each.levelname for each in caplog.records] == ["ERROR"]


def test_a_pass_that_waits_for_the_device_is_rejected_and_others_tried(
    encoder: CountingEncoder, caplog: pytest.LogCaptureFixture
) -> None:
    capture = DeviceSync()
    engine = SmallEngine(encoder, capture)
    engine.captures.open(engine.rebaseline)
    with caplog.at_level(logging.INFO):
        for _ in range(4):
            engine.run_batches(USES)
    engine.compute.shutdown()
    assert sorted(capture.rows) == [64, 128, 512]
    reasons = [each.__dict__["reason"] for each in caplog.records if each.message == "a graph cannot be captured"]
    assert reasons == ["aten::_local_scalar_dense waits for the device"] * 3


def test_a_replay_refuses_ids_outside_the_vocabulary(encoder: CountingEncoder) -> None:
    capture = CpuCapture(encoder.taking(GRAPH_SECONDS))
    model = graphed(encoder, capture)
    use(model, 100)
    before = encoder.now
    with pytest.raises(InternalError, match="vocabulary"):
        model.begin([np.full(100, 1_000_000, np.int32)])
    assert encoder.now == before


def test_a_dropped_graph_is_captured_again_once_its_row_is_used(encoder: CountingEncoder) -> None:
    capture = CpuCapture(encoder.taking(GRAPH_SECONDS))
    model = graphed(encoder, capture)
    use(model, 100)
    model.drop_graphs()
    assert runs_plain(model, encoder, 100)
    use(model, 100)
    assert not runs_plain(model, encoder, 100)
    assert capture.rows == [128, 128]


def test_a_capture_requested_before_graphs_were_dropped_is_not_made(encoder: CountingEncoder) -> None:
    capture, asked = CpuCapture(), list[Callable[[], None]]()
    model = graphed(encoder, capture, asked.append)
    use(model, 100)
    model.drop_graphs()
    asked[0]()
    assert capture.rows == []


class SmallEngine:
    """An engine's parts around one model, on a CPU."""

    def __init__(self, encoder: CountingEncoder, capture: CpuCapture) -> None:
        self.compute = DeviceExecutor()
        self.compute.overlap(LANES)
        self.captures = CaptureQueue(self.compute)
        self.rebaselines = 0
        self.graphed = graphed(encoder, capture, self.captures.request)
        pipelined = PipelinedEncoder(self.graphed, TurnLock())
        self.weights = HostOffloaded(pipelined, encoder.module, self.graphed.drop_graphs)
        self.runner = Runner(self.weights, self.compute, lambda: None)
        self._encoder = encoder

    def rebaseline(self) -> None:
        self.rebaselines += 1

    def run_batches(self, count: int) -> None:
        """Launch batches of several rows, one behind the other, and check their logits."""
        batches = [batch(*lengths, seed=seed) for seed in range(count) for lengths in ((100,), (40, 20), (300, 90, 5))]
        handles = [self.runner.launch(sequences) for sequences in batches]
        for sequences, handle in zip(batches, handles, strict=True):
            for found, wanted in zip(handle.result(), self._encoder.forward(sequences), strict=True):
                assert isinstance(found, np.ndarray)
                np.testing.assert_allclose(found, wanted, atol=2e-5)


def test_an_engine_captures_between_batches_and_again_after_offloading(encoder: CountingEncoder) -> None:
    capture = CpuCapture(encoder.taking(GRAPH_SECONDS))
    engine = SmallEngine(encoder, capture)
    engine.run_batches(USES)
    assert capture.rows == []
    engine.captures.open(engine.rebaseline)
    for _ in range(4):
        engine.run_batches(2)
    assert sorted(capture.rows) == [64, 128, 512]
    engine.compute.submit(engine.weights.offload).result()
    engine.compute.submit(engine.weights.load).result()
    plain = encoder.plain
    engine.run_batches(2)
    assert encoder.plain == plain + 6
    assert encoder.graphs()[0] == 0
    for _ in range(4):
        engine.run_batches(USES // 2)
    assert sorted(capture.rows) == sorted([64, 128, 512] * 2)
    engine.compute.shutdown()
    assert encoder.graphs()[0] == 3
    assert engine.rebaselines == 6


def test_an_engine_whose_capture_fails_serves_without_graphs(
    encoder: CountingEncoder, caplog: pytest.LogCaptureFixture
) -> None:
    engine = SmallEngine(encoder, FailsMidway())
    engine.captures.open(engine.rebaseline)
    for _ in range(4):
        engine.run_batches(USES)
    engine.compute.shutdown()
    assert caplog.text.count("a capture failed") == 1
