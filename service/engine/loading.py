"""From a configuration to models that are ready to run, in a thread of its own, so that the loop can say how far it is.

Owns the order: resolve → import → load → warm → measure, and the seconds that each took. The first import of torch
happens here.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from model_store.catalog import Catalog
from model_store.errors import StoreError
from model_store.remote import open_remote
from model_store.source import Source
from model_store.store import Revision
from service.core.errors import GleanerError
from service.core.memory import FixedBudget, MemoryModel, ModelMemory
from service.core.sequence import Phase
from service.engine.door import Bell
from service.settings import Settings
from service.wire import ModelStatus

if TYPE_CHECKING:
    import torch

    from service.engine.encoder import Encoder
    from service.engine.runner import Runner

Result = TypeVar("Result")

CPU_BATCH_TOKENS = 2_048
GPU_BATCH_TOKENS = 65_536

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything the loop needs to serve."""

    runners: dict[str, Runner]
    models: tuple[ModelStatus, ...]
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
        self._timed("import", 5, _import_torch)
        from service.engine.devices import choose_device, describe

        device = choose_device(self._settings.device)
        encoders = self._timed("load", 40, lambda: self._encoders(revisions, device))
        self._loading.phase = Phase.WARMING
        runners = self._timed("warm-up", 80, lambda: self._warm_runners(encoders))
        memory = self._timed("measure", 90, lambda: self._memory(runners, device))
        models = tuple(_status(revision, encoders[revision.revision]) for revision in revisions)
        return Loaded(runners, models, memory, describe(device), next(iter(encoders.values())).dtype_name)

    def _timed(self, part: str, percent: int, work: Callable[[], Result]) -> Result:
        self._loading.percent = percent
        self._bell.ring()
        begun = time.monotonic()
        result = work()
        self._loading.seconds[part] = round(time.monotonic() - begun, 3)
        return result

    def _resolve(self) -> list[Revision]:
        remote = open_remote(self._settings.model_remote) if self._settings.model_remote else None
        source = Source(Catalog(self._settings.model_store), remote)
        return [source.obtain(name, on_doubt=_warn) for name in self._settings.models]

    def _encoders(self, revisions: list[Revision], device: torch.device) -> dict[str, Encoder]:
        from service.engine.devices import use_threads
        from service.engine.encoder import load_encoder
        from service.engine.precision import choose_dtype

        use_threads(self._settings.threads)
        dtype = choose_dtype(self._settings.dtype, device)
        return {revision.revision: load_encoder(revision.folder, device, dtype) for revision in revisions}

    def _memory(self, runners: dict[str, Runner], device: torch.device) -> MemoryModel:
        from service.engine.calibrate import calibrate
        from service.engine.guard import Guard
        from service.engine.memory_gauge import Allowance, gauge_of

        tokens = self._settings.batch_tokens or (GPU_BATCH_TOKENS if device.type == "cuda" else CPU_BATCH_TOKENS)
        longest = {name: self._longest(runner) for name, runner in runners.items()}
        gauge = gauge_of(device, Allowance(self._settings.memory_fraction, self._settings.memory_limit_bytes))
        if gauge is None:
            log.warning("memory cannot be measured on this system; the budget is fixed")
            return FixedBudget(tokens, max(longest.values()))
        self._compute.submit(gauge.settle).result()
        models = {}
        for name, runner in runners.items():
            most = max(tokens, longest[name])
            function = self._compute.submit(calibrate, runner.encoder, gauge, longest[name], most).result()
            models[name] = ModelMemory(function, longest[name], most)
        return Guard(gauge, models, self._compute)

    def _longest(self, runner: Runner) -> int:
        return min(runner.encoder.max_tokens, self._settings.window_tokens)

    def _warm_runners(self, encoders: dict[str, Encoder]) -> dict[str, Runner]:
        import torch

        from service.engine.crew import Crew, Threads
        from service.engine.runner import Runner, TokenClassifier

        classifiers: dict[str, TokenClassifier] = dict(encoders)
        if next(iter(encoders.values())).device.type == "cpu":
            threads = Threads(torch.get_num_threads())
            classifiers = {name: Crew(encoder, threads) for name, encoder in encoders.items()}
        runners = {name: Runner(each, self._compute, self._bell.ring) for name, each in classifiers.items()}
        for runner in runners.values():
            runner.warm(self._longest(runner))
        return runners


def _warn(doubt: StoreError) -> None:
    log.warning("the remote store cannot be asked; what the local store has is served", extra={"error": doubt.detail})


def _import_torch() -> None:
    import service.engine.encoder  # noqa: F401


def _status(revision: Revision, encoder: Encoder) -> ModelStatus:
    return ModelStatus(
        name=revision.name,
        tag=revision.tag or "",
        revision=revision.revision,
        folder=str(revision.folder),
        labels=encoder.labels,
        max_tokens=encoder.max_tokens,
        packed=encoder.packed,
        parameter_bytes=encoder.parameter_bytes,
    )
