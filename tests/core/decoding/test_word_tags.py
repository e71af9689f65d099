"""Word tags: documents searched together have what each has alone, to the last bit."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.core.arrays import Logits
from service.core.decoding.tag_scheme import Scheme, scheme_of
from service.core.decoding.word_tags import WordTags, search, search_joined

LABELS = {
    "BIO": ("O", "B-X", "I-X", "B-Y", "I-Y"),
    "BIOES": ("O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y"),
    "without O": ("B-X", "I-X", "B-Y", "I-Y"),
    "plain": ("O", "X", "Y"),
}


def search_together(documents: list[Logits], scheme: Scheme) -> list[WordTags]:
    return search_joined(np.concatenate(documents), [0, *accumulate(map(len, documents))], scheme)


@given(
    st.sampled_from(sorted(LABELS)),
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(1, 20), min_size=1, max_size=15),
    st.sampled_from([0.0, 2.0]),
)
@settings(deadline=None, max_examples=200)
def test_a_document_is_tagged_as_it_is_alone(name: str, seed: int, words: list[int], outside: float) -> None:
    draw, labels = np.random.default_rng(seed), LABELS[name]
    documents = [draw.normal(size=(count, len(labels))).astype(np.float32) for count in words]
    for each in documents:
        each[:, 0] += outside
    together = search_together(documents, scheme_of(labels))
    for logits, tags in zip(documents, together, strict=True):
        alone = search(logits, scheme_of(labels))
        assert tags.labels.tolist() == alone.labels.tolist()
        assert tags.probabilities.tobytes() == alone.probabilities.tobytes()


def test_an_entity_does_not_go_on_in_the_next_document() -> None:
    begin, inside = np.array([[[0, 9, 0, 0, 0]], [[2, 0, 9, 0, 0]]], dtype=np.float32)
    scheme = scheme_of(LABELS["BIO"])
    first, second = search_together([begin, inside], scheme)
    assert [scheme.labels[label] for label in (*first.labels, *second.labels)] == ["B-X", "O"]
    assert len(first.probabilities) == 1
    assert len(second.probabilities) == 0


def test_a_probability_is_that_of_the_type_and_not_of_the_tag() -> None:
    logits = np.log(np.array([[0.2, 0.5, 0.3]], dtype=np.float32))
    assert search(logits, scheme_of(("O", "B-X", "I-X"))).probabilities[0] == pytest.approx(0.8)


def test_no_documents_have_no_tags() -> None:
    assert search_joined(np.empty((0, 5), dtype=np.float32), [0], scheme_of(LABELS["BIO"])) == []
