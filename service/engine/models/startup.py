"""From a configuration to models that are ready to run, in a thread of its own, so that the loop can say how far it is.

    fetch   a a a b b b b b b b b
    import  i i i i i i
    load                a a         b b     load, warm up, measure, prove: each model as soon as it is there
                                    time →

Owns that order, and the seconds that each part took. Once all models are there, the same thread follows their tags.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from model_store.errors import StoreError
from model_store.local.store import Revision
from service.core.errors import GleanerError
from service.core.types import Phase
from service.engine.execution.executor import DeviceExecutor
from service.engine.ipc.loop_calls import LoopCalls
from service.engine.ipc.server import Waker
from service.engine.models.factory import ModelFactory
from service.engine.models.loaded_model import InitialModels
from service.engine.models.profiling import ModelProfiler
from service.engine.models.repository import ModelRepository, by_digest
from service.engine.models.rollout import FirstModels
from service.engine.models.rollout_journal import RolloutJournal, RolloutRecord
from service.metrics import EngineMetrics
from service.settings import Settings

if TYPE_CHECKING:
    from service.engine.models.manager import ModelManager

FETCH_PERCENT, MAKE_PERCENT = 50, 45
"""What each is worth of the whole start; the rest is the guard's."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class StartupState:
    """Progress that the loop reads while the loader's thread writes it; `loaded` or `failure` ends it.

    `gpu` is the UUID of the device, if that is a GPU. `opened` is set by the loop, with what it made of `loaded`.
    """

    phase: Phase = Phase.LOADING
    percent: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    loaded: InitialModels | None = None
    failure: str | None = None
    gpu: str | None = None
    opened: Future[ModelManager] = field(default_factory=Future)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time of what happens inside to the seconds of a part."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.seconds[part] = round(self.seconds.get(part, 0.0) + time.monotonic() - begun, 3)


def start_loading(
    settings: Settings, compute: DeviceExecutor, bell: Waker, errands: LoopCalls, metrics: EngineMetrics
) -> StartupState:
    """Begin to load in a new thread; the bell rings at each step."""
    loading = StartupState()
    loader = _Startup(settings, compute, bell, errands, metrics, loading)
    threading.Thread(target=loader.run, name="loader", daemon=True).start()
    return loading


class _Startup:
    def __init__(
        self,
        settings: Settings,
        compute: DeviceExecutor,
        bell: Waker,
        errands: LoopCalls,
        metrics: EngineMetrics,
        loading: StartupState,
    ) -> None:
        self._settings = settings
        self._compute = compute
        self._bell = bell
        self._errands = errands
        self._metrics = metrics
        self._loading = loading
        self._memo = RolloutJournal(settings.runtime_dir)
        self._before = self._memo.recall()
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="fetch")
        self._fetched = self._made = 0.0

    def run(self) -> None:
        try:
            fetcher, maker, measuring = self._load()
        except (GleanerError, StoreError) as error:
            self._loading.failure = str(error)
        except Exception as error:
            log.exception("loading failed")
            self._loading.failure = f"{type(error).__name__}: {error}"
        self._bell.ring()
        self._aside.shutdown(wait=False)
        if self._loading.failure is None and self._settings.model_poll_seconds:
            self._follow(fetcher, maker, measuring)

    def _load(self) -> tuple[ModelRepository, ModelFactory, ModelProfiler]:
        self._step(Phase.SYNCING)
        with self._loading.timed("ready"):
            fetcher = ModelRepository(self._settings)
            fetches = {
                reference: self._aside.submit(self._fetch, fetcher, number, reference)
                for number, reference in enumerate(self._settings.models)
            }
            with self._loading.timed("import"):
                maker = _maker(self._settings, self._compute, self._bell.ring)
            self._loading.gpu = _gpu_uuid(maker)
            measuring = ModelProfiler(self._settings, maker.device, self._compute)
            first = FirstModels(self._settings, fetcher, maker, measuring, self._compute, self._loading.timed)
            for number, (reference, fetch) in enumerate(fetches.items(), start=1):
                revision = fetch.result()
                self._step(Phase.LOADING)
                first.make(reference, revision)
                self._made = number / len(fetches)
            self._step(Phase.WARMING)
            loaded = first.loaded()
        self._memo.write(RolloutRecord(loaded.serving, {}, self._before.deadly))
        log.info("loaded", extra={"seconds": dict(self._loading.seconds)})
        self._loading.loaded = loaded
        maker.capture_queue.open(measuring.settle)
        return fetcher, maker, measuring

    def _fetch(self, fetcher: ModelRepository, number: int, reference: str) -> Revision:
        count = len(self._settings.models)

        def progress(done_bytes: int, total_bytes: int) -> None:
            self._fetched = (number + done_bytes / max(total_bytes, 1)) / count
            self._step(self._loading.phase)

        with self._loading.timed("fetch"):
            found = self._served_before(fetcher, reference) or fetcher.obtain(reference, progress)
        self._fetched = (number + 1) / count
        return found

    def _served_before(self, fetcher: ModelRepository, reference: str) -> Revision | None:
        """What the engine before this one served, if it died: requests may wait that were tokenized for it."""
        revision = self._before.serving.get(reference)
        if revision is None:
            return None
        try:
            return fetcher.obtain(by_digest(reference, revision))
        except StoreError as error:
            log.warning("what was served before is not there", extra={"model": reference, "reason": error.detail})
            return None

    def _step(self, phase: Phase) -> None:
        self._loading.phase = phase
        self._loading.percent = int(FETCH_PERCENT * self._fetched + MAKE_PERCENT * self._made)
        self._bell.ring()

    def _follow(self, fetcher: ModelRepository, maker: ModelFactory, measuring: ModelProfiler) -> None:
        from service.engine.models.tag_watcher import TagWatcher

        residents = self._loading.opened.result()
        parts = (fetcher, maker, measuring, residents, self._errands, self._metrics, self._memo, self._before)
        TagWatcher(self._settings, *parts).run()


def _maker(settings: Settings, compute: DeviceExecutor, wake: Callable[[], None]) -> ModelFactory:
    import service.engine.encoder.encoder  # noqa: F401

    return ModelFactory(settings, compute, wake)


def _gpu_uuid(maker: ModelFactory) -> str | None:
    from service.engine.device.selection import gpu_uuid

    return gpu_uuid(maker.device)
