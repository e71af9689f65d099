"""References in, folders out; following tags, and the journal that survives an engine's death."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from safetensors.torch import load_file, save_file

from model_store.errors import UnknownModel
from model_store.local.locks import is_in_use
from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.core import drain
from service.engine.assembly import make_loop
from service.engine.engine_socket import EngineSocket, Waker
from service.engine.execution.executor import DeviceExecutor
from service.engine.models import startup, tag_watcher
from service.engine.models.bring_up import Rollout
from service.engine.models.factory import ModelFactory
from service.engine.models.profiling import ModelProfiler
from service.engine.models.repository import ModelRepository, by_digest
from service.engine.models.startup import Startup
from service.engine.models.tag_watcher import DIED, RolloutJournal, RolloutOutcome, RolloutRecord, TagWatcher
from service.metrics.engine import EngineMetrics
from service.settings import Settings
from service.wire import FAILED, SERVING, ModelStatus
from tests.support.metric_values import value
from tests.support.service import wait_until
from tests.support.tiny_models import make_model


def test_what_was_in_trial_counts_as_crashed(tmp_path: Path) -> None:
    RolloutJournal(tmp_path).write({"a": "sha256:1"}, {"a": "sha256:2"})
    assert RolloutJournal(tmp_path).before == RolloutRecord({"a": "sha256:1"}, {}, {"a": "sha256:2"})


def test_what_crashed_once_is_known_to_all_later_engines(tmp_path: Path) -> None:
    RolloutJournal(tmp_path).write({"a": "sha256:1"}, {"a": "sha256:2"})
    RolloutJournal(tmp_path).write({"a": "sha256:1"}, {"b": "sha256:3"})
    RolloutJournal(tmp_path).write({"a": "sha256:1"})
    assert RolloutJournal(tmp_path).before.crashed == {"a": "sha256:2", "b": "sha256:3"}


def test_nothing_is_known_where_nothing_or_no_record_was_left(tmp_path: Path) -> None:
    assert RolloutJournal(tmp_path).before == RolloutRecord()
    (tmp_path / "revisions.json").write_text("{")
    assert RolloutJournal(tmp_path).before == RolloutRecord()
    assert RolloutJournal(None).before == RolloutRecord()


def test_an_engine_that_cannot_write_goes_on(tmp_path: Path) -> None:
    RolloutJournal(tmp_path / "nowhere").write({"a": "sha256:1"})
    RolloutJournal(None).write({"a": "sha256:1"})


@pytest.fixture(autouse=True)
def no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine's end waits for no heartbeat: nothing here sends any."""
    monkeypatch.setattr(drain, "WORKER_SILENCE_SECONDS", 0.0)


class Engine:
    """An engine that serves `live` after other models, and a watcher that looks when told to."""

    def __init__(self, home: Path, *others: str) -> None:
        self.home = home
        self.store = Store(home / "store")
        self.first = self.put(0)
        self._stopping = False
        values = {"device": "cpu", "dtype": "float32", "threads": 1, "drain_grace_seconds": 0, "model_poll_seconds": 0}
        self.settings = Settings(model_store=self.store.root, runtime_dir=home, models=(*others, "live"), **values)  # type: ignore[arg-type]
        self.waker = Waker()
        self.ipc = EngineSocket(self.settings.engine_address, self.waker)
        self.calls, self.executor, self.metrics = self.ipc.calls, DeviceExecutor(), EngineMetrics()
        startup = Startup(self.settings, self.executor, self.calls, self.metrics)
        self.loop = make_loop("1", self.ipc, self.executor, startup.state, self.settings, self.metrics)
        startup.begin(self.loop.models, self.loop.open)
        self.thread = threading.Thread(target=self.loop.run, args=(lambda: self._stopping,))
        self.thread.start()
        wait_until(lambda: self.loop.models.is_open)

    def put(self, seed: int, folder: Path | None = None) -> str:
        """Publish a revision; the tag then points to it."""
        made = folder or make_model(self.home / f"model-{seed}", seed=seed, layers=1)
        return publish(made, "live", self.store).revision.revision

    def watcher(self) -> TagWatcher:
        """A watcher that is told to poll."""
        factory = ModelFactory(self.settings, self.executor, self.waker.wake)
        profiler = ModelProfiler(self.settings, factory.device, self.executor)
        rollout = Rollout(ModelRepository(self.settings), factory, profiler, self.settings)
        journal = RolloutJournal(self.home)
        return TagWatcher(self.settings, rollout, self.loop.models, self.calls, self.metrics, journal)

    def serving(self) -> ModelStatus:
        return self.calls.call(lambda: self.loop.models.statuses()[0])

    def count(self, outcome: RolloutOutcome) -> float:
        return value(self.metrics.models.switches, model="live", tag="stable", outcome=outcome.value)

    def close(self) -> None:
        self._stopping = True
        self.waker.wake()
        self.thread.join(30)
        self.executor.shutdown()
        self.ipc.close(0)
        self.waker.close()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = Engine(tmp_path)
    yield engine
    engine.close()


def test_a_model_that_failed_is_listed_and_served_once_a_revision_works(tmp_path: Path) -> None:
    store, bad = Store(tmp_path / "store"), make_model(tmp_path / "bad", layers=1)
    weights = load_file(bad / "model.safetensors")
    weights["classifier.weight"] = weights["classifier.weight"].sign() * 3e38
    save_file(weights, bad / "model.safetensors", {"format": "pt"})
    failing = publish(bad, "other", store).revision.revision
    engine = Engine(tmp_path, "other")
    try:
        failed, live = engine.calls.call(engine.loop.models.statuses)
        assert (failed.name, failed.tag, failed.revision, failed.state) == ("other", "stable", failing, FAILED)
        assert "NaN or infinite" in failed.problem
        assert (live.name, live.state) == ("live", SERVING)
        watcher = engine.watcher()
        watcher.poll()
        assert engine.serving().state == FAILED
        sound = publish(make_model(tmp_path / "sound", seed=3, layers=1), "other", store).revision.revision
        watcher.poll()
        assert (engine.serving().revision, engine.serving().state, engine.serving().problem) == (sound, SERVING, "")
    finally:
        engine.close()


