"""Start-up: from the settings to models that serve, in a thread of its own, so that the loop can report progress.

    fetch   a a a b b b b b b b b
    import  i i i i i i
    load                a a         b b     load, warm up, measure, prove: each model as soon as it is fetched
                                    time →

Afterwards the same thread follows the tags. A revision that fails its golden examples is not served at a start-up
either: the tag's earlier revisions are tried, newest first.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field

from model_store.errors import Damaged, StoreError, Unable
from model_store.local.store import Revision
from service.core.errors import GleanerError
from service.core.types import Phase
from service.engine.device.nvml import describes_fabric
from service.engine.engine_socket import LoopCalls
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.bring_up import Rollout
from service.engine.models.factory import ModelFactory
from service.engine.models.initial_rollout import InitialRollout
from service.engine.models.loaded_model import InitialModels
from service.engine.models.manager import ModelManager
from service.engine.models.profiling import ModelProfiler
from service.engine.models.repository import ModelRepository, by_digest
from service.engine.models.tag_watcher import RolloutJournal, TagWatcher
from service.environment import keep_segments_fixed
from service.metrics.engine import EngineMetrics
from service.process import collect_once
from service.settings import Settings

DEVICE_PARTS = frozenset({"warm-up", "measure", "prove"})
SHARES_PERCENT = {"fetch": 10, "import": 42, "load": 28, "warm-up": 5, "measure": 9, "prove": 6}
"""Typical shares of a start-up's time, as in `start_seconds` of `/models` for the built-in model."""


@dataclass(slots=True)
class StartupState:
    """The progress of a start-up.

    Attributes:
        models: how many are to be served; each has the parts after the import.
        fetched: share of the models' bytes that is here.
        runs: by part, how often it has begun, plus how often it has ended.
        seconds: time spent in each part so far.
        failure: why the models cannot be served, if so.
        steps: grows with every step forward, also within a part.
        under_way: parts that have begun and not ended.
        gpu: UUID of the device, if that is a GPU.
    """

    phase: Phase = Phase.LOADING
    models: int = 1
    fetched: float = 0.0
    runs: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    failure: str | None = None
    gpu: str | None = None
    steps: int = 0
    under_way: set[str] = field(default_factory=set)

    @property
    def percent(self) -> int:
        """Percent of the whole start-up, by the parts' typical shares; one under way counts half. Never falls."""
        done = {part: self.runs[part] / (2 * self._expected(part)) for part in SHARES_PERCENT} | {"fetch": self.fetched}
        return min(99, int(sum(share * min(1.0, done[part]) for part, share in SHARES_PERCENT.items())))

    def _expected(self, part: str) -> int:
        """Count the runs of a part; `measure` once more for all models together."""
        return 1 if part == "import" else self.models + (part == "measure")

    @property
    def on_device(self) -> bool:
        """True while all that the start-up does is to run the models."""
        return not self.under_way.isdisjoint(DEVICE_PARTS)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time of the block to the seconds of a part."""
        begun = time.monotonic()
        self.steps += 1
        self.runs[part] += 1
        self.under_way.add(part)
        try:
            yield
        finally:
            self.under_way.discard(part)
            self.runs[part] += 1
            self.steps += 1
            self.seconds[part] = round(self.seconds.get(part, 0.0) + time.monotonic() - begun, 3)


log = logging.getLogger(__name__)


def model_factory(settings: Settings, executor: DeviceExecutor, wake: Callable[[], None]) -> ModelFactory:
    """The factory of an engine's models, with transformers imported."""
    segments_grow = settings.device == "cpu" or describes_fabric()
    if not segments_grow:
        keep_segments_fixed()  # Before torch reads its variable.
    import service.engine.encoder.encoder  # noqa: F401

    factory = ModelFactory(settings, executor, wake)
    if not segments_grow and factory.device.type == "cuda":
        log.warning("NVML does not answer torch's allocator: segments do not grow, and more may be fragmented")
    return factory


MakeFactory = Callable[[Settings, DeviceExecutor, Callable[[], None]], ModelFactory]
"""Makes the factory of models that run on this executor and wake the loop after each batch."""


