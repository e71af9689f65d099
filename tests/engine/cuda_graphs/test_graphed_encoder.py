"""Small batches become recordings, where these are right and faster; everything else runs as before."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock

import numpy as np
import pytest
import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import InternalError
from service.engine.cuda_graphs.capture_queue import CaptureQueue
from service.engine.cuda_graphs.graphed_encoder import USES, GraphedEncoder
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.execution.executor import DeviceExecutor
from service.engine.execution.gpu_pipeline import BATCHES, PipelinedEncoder
from service.engine.execution.offloading import HostOffloaded
from service.engine.execution.packed_batch import PackedBatch
from service.engine.execution.runner import Runner
from service.metrics import GraphMetrics
from tests.support.graph_captures import CannotRecord, CpuRecorder, FrozenBorders, NoNumbers, StaleRows, Waits
from tests.support.tiny_models import make_model

CPU = torch.device("cpu")
PLAIN_SECONDS, GRAPH_SECONDS = 0.006, 0.001
MODEL = "sha256:a"


class Watched:
    """An encoder whose plain batches take a while on a clock of their own, and are counted."""

    def __init__(self, encoder: TransformersEncoder) -> None:
        self.device, self.max_tokens = encoder.device, encoder.max_tokens
        self.first_position, self.vocabulary_size = encoder.first_position, encoder.vocabulary_size
        self.dtype_name = encoder.dtype_name
        self.demand_sound = encoder.demand_sound
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
        """As metrics show them: how many are held, and the batches that they ran."""
        return self.metrics.held.labels(MODEL)._value.get(), self.metrics.batches._value.get()

    def replayed(self, seconds: float) -> Callable[[], None]:
        def replayed() -> None:
            self.now += seconds

        return replayed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model") / "model")


@pytest.fixture
def encoder(folder: Path) -> Watched:
    return Watched(load_encoder(folder, CPU, torch.float32))


def batch(*lengths: int, seed: int = 0) -> list[TokenIds]:
    random = np.random.default_rng(seed)
    return [random.integers(5, 100, length).astype(np.int32) for length in lengths]


def ask_at_once(record: Callable[[], None]) -> None:
    record()


def graphed(encoder: Watched, recorder: CpuRecorder, ask: Callable[[Callable[[], None]], None]) -> GraphedEncoder:
    return GraphedEncoder(encoder, recorder, ask, encoder.metrics, MODEL, lambda: encoder.now)


def use(graphed: GraphedEncoder, *lengths: int, times: int = USES) -> None:
    for _ in range(times):
        graphed.begin(batch(*lengths))()


def assert_right(graphed: GraphedEncoder, encoder: Watched, *lengths: int, seed: int = 7) -> None:
    sequences = batch(*lengths, seed=seed)
    for found, wanted in zip(graphed.begin(sequences)(), encoder.forward(sequences), strict=True):
        np.testing.assert_allclose(found, wanted, atol=2e-5)


def runs_plain(graphed: GraphedEncoder, encoder: Watched, *lengths: int) -> bool:
    before = encoder.plain
    assert_right(graphed, encoder, *lengths)
    return encoder.plain > before


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_row_that_is_used_often_is_recorded_and_replayed_from_then_on(folder: Path, dtype: torch.dtype) -> None:
    encoder = Watched(load_encoder(folder, CPU, dtype))
    recorder = CpuRecorder(encoder.replayed(GRAPH_SECONDS))
    model = graphed(encoder, recorder, ask_at_once)
    use(model, 100, times=USES - 1)
    assert recorder.rows == []
    use(model, 70, 20, times=1)
    assert recorder.rows == [128]
    plain = encoder.plain
    for lengths in ((128,), (65,), (100, 20), (1, 60, 7)):
        found = model.begin(batch(*lengths))()
        assert [len(rows) for rows in found] == list(lengths)
    assert encoder.plain == plain


def test_only_batches_of_that_row_are_replayed(encoder: Watched) -> None:
    model = graphed(encoder, CpuRecorder(encoder.replayed(GRAPH_SECONDS)), ask_at_once)
    use(model, 100)
    assert not runs_plain(model, encoder, 100)
    assert not runs_plain(model, encoder, 60, 30, 10)
    assert runs_plain(model, encoder, 64)
    assert runs_plain(model, encoder, 129)
    assert runs_plain(model, encoder, *[10] * 9)
    assert runs_plain(model, encoder, *[400] * 9)


def test_metrics_count_the_graphs_that_are_held_and_the_batches_that_they_ran(encoder: Watched) -> None:
    model = graphed(encoder, CpuRecorder(encoder.replayed(GRAPH_SECONDS)), ask_at_once)
    use(model, 100, times=USES - 1)
    assert encoder.graphs() == (0, 0)
    use(model, 100, times=3)
    assert encoder.graphs() == (1, 2)
    use(model, 60, times=USES + 4)
    assert encoder.graphs() == (2, 6)
    with pytest.raises(InternalError):
        model.begin([np.full(100, 1_000_000, np.int32)])
    model.forget()
    use(model, 100, times=2)
    assert encoder.graphs() == (0, 6)


def test_the_next_engine_of_a_service_shows_that_it_holds_none_yet(encoder: Watched) -> None:
    use(graphed(encoder, CpuRecorder(encoder.replayed(GRAPH_SECONDS)), ask_at_once), 100)
    assert encoder.graphs() == (1, 0)
    graphed(encoder, CpuRecorder(), ask_at_once)
    assert encoder.graphs() == (0, 0)


def test_one_that_is_hardly_faster_is_refused_for_good(encoder: Watched, caplog: pytest.LogCaptureFixture) -> None:
    recorder = CpuRecorder(encoder.replayed(0.95 * PLAIN_SECONDS))
    model = graphed(encoder, recorder, ask_at_once)
    with caplog.at_level(logging.INFO):
        use(model, 100, times=3 * USES)
    assert recorder.rows == [128]
    assert runs_plain(model, encoder, 100)
    assert encoder.graphs() == (0, 0)
    record = next(each for each in caplog.records if each.message == "a graph was recorded")
    assert record.__dict__["kept"] is False
    assert record.__dict__["model"] == MODEL
    assert (record.__dict__["plain_ms"], record.__dict__["graph_ms"]) == (6.0, 5.7)


@pytest.mark.parametrize("recorder", [FrozenBorders, StaleRows, NoNumbers])
def test_one_that_is_wrong_is_refused_however_fast(
    encoder: Watched, recorder: type[CpuRecorder], caplog: pytest.LogCaptureFixture
) -> None:
    model = graphed(encoder, recorder(), ask_at_once)
    use(model, 100)
    assert runs_plain(model, encoder, 100)
    assert [each.levelname for each in caplog.records] == ["ERROR"]


def test_a_pass_that_waits_for_the_device_is_refused_and_others_are_still_recorded(
    encoder: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = Waits()
    engine = Served(encoder, recorder)
    engine.studio.open(engine.settle)
    with caplog.at_level(logging.INFO):
        for _ in range(4):
            engine.judge(USES)
    engine.compute.shutdown()
    assert sorted(recorder.rows) == [64, 128, 512]
    reasons = [each.__dict__["reason"] for each in caplog.records if each.message == "a graph cannot be recorded"]
    assert reasons == ["aten::_local_scalar_dense waits for the device"] * 3


def test_a_sequence_that_would_break_the_device_is_refused_before_a_replay_as_well(encoder: Watched) -> None:
    recorder = CpuRecorder(encoder.replayed(GRAPH_SECONDS))
    model = graphed(encoder, recorder, ask_at_once)
    use(model, 100)
    before = encoder.now
    with pytest.raises(InternalError, match="vocabulary"):
        model.begin([np.full(100, 1_000_000, np.int32)])
    assert encoder.now == before


def test_what_is_forgotten_is_recorded_anew_once_it_is_used_again(encoder: Watched) -> None:
    recorder = CpuRecorder(encoder.replayed(GRAPH_SECONDS))
    model = graphed(encoder, recorder, ask_at_once)
    use(model, 100)
    model.forget()
    assert runs_plain(model, encoder, 100)
    use(model, 100)
    assert not runs_plain(model, encoder, 100)
    assert recorder.rows == [128, 128]


def test_a_recording_that_was_asked_for_before_the_weights_left_is_not_made(encoder: Watched) -> None:
    recorder, asked = CpuRecorder(), list[Callable[[], None]]()
    model = graphed(encoder, recorder, asked.append)
    use(model, 100)
    model.forget()
    asked[0]()
    assert recorder.rows == []


class Served:
    """An engine's parts around one model, on a CPU."""

    def __init__(self, encoder: Watched, recorder: CpuRecorder) -> None:
        self.compute = DeviceExecutor()
        self.compute.overlap(BATCHES)
        self.studio = CaptureQueue(self.compute)
        self.settled = 0
        self.graphed = graphed(encoder, recorder, self.studio.ask)
        self.weights = HostOffloaded(PipelinedEncoder(self.graphed, Lock()), encoder.module, self.graphed.forget)
        self.runner = Runner(self.weights, self.compute, lambda: None)
        self._encoder = encoder

    def settle(self) -> None:
        self.settled += 1

    def judge(self, count: int) -> None:
        """Launch batches of several rows, one behind the other, and look at their answers."""
        batches = [batch(*lengths, seed=seed) for seed in range(count) for lengths in ((100,), (40, 20), (300, 90, 5))]
        flights = [self.runner.launch(sequences) for sequences in batches]
        for sequences, flight in zip(batches, flights, strict=True):
            for found, wanted in zip(flight.result(), self._encoder.forward(sequences), strict=True):
                assert isinstance(found, np.ndarray)
                np.testing.assert_allclose(found, wanted, atol=2e-5)


