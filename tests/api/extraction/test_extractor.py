"""Where texts are tokenized and decoded: short ones on the event loop, long ones in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
import pytest

from service.api.engine.client import EngineClient
from service.api.engine.pending import InferenceResult, Kept
from service.api.engine.routing import queue_of
from service.api.extraction.extractor import SHORT_TOKENS, Extractor
from service.api.extraction.ocr import PageRecognizer
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.trace import StageTimer
from service.api.options import Options, read_options
from service.api.parsers.pool import ParserPool
from service.api.schemas import DocumentResult
from service.core.admission.policy import QueueState
from service.core.admission.size import RefusalCache
from service.core.arrays import TokenIds
from service.core.errors import InvalidOptions
from service.core.types import Phase
from service.documents.limits import DocumentLimits
from service.text.tokenizer import SHORT_CHARACTERS
from service.wire import ModelStatus, Status, Submitted
from tests.support.tiny_models import BERT_SPECIALS, word_piece

LONG = "anna " * max(SHORT_CHARACTERS // 5 + 1, SHORT_TOKENS + 1)


class FakeEngine:
    """An engine whose logits make every token a person's name."""

    status = Status("1", Phase.READY)

    def __init__(self) -> None:
        self.refusals = RefusalCache()

    @property
    def queue(self) -> QueueState:
        return queue_of(self.status)

    def new_key(self) -> str:
        return "k"

    async def infer(self, _submission: Submitted, _sequences: list[TokenIds], kept: Kept) -> InferenceResult:
        rows = sum(stop - start for start, stop in kept)
        return InferenceResult(np.tile(np.array([0, 1], dtype=np.float32), (rows, 1)), 0.0, 0.0)


class CountingThreads(ThreadPoolExecutor):
    """Threads that count what is brought to them."""

    asked = 0

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.asked += 1
        return super().submit(work, *args, **kwargs)


@pytest.fixture
def model(tmp_path: Path) -> ModelStatus:
    pad, unknown, first, last, mask = BERT_SPECIALS
    word_piece(first, pad, last, unknown, mask).save(str(tmp_path / "tokenizer.json"))
    return ModelStatus("m", "stable", "sha256:0", str(tmp_path), ("O", "B-PER"), 512, True, 1)


def extract(model: ModelStatus, text: str, *, alone: bool, loaded: bool = True) -> tuple[DocumentResult, int]:
    """A text's result, and how often a thread was asked for it."""
    with CountingThreads(1) as threads:
        extractor = _extractor(threads)

        async def scene() -> DocumentResult:
            if loaded:
                await extractor.load_tokenizers((model,))
                threads.asked = 0
            return await extractor.extract(DocumentInput("0", text=text), _request(model, alone=alone), StageTimer())

        return asyncio.run(scene()), threads.asked


def _extractor(threads: ThreadPoolExecutor) -> Extractor:
    engine, parsers = cast(EngineClient, FakeEngine()), cast(ParserPool, None)
    ocr = PageRecognizer(parsers, DocumentLimits(), is_available=False, most_pages=1)
    return Extractor(engine, parsers, threads, limits=DocumentLimits(), window_tokens=512, overlap_tokens=128, ocr=ocr)


def _request(model: ModelStatus, *, alone: bool) -> ExtractRequest:
    return ExtractRequest(model, Options(), "c", 1e9, alone=alone)


@pytest.mark.parametrize("alone", [True, False])
def test_a_short_text_needs_no_thread(model: ModelStatus, alone: bool) -> None:
    result, asked = extract(model, "anna", alone=alone)
    assert ([each.text for each in result.entities], asked) == (["anna"], 0)


@pytest.mark.parametrize("alone", [True, False])
def test_a_long_text_leaves_the_event_loop_free(model: ModelStatus, alone: bool) -> None:
    result, asked = extract(model, LONG, alone=alone)
    assert ({each.text for each in result.entities}, asked) == ({"anna"}, 2)


def test_a_text_that_came_alone_does_not_queue_behind_a_batch(model: ModelStatus) -> None:
    done: list[str] = []

    async def scene(extractor: Extractor) -> None:
        async def one(name: str, *, alone: bool) -> None:
            await extractor.extract(DocumentInput(name, text="anna"), _request(model, alone=alone), StageTimer())
            done.append(name)

        await extractor.load_tokenizers((model,))
        await asyncio.gather(*(one(str(i), alone=False) for i in range(200)), one("lone", alone=True))

    with CountingThreads(1) as threads:
        asyncio.run(scene(_extractor(threads)))
    assert done[0] == "lone"
    assert sorted(done[1:], key=int) == done[1:] == [str(i) for i in range(200)]


def test_many_tokens_of_few_characters_are_decoded_in_a_thread(model: ModelStatus) -> None:
    text = "." * (SHORT_TOKENS + 1)
    assert len(text) < SHORT_CHARACTERS
    assert extract(model, text, alone=True)[1] == 1


def test_a_tokenizer_that_was_not_read_yet_is_read_in_a_thread(model: ModelStatus) -> None:
    result, asked = extract(model, "anna", alone=True, loaded=False)
    assert (len(result.entities), asked) == (1, 1)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ("PERSN", "did you mean PERSON"),
        ("NAME", "did you mean RECEIVER_NAME or SUPPLIER_NAME"),
        ("person", "did you mean PERSON"),
        ("EMIAL", "did you mean EMAIL"),
        ("x" * 60_000, "there are: BIC, DATE, "),
    ],
)
def test_a_label_that_is_not_known_is_refused_with_those_like_it(model: ModelStatus, labels: str, words: str) -> None:
    named = ("O", "B-PERSON", "I-PERSON", "B-SUPPLIER_NAME", "B-RECEIVER_NAME", "B-DATE")
    model = msgspec.structs.replace(model, labels=named)
    made = _extractor(cast(ThreadPoolExecutor, None))
    made.labels_of(model, read_options({"labels": "DATE,EMAIL", "min_score": "PERSON:0.5"}), plain=True)
    with pytest.raises(InvalidOptions, match=words):
        made.labels_of(model, read_options({"labels": f"DATE,{labels}"}), plain=True)
    with pytest.raises(InvalidOptions, match="min_score"):
        made.labels_of(model, read_options({"min_score": f"{labels}:0.5"}), plain=True)
    with pytest.raises(InvalidOptions, match="'EMAIL'"):
        made.labels_of(model, read_options({"labels": "EMAIL", "aggregation": "simple"}), plain=True)
