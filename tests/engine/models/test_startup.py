"""From settings to models that run, in the order that is said, and failures that end it with a sentence."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.core.scheduling.batch_latency import REACH
from service.core.types import Phase
from service.engine.execution.executor import DeviceExecutor
from service.engine.ipc.loop_calls import LoopCalls
from service.engine.ipc.server import Waker
from service.engine.models.profiling import CPU_BATCH_TOKENS
from service.engine.models.startup import StartupState, start_loading
from service.metrics import EngineMetrics
from service.settings import Settings
from tests.support.tiny_models import LABELS, MAX_TOKENS, make_model

LIMIT_SECONDS = 60.0


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two models."""
    home = tmp_path_factory.mktemp("home")
    for name, kind in (("tiny", "bert"), ("other", "distilbert")):
        publish(make_model(home / name, kind), name, Store(home / "store"))
    return home / "store"


Load = Callable[..., StartupState]


@pytest.fixture
def load(store: Path) -> Iterator[Load]:
    """Loads to the end, whichever it is."""
    bell = Waker()

    def load(*models: str, store: Path = store, **values: Any) -> StartupState:
        settings = {"model_store": store, "models": models, "device": "cpu", "dtype": "float32", "threads": 1}
        made = Settings(**{"model_poll_seconds": 0, **settings, **values})
        loading = start_loading(made, compute, bell, LoopCalls(bell.ring), EngineMetrics())
        for loader in [thread for thread in threading.enumerate() if thread.name == "loader"]:
            loader.join(LIMIT_SECONDS)
            assert not loader.is_alive(), "loading has no end"
        return loading

    with DeviceExecutor() as compute:
        yield load
    bell.close()


def test_every_model_is_loaded_warmed_and_described(load: Load) -> None:
    loading = load("tiny", "other@stable")
    loaded = loading.loaded
    assert loaded is not None
    models = [each.status for each in loaded.held]
    assert [(model.name, model.tag, model.labels) for model in models] == [
        ("tiny", "stable", LABELS),
        ("other", "stable", LABELS),
    ]
    assert all((model.packed, model.max_tokens, model.kernels) == (True, MAX_TOKENS, "torch") for model in models)
    assert list(loaded.serving) == ["tiny", "other@stable"]
    assert list(loaded.serving.values()) == [model.revision for model in models]
    assert loaded.dtype == "float32"
    for held in loaded.held:
        (rows,) = held.runner.launch([np.zeros(5, dtype=np.int32)]).result()
        assert isinstance(rows, np.ndarray)
        assert rows.shape == (5, len(LABELS))


def test_the_parts_of_the_start_are_timed_in_their_order(load: Load) -> None:
    loading = load("tiny")
    assert set(loading.seconds) == {"fetch", "import", "load", "warm-up", "measure", "prove", "ready"}
    assert loading.seconds["ready"] >= max(loading.seconds["fetch"], loading.seconds["import"])
    assert loading.phase is Phase.WARMING


@pytest.mark.parametrize(("batch_tokens", "timed_tokens"), [(0, CPU_BATCH_TOKENS // REACH), (65_536, 512), (1, 128)])
def test_a_batch_of_each_model_is_timed_that_tells_what_full_ones_do(
    load: Load, batch_tokens: int, timed_tokens: int
) -> None:
    loaded = load("tiny", "other", batch_tokens=batch_tokens).loaded
    assert loaded is not None
    assert list(loaded.timed) == list(loaded.serving.values())
    assert [batch.tokens for batch in loaded.timed.values()] == [timed_tokens] * 2
    assert all(0 < batch.seconds < LIMIT_SECONDS for batch in loaded.timed.values())


@pytest.mark.parametrize(("batch_tokens", "budget"), [(0, CPU_BATCH_TOKENS), (4_000, 4_000), (1, MAX_TOKENS)])
def test_a_batch_holds_at_least_the_longest_window(load: Load, batch_tokens: int, budget: int) -> None:
    loaded = load("tiny", batch_tokens=batch_tokens).loaded
    assert loaded is not None
    assert loaded.memory.budget_tokens(loaded.held[0].revision) == budget


@pytest.mark.parametrize(
    ("models", "words"),
    [(("nobody",), "nobody"), (("tiny@candidate",), "tiny@candidate"), (("tiny", "not a name!"), "not a name!")],
)
def test_a_model_that_is_not_there_ends_the_loading_with_a_sentence(
    load: Load, models: tuple[str, ...], words: str
) -> None:
    loading = load(*models)
    assert loading.loaded is None
    assert loading.failure is not None
    assert words in loading.failure


def test_a_model_whose_weights_are_damaged_is_not_served(tmp_path: Path, load: Load) -> None:
    broken = tmp_path / "store"
    published = publish(make_model(tmp_path / "m", "bert"), "m", Store(broken))
    assert published
    for path in broken.rglob("*"):
        if path.is_file() and path.stat().st_size > 20_000:
            path.chmod(0o644)
            path.write_bytes(b"\0" * 100)
    loading = load("m", store=broken)
    assert loading.loaded is None
    assert loading.failure
