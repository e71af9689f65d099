"""An answer is at most a stated multiple of what it answers: where every token is an entity, and where all fails.

Ordinary answers are once or twice as long as their texts. The worst are one-letter words, each an entity of its own.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.api.bodies.json_body import ID_CHARACTERS
from service.api.engine.client import EngineClient
from service.api.engine.pending import InferenceResult, Kept
from service.api.engine.routing import queue_of
from service.api.extraction.extractor import Extractor
from service.api.extraction.ocr import PageRecognizer
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.http.request_body import Body
from service.api.http.response import json_response, start_documents
from service.api.options import Options
from service.api.parsers.pool import ParserPool
from service.core.admission.policy import QueueState
from service.core.admission.size import RefusalCache
from service.core.arrays import TokenIds
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.offsets import OffsetUnit
from service.core.errors import UnreadableDocument
from service.core.types import Phase
from service.documents.limits import DocumentLimits
from service.metrics.worker import WorkerMetrics
from service.wire import ModelStatus, Status, Submitted
from tests.support.tiny_models import ROBERTA_SPECIALS, byte_level

BYTES_A_DOCUMENT = 10_000
"""Mostly its id, each character of which may be escaped as six, and the sentence of its error."""
BYTES_A_BYTE = 500
"""An entity's keys, numbers, text and value, for each byte of a text in UTF-8."""
LABEL = "SOME_RATHER_LONG_LABEL"
UNITS = st.sampled_from(["a ", "\x01", "😀", "é", "- ", "\n", '"', "\\", "の", "12,50 € ", "\u2028"])
METRICS = WorkerMetrics()


class EagerEngine:
    """An engine that finds an entity in each token, or fails over every document."""

    status = Status("1", Phase.READY)

    def __init__(self, error: Exception | None = None) -> None:
        self.refusals = RefusalCache()
        self._error = error

    @property
    def queue(self) -> QueueState:
        return queue_of(self.status)

    def new_key(self) -> str:
        return "k"

    async def infer(self, _submission: Submitted, _sequences: list[TokenIds], kept: Kept) -> InferenceResult:
        if self._error is not None:
            raise self._error
        rows = sum(stop - start for start, stop in kept)
        return InferenceResult(np.tile(np.array([0, 1], dtype=np.float32), (rows, 1)), 0.0, 0.0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelStatus:
    folder: Path = tmp_path_factory.mktemp("model")
    byte_level(*ROBERTA_SPECIALS).save(str(folder / "tokenizer.json"))
    return ModelStatus("m", "stable", "sha256:0", str(folder), ("O", f"B-{LABEL}"), 512, True, 1)


def answer(model: ModelStatus, sources: list[DocumentInput], options: dict[str, Any], *, fails: bool) -> bytes:
    """The answer to documents of which each token is an entity, or each fails with a long sentence."""
    engine = EagerEngine(UnreadableDocument("\x01" * 100_000) if fails else None)

    async def scene() -> bytes:
        with ThreadPoolExecutor(1) as threads:
            client, parsers = cast(EngineClient, engine), cast(ParserPool, None)
            ocr = PageRecognizer(parsers, DocumentLimits(), is_available=False, most_pages=1)
            extractor = Extractor(
                client, parsers, threads, limits=DocumentLimits(), window_tokens=512, overlap_tokens=128, ocr=ocr
            )
            body = Body(tuple(sources), Options(**options), batch=True)
            request = ExtractRequest(model, body.options, "c", 1e9)
            tasks = start_documents(extractor, METRICS, body, request)
            return bytes((await json_response(tasks, body, request, 0.0)).body)

    return asyncio.run(scene())


def bound(sources: list[DocumentInput]) -> int:
    return sum(BYTES_A_DOCUMENT + BYTES_A_BYTE * len((each.text or "").encode()) for each in sources)


@given(
    texts=st.lists(st.lists(UNITS, max_size=40).map("".join), min_size=1, max_size=3),
    id_=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    include_text=st.booleans(),
    aggregation=st.sampled_from(Aggregation),
    offsets=st.sampled_from(OffsetUnit),
    fails=st.booleans(),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_answer_is_at_most_a_multiple_of_its_request(
    model: ModelStatus,
    texts: list[str],
    id_: str,
    include_text: bool,
    aggregation: Aggregation,
    offsets: OffsetUnit,
    fails: bool,
) -> None:
    sources = [DocumentInput(id_, text=text) for text in texts]
    options = {"include_text": include_text, "aggregation": aggregation, "offsets": offsets}
    assert len(answer(model, sources, options, fails=fails)) <= bound(sources)


@pytest.mark.parametrize("unit", ["a ", "\x01 ", "😀"])
def test_the_worst_texts_stay_within_the_bound(model: ModelStatus, unit: str) -> None:
    sources = [DocumentInput("\x01" * ID_CHARACTERS, text=unit * 2_000)]
    for aggregation in (Aggregation.CONSTRAINED, Aggregation.SIMPLE):
        options = {"include_text": True, "aggregation": aggregation}
        assert len(answer(model, sources, options, fails=False)) <= bound(sources)


def test_an_error_says_little_whatever_was_sent(model: ModelStatus) -> None:
    sources = [DocumentInput("\x01" * ID_CHARACTERS, text="anna" * 1_000)] * 10
    assert len(answer(model, sources, {}, fails=True)) <= 10 * BYTES_A_DOCUMENT
