"""A document's result does not depend on its neighbours, on the order of arrival, or on the shape of the request."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.system.running import Service
from tests.system.test_same_as_pipeline import documents


def entities(answer: dict[str, Any]) -> list[Any]:
    return [document["entities"] for document in answer["documents"]]


def test_a_document_alone_and_among_fifty_others_gives_the_same(service: Service) -> None:
    texts = documents(51, seed=3, longest=300)
    with service.client() as client:
        alone = [entities(client.post("/extract", json={"text": text}).json())[0] for text in texts]
        batch = client.post("/extract", json={"documents": [{"text": text} for text in texts]}).json()
        shuffled = random.Random(0).sample(range(51), 51)
        with ThreadPoolExecutor(17) as clients:
            mixed = list(clients.map(lambda i: client.post("/extract", json={"text": texts[i]}).json(), shuffled))
    assert _rounded(entities(batch)) == _rounded(alone)
    assert _rounded([entities(each)[0] for each in mixed]) == _rounded([alone[i] for i in shuffled])


def _rounded(found: list[Any]) -> list[Any]:
    """Scores to four places: which kernel adds up a row depends on how many rows there are."""
    return [[{**entity, "score": round(entity["score"], 4)} for entity in document] for document in found]
