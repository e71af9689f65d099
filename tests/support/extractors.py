"""An extractor beside an engine that answers at once, and threads that count their work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
from tokenizers import Tokenizer

from service.api.engine.client import EngineClient
from service.api.engine.resubmission import InferenceResult, Kept
from service.api.engine.routing import queue_of
from service.api.extraction.extractor import Extractor
from service.api.extraction.ocr import PageRecognizer
from service.api.extraction.request import ExtractRequest
from service.api.options import ExtractOptions
from service.api.parsers.pool import ParserPool
from service.core.admission.policy import QueueState
from service.core.admission.size import RefusalCache
from service.core.arrays import TokenIds
from service.core.types import Phase
from service.documents.limits import DocumentLimits
from service.families.processor import WindowSizes
from service.families.registry import open_processor
from service.wire import ModelStatus, Status, Submitted
from tests.support.tiny_models import BERT_SPECIALS, word_piece

READY = Status("1", Phase.READY)


class EagerEngine:
    """An engine whose documents all fail, or have an entity in each token.

    `submitted`: tokens of those that came. `answers`: what they wait for, if set.
    """

    def __init__(self, status: Status = READY, error: Exception | None = None) -> None:
        self.status = status
        self.refusals = RefusalCache()
        self.submitted: list[int] = []
        self.answers: asyncio.Event | None = None
        self._error = error

    @property
    def queue(self) -> QueueState:
        return queue_of(self.status)

    def new_key(self) -> str:
        return "k"

    async def infer(self, submission: Submitted, _sequences: list[TokenIds], kept: Kept) -> InferenceResult:
        self.submitted.append(submission.tokens)
        if self.answers is not None:
            await self.answers.wait()
        if self._error is not None:
            raise self._error
        rows = sum(stop - start for start, stop in kept)
        return InferenceResult(np.tile(np.array([0, 1], dtype=np.float32), (rows, 1)), 0.0, 0.0)


class CountingThreads(ThreadPoolExecutor):
    """Threads that count what is brought to them."""

    asked = 0

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.asked += 1
        return super().submit(work, *args, **kwargs)


def extractor_of(engine: EagerEngine, threads: ThreadPoolExecutor, limits: DocumentLimits | None = None) -> Extractor:
    """An extractor without parsers and without OCR."""
    client, parsers, limits = cast(EngineClient, engine), cast(ParserPool, None), limits or DocumentLimits()
    ocr = PageRecognizer(parsers, limits, is_available=False, most_pages=1)
    return Extractor(client, parsers, threads, limits=limits, window_tokens=512, overlap_tokens=128, ocr=ocr)


def model_in(folder: Path, tokenizer: Tokenizer | None = None, label: str = "PER") -> ModelStatus:
    """A model with one label, whose tokenizer is written to the folder."""
    pad, unknown, first, last, mask = BERT_SPECIALS
    (tokenizer or word_piece(first, pad, last, unknown, mask)).save(str(folder / "tokenizer.json"))
    return ModelStatus("m", "stable", "sha256:0", str(folder), ("O", f"B-{label}"), 512, True, 1)


def request_of(model: ModelStatus, options: ExtractOptions | None = None, **more: Any) -> ExtractRequest:
    """A request of a client to a model, of no deadline that matters."""
    chosen = options or ExtractOptions()
    task = open_processor(Path(model.folder)).task(chosen, model, WindowSizes(512, 128))
    return ExtractRequest(model, chosen, task, **{"client": "c", "deadline_seconds": 1e9, **more})
