"""Condensing: each document gets what its worker asked for, whatever became of the others of its batch."""

from __future__ import annotations

import numpy as np

from service.core.decoding.tag_scheme import scheme_of
from service.core.decoding.word_tags import WordTags, search
from service.core.errors import InsufficientMemory, ModelError
from service.engine.requests.condensing import condense

LABELS = ("O", "B-X", "I-X")
ROWS = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
WORDS = np.array([False, True, True, False, True, False])


def test_tags_are_those_of_the_words_and_logits_stay_what_they_are() -> None:
    tagged, whole = condense([ROWS, ROWS], [WORDS, None], LABELS)
    wanted = search(ROWS[WORDS], scheme_of(LABELS))
    assert isinstance(tagged, WordTags)
    assert tagged.labels.tolist() == wanted.labels.tolist()
    assert tagged.probabilities.tolist() == wanted.probabilities.tolist()
    assert whole is ROWS


def test_a_document_whose_logits_are_no_numbers_fails_alone() -> None:
    bad = ROWS.copy()
    bad[2, 1] = np.nan
    failed, tagged = condense([bad, ROWS], [WORDS, WORDS], LABELS)
    assert isinstance(failed, ModelError)
    assert isinstance(tagged, WordTags)


def test_an_error_stays_an_error() -> None:
    error = InsufficientMemory("no room")
    assert condense([error], [WORDS], LABELS) == [error]


def test_a_document_without_words_has_no_tags() -> None:
    tagged, other = condense([ROWS, ROWS], [np.zeros(6, dtype=np.bool_), WORDS], LABELS)
    assert isinstance(tagged, WordTags)
    assert len(tagged.labels) == 0
    assert isinstance(other, WordTags)
