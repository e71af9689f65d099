"""From settings to models that run, in the order that is said, and failures that end it with a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.core.scheduling.throughput import REACH
from service.engine.device.selection import DeviceMissing
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.profiling import CPU_BATCH_TOKENS
from service.engine.models.tag_watcher import RolloutJournal
from service.settings import Settings
from tests.support.startup import LIMIT_SECONDS, Outcome, start_up
from tests.support.tiny_models import LABELS, MAX_TOKENS, make_model


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two models."""
    home = tmp_path_factory.mktemp("home")
    for name, kind in (("tiny", "bert"), ("other", "distilbert")):
        publish(make_model(home / name, kind), name, Store(home / "store"))
    return home / "store"


Load = Callable[..., Outcome]


@pytest.fixture
def load(store: Path) -> Iterator[Load]:
    """Runs a start-up to its end, whichever it is."""

    def load(*models: str, store: Path = store, **values: Any) -> Outcome:
        settings = {"model_store": store, "models": models, "device": "cpu", "dtype": "float32", "threads": 1}
        made = Settings(**{"model_poll_seconds": 0, **settings, **values})
        return start_up(made, executor)

    with DeviceExecutor() as executor:
        yield load


def test_every_model_is_loaded_warmed_and_described(load: Load) -> None:
    initial = load("tiny", "other@stable").initial
    assert initial is not None
    models = [each.model.status for each in initial.models]
    assert [(model.name, model.tag, model.labels) for model in models] == [
        ("tiny", "stable", LABELS),
        ("other", "stable", LABELS),
    ]
    assert all((model.packed, model.max_tokens, model.kernels) == (True, MAX_TOKENS, "torch") for model in models)
    assert list(initial.serving) == ["tiny", "other@stable"]
    assert list(initial.serving.values()) == [model.revision for model in models]
    assert initial.dtype == "float32"
    for each in initial.models:
        (rows,) = each.model.runner.launch([np.zeros(5, dtype=np.int32)]).result()
        assert isinstance(rows, np.ndarray)
        assert rows.shape == (5, len(LABELS))


@pytest.mark.parametrize(
    ("batch_tokens", "timed_tokens"), [(0, CPU_BATCH_TOKENS // REACH), (65_536, CPU_BATCH_TOKENS // REACH), (1, 128)]
)
def test_a_batch_of_each_model_is_timed_that_tells_what_full_ones_do(
    load: Load, batch_tokens: int, timed_tokens: int
) -> None:
    initial = load("tiny", "other", batch_tokens=batch_tokens).initial
    assert initial is not None
    timed = [each.timed for each in initial.models if each.timed is not None]
    assert [batch.tokens for batch in timed] == [timed_tokens] * 2
    assert all(0 < batch.seconds < LIMIT_SECONDS for batch in timed)


@pytest.mark.parametrize(("batch_tokens", "budget"), [(0, CPU_BATCH_TOKENS), (4_000, 4_000), (1, MAX_TOKENS)])
def test_a_batch_holds_at_least_the_longest_window(load: Load, batch_tokens: int, budget: int) -> None:
    initial = load("tiny", batch_tokens=batch_tokens).initial
    assert initial is not None
    assert initial.guard.budget_tokens(initial.models[0].model.revision) == budget


@pytest.mark.parametrize(
    ("models", "words"),
    [(("nobody",), "nobody"), (("tiny@candidate",), "tiny@candidate"), (("tiny", "not a name!"), "not a name!")],
)
def test_a_model_that_is_not_there_ends_the_loading_with_a_sentence(
    load: Load, models: tuple[str, ...], words: str
) -> None:
    outcome = load(*models)
    assert outcome.initial is None
    assert outcome.state.failure is not None
    assert words in outcome.state.failure


@pytest.mark.parametrize(
    ("error", "served_before", "of_the_device"),
    [
        (RuntimeError("CUDA driver error: unspecified launch failure"), False, True),
        (RuntimeError("No CUDA GPUs are available"), False, True),
        (DeviceMissing("torch sees no CUDA device"), True, True),
        (DeviceMissing("torch sees no CUDA device"), False, False),
        (ValueError("a bug"), True, False),
    ],
    ids=repr,
)
def test_a_device_that_dies_while_loading_is_lost_and_no_bad_model(
    store: Path, tmp_path: Path, error: Exception, served_before: bool, of_the_device: bool
) -> None:
    def fail(*_: object) -> NoReturn:
        raise error

    if served_before:
        RolloutJournal(tmp_path).write({"tiny": "sha256:a"})
    settings = Settings(
        model_store=store, models=("tiny",), device="cpu", model_poll_seconds=0, runtime_dir=tmp_path, threads=1
    )
    with DeviceExecutor() as executor:
        outcome = start_up(settings, executor, fail)
    assert outcome.initial is None
    assert (executor.health.failure is not None, outcome.state.failure is None) == (of_the_device, of_the_device)


def test_a_model_whose_weights_are_damaged_is_not_served(tmp_path: Path, load: Load) -> None:
    broken = tmp_path / "store"
    published = publish(make_model(tmp_path / "m", "bert"), "m", Store(broken))
    assert published
    for path in broken.rglob("*"):
        if path.is_file() and path.stat().st_size > 20_000:
            path.chmod(0o644)
            path.write_bytes(b"\0" * 100)
    outcome = load("m", store=broken)
    assert outcome.initial is None
    assert outcome.state.failure
