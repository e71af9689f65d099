"""From a configuration to models that are ready to run, in a thread of its own, so that the loop can say how far it is.

Owns the order: resolve → import → (load → warm → measure) for each model, and the seconds that each part took.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from model_store.catalog import Catalog
from model_store.errors import StoreError
from model_store.remote import open_remote
from model_store.source import Source
from model_store.store import Revision
from service.core.errors import GleanerError
from service.core.memory import MemoryModel, ModelMemory
from service.core.residency import Residency
from service.core.sequence import Phase
from service.engine.door import Bell
from service.engine.held import Held
from service.engine.making import ModelMaker
from service.engine.measuring import Measuring
from service.settings import Settings

Result = TypeVar("Result")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything the loop needs to serve.

    Attributes:
        serving: reference, as in the settings → the revision that it leads to.
        residency: where the weights of all `held` are by now.
    """

    serving: dict[str, str]
    held: list[Held]
    residency: Residency
    memory: MemoryModel
    device: str
    dtype: str


@dataclass(slots=True)
class Loading:
    """Progress that the loop reads while the loader's thread writes it; `loaded` or `failure` ends it."""

    phase: Phase = Phase.LOADING
    percent: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    loaded: Loaded | None = None
    failure: str | None = None


def start_loading(settings: Settings, compute: ThreadPoolExecutor, bell: Bell) -> Loading:
    """Begin to load in a new thread; the bell rings at each step."""
    loading = Loading()
    loader = _Loader(settings, compute, bell, loading)
    threading.Thread(target=loader.run, name="loader", daemon=True).start()
    return loading


class _Loader:
    def __init__(self, settings: Settings, compute: ThreadPoolExecutor, bell: Bell, loading: Loading) -> None:
        self._settings = settings
        self._compute = compute
        self._bell = bell
        self._loading = loading

    def run(self) -> None:
        try:
            self._loading.loaded = self._load()
        except (GleanerError, StoreError) as error:
            self._loading.failure = str(error)
        except Exception as error:
            log.exception("loading failed")
            self._loading.failure = f"{type(error).__name__}: {error}"
        self._bell.ring()

    def _load(self) -> Loaded:
        revisions = self._timed("resolve", 0, self._resolve)
        maker = self._timed("import", 5, lambda: _maker(self._settings, self._compute, self._bell.ring))
        from service.engine.devices import describe

        measuring = Measuring(self._settings, maker.device, self._compute)
        start = _Start(maker, measuring, Residency(maker.weights_budget_bytes()), self._compute, self._timed)
        for revision in revisions.values():
            start.make(revision)
        self._loading.phase = Phase.WARMING
        memory = self._timed("measure", 95, start.guard)
        serving = {reference: revision.revision for reference, revision in revisions.items()}
        held = list(start.held.values())
        device = describe(maker.device)
        return Loaded(serving, held, start.residency, memory, device, maker.dtype_name)

    def _timed(self, part: str, percent: int, work: Callable[[], Result]) -> Result:
        self._loading.percent = percent
        self._bell.ring()
        begun = time.monotonic()
        result = work()
        seconds = self._loading.seconds.get(part, 0.0) + time.monotonic() - begun
        self._loading.seconds[part] = round(seconds, 3)
        return result

    def _resolve(self) -> dict[str, Revision]:
        return {name: open_source(self._settings).obtain(name, on_doubt=_warn) for name in self._settings.models}


Timed = Callable[[str, int, Callable[[], Any]], Any]


class _Start:
    """The models as they are made, one after the other; later ones send earlier ones away where room is short."""

    def __init__(
        self, maker: ModelMaker, measuring: Measuring, residency: Residency, compute: ThreadPoolExecutor, timed: Timed
    ) -> None:
        self.held: dict[str, Held] = {}
        self.residency = residency
        self._maker = maker
        self._measuring = measuring
        self._compute = compute
        self._timed = timed
        self._memories: dict[str, ModelMemory] = {}

    def make(self, revision: Revision) -> None:
        """Load, warm and measure one model, unless it is there under another name."""
        name = revision.revision
        if name in self.held:
            return
        held: Held = self._timed("load", 40, lambda: self._maker.make(revision, lambda size: self._settle(name, size)))
        self.held[name] = held
        self._timed("warm-up", 80, lambda: self._measuring.warm(held))
        memory = self._timed("measure", 90, lambda: self._measuring.measure(held))
        if memory is not None:
            self._memories[name] = memory

    def guard(self) -> MemoryModel:
        """The guard over all models that were made."""
        return self._measuring.guard(self._memories)

    def _settle(self, revision: str, weight_bytes: int) -> None:
        now = time.monotonic()
        self.residency.add(revision, weight_bytes, now)
        for each in self.residency.bring(revision, now, busy=()) or ():
            self._compute.submit(self.held[each].weights.leave).result()
        self.residency.arrived(revision, 0.0, now)


def open_source(settings: Settings) -> Source:
    """Where the settings say that models come from."""
    remote = open_remote(settings.model_remote) if settings.model_remote else None
    return Source(Catalog(settings.model_store), remote)


def _warn(doubt: StoreError) -> None:
    log.warning("the remote store cannot be asked; what the local store has is served", extra={"error": doubt.detail})


def _maker(settings: Settings, compute: ThreadPoolExecutor, wake: Callable[[], None]) -> ModelMaker:
    import service.engine.encoder  # noqa: F401

    return ModelMaker(settings, compute, wake)
