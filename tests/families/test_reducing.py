"""Reduction: each document gets what its worker asked for, whatever became of the others of its batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from service.core.arrays import TokenIds
from service.core.decoding.model_decoding import PLAIN, Decoding
from service.core.decoding.spans import pool_candidates
from service.core.decoding.tag_scheme import scheme_of
from service.core.decoding.transitions import Transitions
from service.core.decoding.word_tags import WordTags, search
from service.core.errors import ModelError
from service.core.types import Priority, ResponseKind, Submission
from service.families.free_labels.processor import reduce_to_candidates
from service.families.token_classifier.reducing import TOGETHER, Words, reduce_to_tags

LABELS = ("O", "B-X", "I-X")
ROWS = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
FIRSTS = np.array([1, 2, 4])


class Asked(NamedTuple):
    """A document at the engine."""

    submission: Submission
    tokens: TokenIds


def asked(kind: ResponseKind, tokens: TokenIds, **more: Any) -> Asked:
    submission = Submission("k", "m", (len(tokens),), "c", Priority.INTERACTIVE, 1.0, response_kind=kind, **more)
    return Asked(submission, tokens)


def words_at(firsts: NDArray[np.intp], stop: int, count: int) -> Asked:
    """A document of so many tokens that wants the tags of words with these first tokens."""
    tokens = np.full(count, ~1, dtype=np.int32)
    tokens[firsts] = 1
    return asked(ResponseKind.WORD_TAGS, tokens, special_tokens_at_end=count - stop)


WORDS = words_at(FIRSTS, 5, 6)
NO_WORDS = words_at(np.empty(0, dtype=np.intp), 5, 6)
LOGITS = asked(ResponseKind.LOGITS, np.zeros(6, dtype=np.int32))


def test_tags_are_those_of_the_words_and_logits_stay_what_they_are() -> None:
    tagged, whole = reduce_to_tags(PLAIN, [ROWS, ROWS], [WORDS, LOGITS], LABELS)
    wanted = search(ROWS[FIRSTS], scheme_of(LABELS))
    assert isinstance(tagged, WordTags)
    assert tagged.labels.tolist() == wanted.labels.tolist()
    assert tagged.probabilities.tolist() == wanted.probabilities.tolist()
    assert whole is ROWS


def test_words_are_found_among_tokens_with_boxes() -> None:
    tokens = np.full((6, 5), 900, dtype=np.int32)
    tokens[:, 0] = WORDS.tokens
    boxed = asked(ResponseKind.WORD_TAGS, tokens, special_tokens_at_end=1)
    tagged, wanted = reduce_to_tags(PLAIN, [ROWS, ROWS], [boxed, WORDS], LABELS)
    assert isinstance(tagged, WordTags)
    assert isinstance(wanted, WordTags)
    assert tagged.labels.tolist() == wanted.labels.tolist()


def test_a_document_whose_logits_are_no_numbers_fails_alone() -> None:
    bad = ROWS.copy()
    bad[2, 1] = np.nan
    failed, tagged = reduce_to_tags(PLAIN, [bad, ROWS], [WORDS, WORDS], LABELS)
    assert isinstance(failed, ModelError)
    assert isinstance(tagged, WordTags)


def test_a_document_without_words_has_no_tags() -> None:
    tagged, other = reduce_to_tags(PLAIN, [ROWS, ROWS], [NO_WORDS, WORDS], LABELS)
    assert isinstance(tagged, WordTags)
    assert len(tagged.labels) == 0
    assert isinstance(other, WordTags)


def test_a_model_may_ask_for_all_tokens_of_a_word_and_for_its_transitions() -> None:
    steps = np.array([[0.0, -3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    decoding = Decoding(first_piece_share=0.5, transitions=Transitions.of(steps, scheme_of(LABELS)))
    document = asked(ResponseKind.WORD_TAGS, np.array([9, 5, 6, ~7, 8, ~1], np.int32), special_tokens_at_end=1)
    words = Words.of(document)
    assert words is not None
    assert (words.firsts.tolist(), words.stop) == ([0, 1, 2, 4], 5)
    (tagged,) = reduce_to_tags(decoding, [ROWS], [document], LABELS)
    mixed = ROWS[[0, 1, 2, 4]].copy()
    mixed[2] = (ROWS[2] + ROWS[3][[0, 2, 2]]) / 2
    wanted = search(mixed, scheme_of(LABELS), decoding.transitions)
    assert isinstance(tagged, WordTags)
    assert tagged.labels.tolist() == wanted.labels.tolist()
    assert tagged.probabilities == pytest.approx(wanted.probabilities)


def test_many_documents_have_together_what_each_has_alone() -> None:
    draw = np.random.default_rng(3)
    rows = [draw.normal(size=(length, 3)).astype(np.float32) for length in range(4, 4 + 2 * TOGETHER + 1)]
    words = [
        words_at(np.arange(1, len(each) - 1, 1 + number % 3), len(each) - 1, len(each))
        for number, each in enumerate(rows)
    ]
    words[2] = words_at(np.empty(0, dtype=np.intp), 5, len(rows[2]))
    decoding = Decoding(first_piece_share=0.5)
    together = reduce_to_tags(decoding, rows, words, LABELS)
    for each, own, found in zip(rows, words, together, strict=True):
        (alone,) = reduce_to_tags(decoding, [each], [own], LABELS)
        assert isinstance(found, WordTags)
        assert isinstance(alone, WordTags)
        assert found.labels.tolist() == alone.labels.tolist()
        assert found.probabilities.tolist() == alone.probabilities.tolist()


def test_candidates_are_found_and_a_bad_sequence_fails_alone() -> None:
    bad = ROWS.copy()
    bad[2, 1] = np.nan
    spans = asked(ResponseKind.SPANS, np.zeros(6, dtype=np.int32), least_score=0.5)
    found, whole, failed, error = reduce_to_candidates(
        pool_candidates, [ROWS, ROWS, bad, ModelError("over")], [spans, LOGITS, spans, spans], ()
    )
    assert isinstance(found, np.ndarray)
    assert found.tolist() == pool_candidates(ROWS, 0.5).tolist()
    assert whole is ROWS
    assert isinstance(failed, ModelError)
    assert isinstance(error, ModelError)
