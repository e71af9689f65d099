"""A token classifier's tags: whether `I-` may begin an entity is said by its folder, or seen in its scores."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from service.core.arrays import Logits, TokenIds
from service.documents.document import Document
from service.families.processor import MarkedDocument, Processor, WindowSizes
from service.families.registry import open_processor
from service.families.token_classifier.sample_texts import sample_texts
from service.text.tokenizer import TextTokenizer
from service.wire import ModelStatus
from tests.support.tiny_models import make_model

LABELS = ("O", "B-PER", "I-PER")
SIZES = WindowSizes(128, 32)
STATUS = ModelStatus("m", "stable", "sha256:0", "", LABELS, 128, True, 1)
OUT, BEGIN, INNER, DOUBTFUL = [9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0], [0.5, 0.0, 0.9]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / "tiny", labels=LABELS)


def tagging(processor: Processor[TextTokenizer], row: list[float]) -> Callable[[list[TokenIds]], list[Logits]]:
    """Logits in which each `anna` has a row, all other tokens the one outside."""
    anna = processor.tokenizer.vocabulary.tokenizer.token_to_id("anna")
    return lambda sequences: [
        np.array([row if token == anna else OUT for token in each.tolist()], dtype=np.float32) for each in sequences
    ]


def observed(folder: Path, row: list[float], *examples: MarkedDocument) -> str:
    processor = open_processor(folder)
    processor.observe(STATUS, examples, SIZES, tagging(processor, row))
    return processor.described(STATUS).scheme


@pytest.mark.parametrize(("row", "scheme"), [(INNER, "IOB1"), (BEGIN, "BIO"), (OUT, "BIO"), (DOUBTFUL, "BIO")])
def test_sure_tags_in_sample_texts_show_the_scheme(folder: Path, row: list[float], scheme: str) -> None:
    assert observed(folder, row) == scheme


def test_examples_show_the_scheme_where_they_hold_in_one_alone(folder: Path) -> None:
    example = MarkedDocument(Document("bill anna paid"), {("PER", 5, 9)})
    assert observed(folder, DOUBTFUL, example) == "IOB1"
    assert observed(folder, INNER, MarkedDocument(Document("bill anna paid"), {("PER", 0, 14)})) == "IOB1", (
        "they hold in neither"
    )
    assert observed(folder, DOUBTFUL, MarkedDocument(Document("bill anna paid"), set())) == "BIO"


@pytest.mark.parametrize(("said", "scheme"), [(True, "IOB1"), (False, "BIO")])
def test_what_the_folder_says_is_not_looked_for(tmp_path: Path, said: bool, scheme: str) -> None:
    made = make_model(tmp_path / "m", labels=LABELS)
    (made / "decoding.json").write_text(json.dumps({"inside_begins": said}))
    assert observed(made, BEGIN if said else INNER) == scheme


@pytest.mark.parametrize(("kind", "has_words"), [("bert", True), ("roberta", False)])
def test_sample_texts_are_always_the_same(tmp_path: Path, kind: str, has_words: bool) -> None:
    vocabulary = open_processor(make_model(tmp_path / kind, kind)).tokenizer.vocabulary
    texts = list(sample_texts(vocabulary))
    assert texts == list(sample_texts(vocabulary))
    assert (sum("anna" in text.split() for text in texts) > 5) is has_words
