"""Over HTTP, with twelve clients at once, entities are those of transformers' own pipeline on the same weights.

Documents longer than a window differ from the pipeline's `stride` mode in one place only: where windows overlap. The
pipeline tags each window by itself and keeps the longer of two overlapping entities; the service keeps each token's
logits from one window, and decodes the whole document. So an entity that touches
no overlap is the same in both, and one that touches an overlap may differ. What is asked beside a document changes
nothing.
"""

from __future__ import annotations

import random
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

from tests.support.extraction import random_texts
from tests.support.pipeline_peers import computing_once
from tests.support.service import Service

STRATEGIES = ("simple", "first", "average", "max")
WINDOW_TOKENS, OVERLAP_TOKENS = 510, 128


@pytest.fixture(scope="module", params=["tiny", "other"])
def reference(home: Path, request: pytest.FixtureRequest) -> Any:
    folder = home / request.param
    model = computing_once(AutoModelForTokenClassification.from_pretrained(folder))
    return pipeline("token-classification", model=model, tokenizer=AutoTokenizer.from_pretrained(folder))


def ask(service: Service, text: str, **options: object) -> list[dict[str, Any]]:
    with service.client() as client:
        answer = client.post("/extract", json={"text": text, **options})
    assert answer.status_code == 200, answer.text
    entities: list[dict[str, Any]] = answer.json()["documents"][0]["entities"]
    return entities


def plain(entities: list[dict[str, Any]], label: str) -> list[tuple[str, int, int]]:
    return [(entity[label], entity["start"], entity["end"]) for entity in entities]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sixty_documents_give_what_the_pipeline_gives(service: Service, reference: Any, strategy: str) -> None:
    texts = random_texts(60, seed=1)
    with ThreadPoolExecutor(12) as clients:
        found = list(clients.map(lambda text: ask(service, text, model=_name(reference), aggregation=strategy), texts))
    for text, ours in zip(texts, found, strict=True):
        theirs = reference(text, aggregation_strategy=strategy)
        assert plain(ours, "label") == plain(theirs, "entity_group"), text
        assert [entity["score"] for entity in ours] == pytest.approx([e["score"] for e in theirs], abs=1e-3)
        assert all(text[entity["start"] : entity["end"]] == entity["text"] for entity in ours)


def test_long_documents_equal_the_stride_mode_outside_of_the_overlaps(service: Service, reference: Any) -> None:
    for text in random_texts(4, seed=2, shortest=900, longest=1500):
        overlaps = _overlaps(reference.tokenizer, text)
        assert overlaps
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = reference(text, aggregation_strategy="simple", stride=OVERLAP_TOKENS)
        ours = ask(service, text, model=_name(reference), aggregation="simple")
        inside = [_outside(plain(found, key), overlaps) for found, key in ((ours, "label"), (theirs, "entity_group"))]
        assert inside[0] == inside[1]
        assert len(inside[0]) > 100


def _name(reference: Any) -> str:
    return Path(reference.model.name_or_path).name


def _overlaps(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Where windows overlap, in characters."""
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)["offset_mapping"]
    starts = range(WINDOW_TOKENS - OVERLAP_TOKENS, len(offsets) - OVERLAP_TOKENS, WINDOW_TOKENS - OVERLAP_TOKENS)
    return [(offsets[start][0], offsets[min(start + OVERLAP_TOKENS, len(offsets)) - 1][1]) for start in starts]


def _outside(entities: list[tuple[str, int, int]], overlaps: list[tuple[int, int]]) -> list[tuple[str, int, int]]:
    return [e for e in entities if not any(e[1] <= end and e[2] >= start for start, end in overlaps)]


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
