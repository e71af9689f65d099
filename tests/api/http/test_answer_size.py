"""An answer is at most a stated multiple of what it answers: where every token is an entity, and where all fails.

Ordinary answers are once or twice as long as their texts. The worst are one-letter words, each an entity of its own.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.api.calls import Extracting
from service.api.extraction.request import DocumentInput, start_all
from service.api.http.request_body import Body
from service.api.http.response import json_response
from service.api.json_body import ID_CHARACTERS
from service.api.options import ExtractOptions
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.offsets import OffsetUnit
from service.core.errors import UnreadableDocument
from service.metrics.worker import WorkerMetrics
from service.wire import ModelStatus
from tests.support.extractors import EagerEngine, extractor_of, model_in, request_of
from tests.support.tiny_models import ROBERTA_SPECIALS, byte_level

BYTES_A_DOCUMENT = 10_000
"""Mostly its id, each character of which may be escaped as six, and the sentence of its error."""
BYTES_A_BYTE = 500
"""An entity's keys, numbers, text and value, for each byte of a text in UTF-8."""
LABEL = "SOME_RATHER_LONG_LABEL"
UNITS = st.sampled_from(["a ", "\x01", "😀", "é", "- ", "\n", '"', "\\", "の", "12,50 € ", "\u2028"])
METRICS = WorkerMetrics()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelStatus:
    return model_in(tmp_path_factory.mktemp("model"), byte_level(*ROBERTA_SPECIALS), LABEL)


def answer(model: ModelStatus, sources: list[DocumentInput], options: dict[str, Any], *, fails: bool) -> bytes:
    """The answer to documents of which each token is an entity, or each fails with a long sentence."""
    engine = EagerEngine(error=UnreadableDocument("\x01" * 100_000) if fails else None)

    async def scene() -> bytes:
        with ThreadPoolExecutor(1) as threads:
            body = Body(tuple(sources), ExtractOptions(**options), batch=True)
            request = request_of(model, body.options.for_extraction())
            tasks = start_all(Extracting(extractor_of(engine, threads), METRICS), body.sources, request)
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