def test_what_is_new_and_sound_serves_and_is_noted_for_the_next_engine(engine: Engine) -> None:
    watcher, new = engine.watcher(), engine.put(1)
    watcher.poll()
    assert (engine.serving().revision, engine.serving().problem) == (new, "")
    assert RolloutJournal(engine.home).before == RolloutRecord({"live": new})
    watcher.poll()
    assert engine.count(RolloutOutcome.SWITCHED) == 1


def test_a_tag_that_moves_back_is_followed_without_loading_again(engine: Engine) -> None:
    watcher, new = engine.watcher(), engine.put(1)
    watcher.poll()
    assert engine.serving().revision == new
    engine.put(0, engine.home / "model-0")
    watcher.poll()
    assert engine.serving().revision == engine.first
    assert engine.count(RolloutOutcome.SWITCHED) == 2


def test_a_revision_that_cannot_be_loaded_is_reported_until_the_tag_moves(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    watcher = engine.watcher()
    broken = make_model(engine.home / "broken", seed=2, layers=1)
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    bad = engine.put(2, broken)
    with caplog.at_level(logging.ERROR):
        watcher.poll()
        watcher.poll()
    assert engine.serving().revision == engine.first
    assert bad in engine.serving().problem
    assert "weights missing" in engine.serving().problem
    assert engine.count(RolloutOutcome.LOAD_FAILED) == 1
    assert sum("is not taken" in record.message for record in caplog.records) == 1
    good = engine.put(3)
    watcher.poll()
    assert (engine.serving().revision, engine.serving().problem) == (good, "")


def test_a_tag_that_cannot_be_read_is_asked_again_and_said_once(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    watcher = engine.watcher()
    tag = engine.store.layout.tag("live", "stable")
    whole = tag.read_bytes()
    tag.write_bytes(b"{")
    with caplog.at_level(logging.ERROR):
        watcher.poll()
        watcher.poll()
    assert engine.serving().revision == engine.first
    assert engine.count(RolloutOutcome.FETCH_FAILED) == 2
    assert sum("is not taken" in record.message for record in caplog.records) == 1
    tag.write_bytes(whole)
    watcher.poll()
    assert engine.serving().problem == ""


def test_one_over_whose_trial_an_engine_died_is_not_tried_again(engine: Engine) -> None:
    crashed = engine.put(1)
    RolloutJournal(engine.home).write({}, in_trial={"live": crashed})
    watcher = engine.watcher()
    watcher.report_crashed()
    watcher.poll()
    assert engine.serving().revision == engine.first
    assert DIED in engine.serving().problem
    assert engine.count(RolloutOutcome.SWITCHED) == 0


def test_garbage_is_collected_at_the_start_and_after_each_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between them no collection looks through what is loaded: it stops the loop, and a GPU, for 0.2 s."""
    collections: list[bool] = []
    begun: list[Engine] = []
    monkeypatch.setattr(startup, "collect_once", lambda: collections.append(bool(begun)))
    engine = Engine(tmp_path)
    begun.append(engine)
    monkeypatch.setattr(tag_watcher, "collect_once", lambda: collections.append(engine.loop.models.is_open))
    pauses = iter(range(3))

    def pause(_: float) -> None:
        match next(pauses):
            case 0:
                assert collections == [False]
                engine.put(1)
            case 1:
                assert collections == [False, True]
            case _:
                raise KeyboardInterrupt

    monkeypatch.setattr(tag_watcher, "time", SimpleNamespace(sleep=pause, monotonic=time.monotonic))
    with pytest.raises(KeyboardInterrupt):
        engine.watcher().run({})
    engine.close()
    assert collections == [False, True]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def fetcher(store: Store) -> ModelRepository:
    return ModelRepository(Settings(model_store=store.root))


def put(store: Store, folder: Path, seed: int) -> str:
    return publish(make_model(folder / str(seed), seed=seed, layers=1), "m", store).revision.revision


def test_a_revision_is_kept_until_it_is_released(store: Store, fetcher: ModelRepository, tmp_path: Path) -> None:
    name = put(store, tmp_path, 0)
    assert fetcher.obtain("m").revision == name
    assert fetcher.obtain("m@stable").revision == name
    assert is_in_use(store.layout, name)
    fetcher.release(name)
    assert not is_in_use(store.layout, name)
    fetcher.release(name)


def test_a_tag_is_followed_without_fetching_and_its_past_is_known(
    store: Store, fetcher: ModelRepository, tmp_path: Path
) -> None:
    old = put(store, tmp_path, 0)
    assert fetcher.points_to("m") == old
    new = put(store, tmp_path, 1)
    assert fetcher.points_to("m") == new
    assert (fetcher.earlier("m"), fetcher.earlier(f"m@{new}")) == ((old,), ())
    assert fetcher.obtain(by_digest("m@candidate", old)).revision == old


def test_a_name_that_leads_nowhere_is_an_error(fetcher: ModelRepository) -> None:
    with pytest.raises(UnknownModel):
        fetcher.points_to("nobody")
    assert fetcher.earlier("nobody") == ()
