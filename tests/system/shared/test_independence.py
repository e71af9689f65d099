"""A document's result does not depend on its neighbours, on the order of arrival, or on the shape of the request."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.extraction import random_texts
from tests.support.service import Service

SCORE_TOLERANCE = 5e-5


def entities(answer: dict[str, Any]) -> list[Any]:
    return [document["entities"] for document in answer["documents"]]


def test_a_document_alone_and_among_fifty_others_gives_the_same(service: Service) -> None:
    texts = random_texts(51, seed=3, longest=300)
    with service.client() as client:
        alone = [entities(client.post("/extract", json={"text": text}).json())[0] for text in texts]
        batch = client.post("/extract", json={"documents": [{"text": text} for text in texts]}).json()
        shuffled = random.Random(0).sample(range(51), 51)
        with ThreadPoolExecutor(17) as clients:
            mixed = list(clients.map(lambda i: client.post("/extract", json={"text": texts[i]}).json(), shuffled))
    assert_same(entities(batch), alone)
    assert_same([entities(each)[0] for each in mixed], [alone[i] for i in shuffled])


def assert_same(found: list[Any], expected: list[Any]) -> None:
    """Scores to four places: which kernel adds up a row depends on how many rows there are."""
    assert _without_scores(found) == _without_scores(expected)
    assert _scores(found) == pytest.approx(_scores(expected), abs=SCORE_TOLERANCE)


def _without_scores(found: list[Any]) -> list[Any]:
    return [[{**entity, "score": None} for entity in document] for document in found]


def _scores(found: list[Any]) -> list[float]:
    return [entity["score"] for document in found for entity in document]
