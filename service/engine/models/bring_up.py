"""Rollout: brings one revision up, from its folder to a model that has passed its golden examples.

    read → make room on the device → build → warm up → profile → admit → a text, golden examples

Whatever fails in it is the revision's own error, but for a broken device: it is not taken, and nothing else ends. Each
revision answers a text the whole way before it may serve, and has `BRING_UP_SECONDS` for all.

The same at start-up and in a running engine; they differ in their target: where room comes from, and on which way the
golden examples reach the model. A golden example's text is prepared and decoded as for requests, by the model's
processor (`service/families`).
"""

from __future__ import annotations

import ctypes
import dataclasses
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np

from model_store.local.store import Revision
from model_store.manifest import GoldenEntity, GoldenExample, Manifest
from service.core.arrays import Logits, TokenIds
from service.core.decoding.entities import Entity
from service.core.errors import GleanerError, ModelError
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.engine.models.factory import ModelFactory
from service.engine.models.loaded_model import LoadedModel, ProfiledModel
from service.engine.models.profiling import ModelProfiler
from service.engine.models.repository import ModelRepository
from service.engine.models.tokenizer_check import refuse_missing_embeddings, refuse_other_tokens
from service.families.processor import Infer, MarkedDocument, Processor, Task, WindowSizes, prepare
from service.families.registry import open_processor
from service.process import EXIT_BROKEN
from service.settings import Settings
from service.wire import ModelStatus

if TYPE_CHECKING:  # It imports torch.
    from service.families.engine.checkpoint import Checkpoint

Timed = Callable[[str], AbstractContextManager[None]]
"""A context that adds its time to a part of the start-up: load, warm-up, measure or prove."""


log = logging.getLogger(__name__)

BRING_UP_SECONDS = 900.0
"""Most time to bring a revision up, from its folder to its golden examples."""
REPEAT_SECONDS = 1.0
STUCK_SECONDS = 60.0
"""How much longer a block may go on that does not end by itself: it is in one call of C code, and its process ends."""
TRIAL_TEXT = "Invoice 4711 of 31.01.2026: Jane Doe, Acme GmbH, Zürich, pays EUR 1,250.00 (jane@example.org)."
MOST_OBSERVED = 50
"""Golden examples in which a processor sees how its model tags."""
TRIAL_LABELS = ("person", "organization", "date", "amount")
"""Answered by each revision before it may serve; the labels, by one that is given some."""


class GoldenFailed(ModelError):
    """A revision does not find what its golden examples say."""


class RolloutTarget(Protocol):
    """The engine that a revision is brought up in."""

    def make_room(self, revision: str, weight_bytes: int) -> None:
        """Wait until the device has room for the weights. Raises InsufficientMemory."""

    def admit(self, candidate: ProfiledModel) -> None:
        """Let the candidate be inferred with."""

    def infer(self, model: LoadedModel, sequences: list[TokenIds]) -> list[Logits]:
        """The logits of each sequence by the candidate."""


class Rollout:
    """Brings up revisions of one engine.

    Attributes:
        repository: where they come from.
    """

    def __init__(
        self,
        repository: ModelRepository,
        factory: ModelFactory,
        profiler: ModelProfiler,
        settings: Settings,
        timed: Timed = lambda _: nullcontext(),
    ) -> None:
        self.repository = repository
        self._factory = factory
        self._profiler = profiler
        self._settings = settings
        self._timed = timed

    def bring_up(self, revision: Revision, target: RolloutTarget) -> ProfiledModel:
        """Load, profile and check a revision.

        Raises:
            GoldenFailed: it does not find what its golden examples say.
            GleanerError: it cannot be loaded, answers no text, takes too long, or an example could not be inferred.
        """
        from service.engine.execution.device_errors import is_broken_device

        try:
            with time_limit(BRING_UP_SECONDS):
                return self._bring_up(revision, target)
        except GleanerError:
            raise
        except Exception as error:
            if is_broken_device(error):
                raise
            log.exception("a revision failed in a way of its own", extra={"revision": revision.revision})
            raise ModelError(f"{revision.name} cannot be brought up: {type(error).__name__}: {error}") from error

    def _bring_up(self, revision: Revision, target: RolloutTarget) -> ProfiledModel:
        with self._timed("load"):
            checkpoint = self._factory.read(revision)
            processor = _checked_processor(revision, checkpoint)
            target.make_room(revision.revision, checkpoint.weight_bytes)
            model = self._factory.build(revision, checkpoint, processor)
        with self._timed("warm-up"):
            self._profiler.warm(model)
            model = self._observed(model, processor, revision)
            timed = self._profiler.time(model)
        with self._timed("measure"):
            candidate = ProfiledModel(model, self._profiler.measure(model), timed)
        target.admit(candidate)
        with self._timed("prove"):
            trial = Trial(processor, model.status, partial(target.infer, model), self._settings)
            trial.try_text()
            problem = trial.first_failure(revision.manifest)
        if problem is not None:
            raise GoldenFailed(problem)
        return candidate

    def _observed(self, model: LoadedModel, processor: Processor[Any], revision: Revision) -> LoadedModel:
        """The model as its processor describes it once it has seen scores."""
        golden = revision.manifest.golden[:MOST_OBSERVED]
        examples = [MarkedDocument(_document(each), _places(each.entities)) for each in golden]
        sizes = _sizes(model.status, self._settings)
        processor.observe(model.status, examples, sizes, lambda sequences: _finite(model.infer(sequences)))
        return dataclasses.replace(model, status=processor.described(model.status), reduce=processor.reducer())


