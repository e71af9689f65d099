"""Every strategy against transformers' own pipeline, on tiny models with random weights."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from service.core.decoding import tag_scheme
from service.core.decoding.aggregation_strategies import Aggregation, aggregate, best_labels, softmax
from service.core.decoding.entities import Entity, decode_logits
from service.core.decoding.tokens import Encoding
from service.core.decoding.windows import Window, merge_windows, split_windows
from tests.support.pipeline_peers import SENTENCES, Peer, peer

STRATEGIES = [Aggregation.SIMPLE, Aggregation.FIRST, Aggregation.AVERAGE, Aggregation.MAX]
BIO = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG"]
PLAIN = ["O", "PERSON", "DATE-TIME"]
BIOES = ["O", "B-PER", "I-PER", "E-PER", "S-PER", "I-O"]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Models this small only wait for each other's threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def documents(count: int, seed: int) -> Iterator[str]:
    draw = random.Random(seed)
    words = " ".join(SENTENCES).split(" ")
    for _ in range(count):
        text = " ".join(draw.choice(words) for _ in range(draw.randint(1, 25)))
        yield draw.choice(["", " ", "\n"]) + text + draw.choice(["", "  "])


def same(found: list[Entity], expected: list[dict[str, Any]]) -> bool:
    ours = [(entity.label, entity.start, entity.end) for entity in found]
    theirs = [(entity["entity_group"], entity["start"], entity["end"]) for entity in expected]
    scores = np.array([entity.score for entity in found]) - np.array([entity["score"] for entity in expected])
    return ours == theirs and bool((np.abs(scores) < 1e-6).all())


@pytest.fixture(scope="module", params=[BIO, PLAIN, BIOES], ids=["BIO", "plain", "BIOES"])
def labels(request: pytest.FixtureRequest) -> list[str]:
    found: list[str] = request.param
    return found


@pytest.fixture(scope="module", params=["bert", "roberta"])
def both(request: pytest.FixtureRequest, labels: list[str], tmp_path_factory: pytest.TempPathFactory) -> Peer:
    return peer(tmp_path_factory.mktemp("model"), request.param, labels)


@pytest.mark.filterwarnings("ignore:Tokenizer does not support real words")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_labels_offsets_and_scores_are_the_pipelines(both: Peer, strategy: Aggregation) -> None:
    total = 0
    for text in [*SENTENCES, *documents(60, seed=1)]:
        expected = both.expected(text, strategy)
        assert same(both.found(text, strategy), expected), text
        total += len(expected)
    assert total > 60, "the comparison must not be an empty one"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_away_from_overlaps_long_documents_are_as_in_stride_mode(tmp_path: Path, strategy: Aggregation) -> None:
    """Inside an overlap the two differ on purpose: the pipeline decodes both windows and keeps the longer of two
    overlapping entities, here each token's logits are those with the most context."""
    both = peer(tmp_path, "bert", BIO, max_length=34)
    text = " ".join(documents(12, seed=2))
    ids, encoding = both.encode(text)
    windows = split_windows(len(ids), window=32, overlap=8)
    logits = merge_windows(windows, [both.logits(ids[w.start : w.stop]) for w in windows])
    found = decode_logits(text, encoding, logits, tag_scheme.read_scheme(dict(enumerate(BIO))), strategy)
    expected = both.expected(text, strategy, stride=8)
    clear = _characters_far_from_overlaps(text, encoding, windows)
    ours = [e for e in found if clear[e.start : e.end].all()]
    theirs = [e for e in expected if clear[e["start"] : e["end"]].all()]
    assert len(windows) > 5
    assert len(ours) > 20
    assert same(ours, theirs)


def _characters_far_from_overlaps(text: str, encoding: Encoding, windows: tuple[Window, ...]) -> NDArray[np.bool_]:
    """Overlaps, widened by the two words' tokens that an entity or a word may share with them."""
    clear = np.ones(len(text), dtype=np.bool_)
    for left, right in pairwise(windows):
        first, last = max(right.start - 1, 0), min(left.stop, len(encoding.offsets) - 1)
        while first > 0 and encoding.is_subword[first]:
            first -= 1
        while last < len(encoding.offsets) - 1 and encoding.is_subword[last + 1]:
            last += 1
        clear[encoding.offsets[first, 0] : encoding.offsets[last, 1]] = False
    return clear


def test_in_a_word_the_first_of_equal_peaks_decides_in_max() -> None:
    logits = np.array([[0, 3, 1], [0, 1, 3], [0, 2, 2]], dtype=np.float32)
    (span,) = aggregate(logits, np.array([False, True, True]), ["O", "A", "C"], Aggregation.MAX)
    assert (span.label, span.start_token, span.stop_token) == ("A", 0, 3)


def test_a_first_token_that_looks_like_a_continuation_begins_a_word() -> None:
    logits = np.array([[0, 3], [3, 0]], dtype=np.float32)
    spans = aggregate(logits, np.array([True, False]), ["O", "A"], Aggregation.FIRST)
    assert [(span.start_token, span.stop_token) for span in spans] == [(0, 1)]


def test_softmax_rows_sum_to_one_even_for_large_logits() -> None:
    logits = np.array([[1e4, 1e4 - 1], [-1e4, -1e4]], dtype=np.float32)
    assert softmax(logits).dtype == np.float32
    assert softmax(logits).sum(axis=1) == pytest.approx([1, 1])


def test_ignored_labels_are_dropped_after_aggregation() -> None:
    labels = ["O", "B-A", "I-A", "B-B"]
    logits = np.eye(4, dtype=np.float32)[[0, 1, 2, 3]] * 9
    words = np.zeros(4, dtype=np.bool_)
    shown = aggregate(logits, words, labels, Aggregation.SIMPLE, ())
    assert [(each.label, each.start_token, each.stop_token) for each in shown] == [
        ("O", 0, 1),
        ("A", 1, 3),
        ("B", 3, 4),
    ]
    assert [each.label for each in aggregate(logits, words, labels, Aggregation.FIRST, ("A",))] == ["O", "B"]
    assert [each.label for each in best_labels(logits, labels)] == ["B-A", "I-A", "B-B"]
    assert [each.label for each in best_labels(logits, labels, ("B-A",))] == ["O", "I-A", "B-B"]
