"""Where texts are tokenized and decoded: short ones on the event loop, long ones in a thread."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import msgspec
import pytest

from service.api.extraction.extractor import Extractor
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.trace import StageTimer
from service.api.options import ExtractOptions, read_options
from service.api.schemas import DocumentResult
from service.core.errors import InvalidOptions, MalformedRequest
from service.families.processor import SHORT_TOKENS
from service.text.tokenizer import SHORT_CHARACTERS
from service.wire import ModelStatus
from tests.support.extractors import CountingThreads, EagerEngine, extractor_of, model_in

LONG = "anna " * max(SHORT_CHARACTERS // 5 + 1, SHORT_TOKENS + 1)


@pytest.fixture
def model(tmp_path: Path) -> ModelStatus:
    return model_in(tmp_path)


def extract(
    model: ModelStatus, text: str | DocumentInput, *, alone: bool, loaded: bool = True
) -> tuple[DocumentResult, int]:
    """A document's result, and how often a thread was asked for it."""
    source = DocumentInput("0", text=text) if isinstance(text, str) else text
    with CountingThreads(1) as threads:
        extractor = extractor_of(EagerEngine(), threads)

        async def scene() -> DocumentResult:
            if loaded:
                await extractor.load_tokenizers((model,))
                threads.asked = 0
            request = _request(extractor, model, alone=alone)
            return await extractor.extract(source, request, StageTimer())

        return asyncio.run(scene()), threads.asked


def _request(extractor: Extractor, model: ModelStatus, *, alone: bool) -> ExtractRequest:
    task = extractor.task(model, ExtractOptions())
    return ExtractRequest(model, ExtractOptions(), task, "c", 1e9, alone=alone)


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
            request = _request(extractor, model, alone=alone)
            await extractor.extract(DocumentInput(name, text="anna"), request, StageTimer())
            done.append(name)

        await extractor.load_tokenizers((model,))
        await asyncio.gather(*(one(str(i), alone=False) for i in range(200)), one("lone", alone=True))

    with CountingThreads(1) as threads:
        asyncio.run(scene(extractor_of(EagerEngine(), threads)))
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
    made = extractor_of(EagerEngine(), cast(ThreadPoolExecutor, None))
    made.task(model, read_options({"labels": "DATE,EMAIL", "min_score": "PERSON:0.5"}))
    with pytest.raises(InvalidOptions, match=words):
        made.task(model, read_options({"labels": f"DATE,{labels}"}))
    with pytest.raises(InvalidOptions, match="min_score"):
        made.task(model, read_options({"min_score": f"{labels}:0.5"}))
    with pytest.raises(InvalidOptions, match="'EMAIL'"):
        made.task(model, read_options({"labels": "EMAIL", "aggregation": "simple"}))


PAGES = b"""[{"width": 100, "height": 50, "words": [
    {"text": "anna smith", "box": [10, 5, 50, 15]}, {"text": "anna", "box": [10, 20, 30.5, 30]}]},
    {"width": 1, "height": 1, "words": [{"text": "smith", "box": [0.1, 0.2, 0.3, 0.7]}]}]"""


@pytest.mark.parametrize(
    "source", [DocumentInput("0", pages=msgspec.Raw(PAGES)), DocumentInput("0", data=b'{"pages": %b}' % PAGES)]
)
def test_entities_of_pages_have_their_words(model: ModelStatus, source: DocumentInput) -> None:
    result, asked = extract(model, source, alone=True)
    assert [(each.text, each.page, each.words, each.boxes) for each in result.entities] == [
        ("anna", 1, (0, 1), [(10, 5, 26, 15)]),
        ("smith", 1, (0, 1), [(30, 5, 50, 15)]),
        ("anna", 1, (1, 2), [(10, 20, 30.5, 30)]),
        ("smith", 2, (0, 1), [(0.1, 0.2, 0.3, 0.7)]),
    ]
    assert (result.page_sizes, result.characters, result.pages, asked) == ([(100, 50), (1, 1)], 22, 2, 0)


def test_many_pages_are_read_in_a_thread(model: ModelStatus) -> None:
    word = b'{"text": "anna", "box": [0, 0, 1, 1]}'
    pages = b'[{"width": 1, "height": 1, "words": [%b]}]' % b",".join([word] * 500)
    result, asked = extract(model, DocumentInput("0", pages=msgspec.Raw(pages)), alone=True)
    assert (len(result.entities), result.entities[499].words) == (500, (499, 500))
    assert asked


def test_pages_that_are_none_are_the_documents_error(model: ModelStatus) -> None:
    with pytest.raises(MalformedRequest, match="page 1, width"):
        extract(model, DocumentInput("0", pages=msgspec.Raw(b'[{"width": "1", "height": 1, "words": []}]')), alone=True)