def _sizes(model: ModelStatus, settings: Settings) -> WindowSizes:
    return WindowSizes(min(settings.window_tokens, model.max_tokens), settings.overlap_tokens)


def _checked_processor(revision: Revision, checkpoint: Checkpoint) -> Processor[Any]:
    """The processor; refuses a tokenizer with more tokens than the model has embeddings, or with other tokens.

    Raises:
        ModelError: with such a tokenizer a text fails, or has other entities.
    """
    processor = open_processor(revision.folder)
    refuse_missing_embeddings(processor.largest_token_id, checkpoint.embeddings)
    refuse_other_tokens(revision.folder, processor.tokenizer.vocabulary)
    return processor


class BringUpTimeout(Exception):
    """A revision took too long to bring up."""


@contextmanager
def time_limit(seconds: float, stuck_seconds: float = STUCK_SECONDS) -> Iterator[None]:
    """Have a block of this thread end with BringUpTimeout, between two bytecodes, when it takes longer.

    One that goes on for `stuck_seconds` more ends the process, as nothing else can end it. The next engine serves what
    this one served, and does not try again what was in trial.
    """
    thread, over, deciding = threading.get_ident(), threading.Event(), threading.Lock()
    end = time.monotonic() + seconds + stuck_seconds

    def watch() -> None:
        wait = seconds
        while not over.wait(wait):
            wait = REPEAT_SECONDS  # A block may catch whatever is raised in it.
            with deciding:
                if not over.is_set() and time.monotonic() > end:
                    log.critical("a revision is stuck in one call; the engine ends", extra={"seconds": seconds})
                    os._exit(EXIT_BROKEN)
                if not over.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(BringUpTimeout))

    threading.Thread(target=watch, name="bring-up limit", daemon=True).start()
    try:
        yield
    finally:
        with deciding:
            over.set()


@dataclass(frozen=True, slots=True)
class Trial:
    """A revision that is tried before it may serve: texts go the way that those of requests go."""

    processor: Processor[Any]
    model: ModelStatus
    infer: Infer
    settings: Settings

    def try_text(self) -> None:
        """Answer a text.

        Raises:
            ModelError: the scores are no numbers.
            Exception: whatever else is wrong with the revision.
        """
        self._entities(Document(TRIAL_TEXT), self._task(TRIAL_LABELS, None))

    def first_failure(self, manifest: Manifest) -> str | None:
        """A sentence on the first golden example that fails, without its text; None when all pass.

        Raises:
            GleanerError: an example cannot be inferred.
        """
        for number, example in enumerate(manifest.golden, start=1):
            task = self._task(example.labels, example.min_score)
            if difference := _difference(example, self._entities(_document(example), task)):
                return f"golden example {number} of {len(manifest.golden)} fails: {difference}"
        return None

    def _task(self, labels: Sequence[str], min_score: float | None) -> Task:
        """`labels`: for a model that is given some."""
        return self.processor.example(labels, min_score, self.model, _sizes(self.model, self.settings))

    def _entities(self, document: Document, task: Task) -> list[Entity]:
        prepared = prepare(task, self.processor.readable(document))
        return prepared.entities_in(_finite(self.infer(prepared.sequences)))


def _finite(scores: list[Logits]) -> list[Logits]:
    if not all(np.isfinite(each).all() for each in scores):
        raise ModelError("its scores are no numbers: NaN or infinite")
    return scores


def _document(example: GoldenExample) -> Document:
    """A golden example's document. Raises GleanerError for pages that are none, or of another text."""
    if not example.pages:
        return Document(example.text)
    from service.documents.placed_pages import read_placed_pages

    document = read_placed_pages(msgspec.Raw(msgspec.json.encode(example.pages)), DocumentLimits())
    if document.text != example.text:
        raise ModelError("the text of a golden example is not that of its pages")
    return document


Place = tuple[str, int, int]
MOST_SHOWN = 3


def _difference(example: GoldenExample, found: list[Entity]) -> str | None:
    wanted, given = _places(example.entities), _places(found)
    missing, extra = sorted(wanted - given), sorted(given - wanted)
    parts = [f"{word} {_some(places)}" for word, places in (("missing", missing), ("not wanted", extra)) if places]
    return "; ".join(parts) or None


def _places(entities: Iterable[Entity | GoldenEntity]) -> set[Place]:
    return {(each.label, each.start, each.end) for each in entities}


def _some(places: list[Place]) -> str:
    shown = ", ".join(f"{label} {start}:{end}" for label, start, end in places[:MOST_SHOWN])
    return shown + (f" and {len(places) - MOST_SHOWN} more" if len(places) > MOST_SHOWN else "")