def test_an_engine_records_between_batches_and_again_after_weights_were_away(encoder: Watched) -> None:
    recorder = CpuRecorder(encoder.replayed(GRAPH_SECONDS))
    engine = Served(encoder, recorder)
    engine.judge(USES)
    assert recorder.rows == []
    engine.studio.open(engine.settle)
    for _ in range(4):
        engine.judge(2)
    assert sorted(recorder.rows) == [64, 128, 512]
    engine.compute.submit(engine.weights.leave).result()
    engine.compute.submit(engine.weights.come).result()
    plain = encoder.plain
    engine.judge(2)
    assert encoder.plain == plain + 6
    assert encoder.graphs()[0] == 0
    for _ in range(4):
        engine.judge(USES // 2)
    assert sorted(recorder.rows) == sorted([64, 128, 512] * 2)
    engine.compute.shutdown()
    assert encoder.graphs()[0] == 3
    assert engine.settled == 6


def test_an_engine_that_cannot_record_serves_on(encoder: Watched, caplog: pytest.LogCaptureFixture) -> None:
    engine = Served(encoder, CannotRecord())
    engine.studio.open(engine.settle)
    for _ in range(4):
        engine.judge(USES)
    engine.compute.shutdown()
    assert caplog.text.count("recording failed") == 1