class Startup:
    """The loading thread of one engine.

    Attributes:
        state: the progress, for the loop to read.
    """

    def __init__(
        self,
        settings: Settings,
        executor: DeviceExecutor,
        calls: LoopCalls,
        metrics: EngineMetrics,
        make_factory: MakeFactory = model_factory,
    ) -> None:
        self._make_factory = make_factory
        self.state = StartupState(models=len(settings.models))
        self._settings = settings
        self._executor = executor
        self._calls = calls
        self._metrics = metrics
        self._journal = RolloutJournal(settings.runtime_dir)

    def begin(self, models: ModelManager, open_models: Callable[[InitialModels], None]) -> threading.Thread:
        """Start the thread. It calls `open_models` on the loop's thread, then has new revisions replace old ones."""
        thread = threading.Thread(target=self._run, args=(models, open_models), name="loader", daemon=True)
        thread.start()
        return thread

    def _run(self, models: ModelManager, open_models: Callable[[InitialModels], None]) -> None:
        initial = None
        try:
            repository = ModelRepository(self._settings)
            factory, profiler, initial = self._load(repository)
        except (GleanerError, StoreError) as error:
            self._failed(error, str(error))
        except Exception as error:
            log.exception("loading failed")
            self._failed(error, f"{type(error).__name__}: {error}")
        if initial is None:
            self._calls.wake()
            return
        collect_once()
        self._calls.call(lambda: open_models(initial))
        if self._settings.model_poll_seconds:
            rollout = Rollout(repository, factory, profiler, self._settings)
            TagWatcher(self._settings, rollout, models, self._calls, self._metrics, self._journal).run(initial.failed)

    def _failed(self, error: Exception, reason: str) -> None:
        """A broken device is lost, as is one that a predecessor had; after any other failure starting again is vain."""
        from service.engine.device.selection import DeviceMissing
        from service.engine.execution.device_errors import is_broken_device

        if is_broken_device(error) or (isinstance(error, DeviceMissing) and self._journal.before.serving):
            self._executor.health.failed(error)
        else:
            self.state.failure = reason

    def _load(self, repository: ModelRepository) -> tuple[ModelFactory, ModelProfiler, InitialModels]:
        self._step(Phase.SYNCING)
        with self.state.timed("ready"):
            fetches = self._begin_fetching(repository)
            with self.state.timed("import"):
                factory = self._make_factory(self._settings, self._executor, self._calls.wake)
            self.state.gpu = _gpu_uuid(factory)
            profiler = ModelProfiler(self._settings, factory.device, self._executor)
            rollout = Rollout(repository, factory, profiler, self._settings, self.state.timed)
            first = InitialRollout(rollout, self._executor, factory.weights_budget_bytes(), self._journal)
            for reference, fetch in fetches.items():
                wait([fetch])
                self._step(Phase.LOADING)
                first.bring_up(reference, fetch.result, is_only=len(fetches) == 1)
            first.require_any()
            self._step(Phase.WARMING)
            with self.state.timed("measure"):
                guard = profiler.guard(first.memories())
            initial = first.models(self._settings.models, guard, factory.device_name(), factory.dtype_name)
        self._journal.write(initial.serving)
        log.info("loaded", extra={"seconds": dict(self.state.seconds)})
        return factory, profiler, initial

    def _begin_fetching(self, repository: ModelRepository) -> dict[str, Future[Revision]]:
        thread = ThreadPoolExecutor(1, thread_name_prefix="fetch")
        fetches = {
            reference: thread.submit(self._fetch, repository, number, reference)
            for number, reference in enumerate(self._settings.models)
        }
        thread.shutdown(wait=False)
        return fetches

    def _fetch(self, repository: ModelRepository, number: int, reference: str) -> Revision:
        count = len(self._settings.models)

        def progress(done_bytes: int, total_bytes: int) -> None:
            share = min(1.0, done_bytes / max(total_bytes, 1))
            self.state.fetched = max(self.state.fetched, (number + share) / count)
            self._step(self.state.phase)

        with self.state.timed("fetch"):
            try:
                found = self._served_before(repository, reference) or repository.obtain(reference, progress)
            except (Unable, Damaged) as error:
                found = self._instead(repository, reference, error)
        self.state.fetched = (number + 1) / count
        return found

    def _instead(self, repository: ModelRepository, reference: str, error: StoreError) -> Revision:
        """Choose the revision that serves while a newer one cannot be fetched, for which the tag watcher tries again.

        Raises:
            StoreError: that one; there is no other.
        """
        found = repository.at_hand(reference)
        if found is None:
            raise error
        facts = {"model": reference, "revision": found.revision, "reason": error.detail}
        log.error("a revision cannot be fetched; the one before serves", extra=facts)
        return found

    def _served_before(self, repository: ModelRepository, reference: str) -> Revision | None:
        """Obtain the revision that a dead predecessor was serving: waiting requests may be tokenized for it."""
        revision = self._journal.before.serving.get(reference)
        if revision is None:
            return None
        try:
            return repository.obtain(by_digest(reference, revision))
        except StoreError as error:
            log.warning("what was served before is not there", extra={"model": reference, "reason": error.detail})
            return None

    def _step(self, phase: Phase) -> None:
        self.state.phase = phase
        self.state.steps += 1
        self._calls.wake()


def _gpu_uuid(factory: ModelFactory) -> str | None:
    from service.engine.device.selection import gpu_uuid

    return gpu_uuid(factory.device)
