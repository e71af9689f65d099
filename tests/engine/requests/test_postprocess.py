"""Postprocessing: each document gets what its worker asked for, whatever became of the others of its batch."""

from __future__ import annotations

import numpy as np
import pytest

from service.core.decoding.model_decoding import Decoding
from service.core.decoding.spans import pool_candidates
from service.core.decoding.tag_scheme import scheme_of
from service.core.decoding.transitions import Transitions
from service.core.decoding.word_tags import WordTags, search
from service.core.errors import ModelError
from service.engine.requests.postprocess import TOGETHER, Words, reduce_logits, reduce_to_candidates

LABELS = ("O", "B-X", "I-X")
ROWS = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
FIRSTS = np.array([1, 2, 4])
WORDS = Words(FIRSTS, 5)
NO_WORDS = Words(np.empty(0, dtype=np.intp), 5)


def test_tags_are_those_of_the_words_and_logits_stay_what_they_are() -> None:
    tagged, whole = reduce_logits([ROWS, ROWS], [WORDS, None], LABELS)
    wanted = search(ROWS[FIRSTS], scheme_of(LABELS))
    assert isinstance(tagged, WordTags)
    assert tagged.labels.tolist() == wanted.labels.tolist()
    assert tagged.probabilities.tolist() == wanted.probabilities.tolist()
    assert whole is ROWS


def test_a_document_whose_logits_are_no_numbers_fails_alone() -> None:
    bad = ROWS.copy()
    bad[2, 1] = np.nan
    failed, tagged = reduce_logits([bad, ROWS], [WORDS, WORDS], LABELS)
    assert isinstance(failed, ModelError)
    assert isinstance(tagged, WordTags)


def test_a_document_without_words_has_no_tags() -> None:
    tagged, other = reduce_logits([ROWS, ROWS], [NO_WORDS, WORDS], LABELS)
    assert isinstance(tagged, WordTags)
    assert len(tagged.labels) == 0
    assert isinstance(other, WordTags)


def test_a_model_may_ask_for_all_tokens_of_a_word_and_for_its_transitions() -> None:
    steps = np.array([[0.0, -3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    decoding = Decoding(first_piece_share=0.5, transitions=Transitions.of(steps, scheme_of(LABELS)))
    words = Words.from_marked_ids(np.array([9, 5, 6, ~7, 8, ~1]), special_tokens_at_end=1)
    assert (words.firsts.tolist(), words.stop) == ([0, 1, 2, 4], 5)
    (tagged,) = reduce_logits([ROWS], [words], LABELS, decoding)
    mixed = ROWS[[0, 1, 2, 4]].copy()
    mixed[2] = (ROWS[2] + ROWS[3][[0, 2, 2]]) / 2
    wanted = search(mixed, scheme_of(LABELS), decoding.transitions)
    assert isinstance(tagged, WordTags)
    assert tagged.labels.tolist() == wanted.labels.tolist()
    assert tagged.probabilities == pytest.approx(wanted.probabilities)


def test_many_documents_have_together_what_each_has_alone() -> None:
    draw = np.random.default_rng(3)
    rows = [draw.normal(size=(length, 3)).astype(np.float32) for length in range(4, 4 + 2 * TOGETHER + 1)]
    words = [Words(np.arange(1, len(each) - 1, 1 + number % 3), len(each) - 1) for number, each in enumerate(rows)]
    words[2] = NO_WORDS
    decoding = Decoding(first_piece_share=0.5)
    together = reduce_logits(rows, words, LABELS, decoding)
    for each, own, found in zip(rows, words, together, strict=True):
        (alone,) = reduce_logits([each], [own], LABELS, decoding)
        assert isinstance(found, WordTags)
        assert isinstance(alone, WordTags)
        assert found.labels.tolist() == alone.labels.tolist()
        assert found.probabilities.tolist() == alone.probabilities.tolist()


def test_candidates_are_found_and_a_bad_sequence_fails_alone() -> None:
    bad = ROWS.copy()
    bad[2, 1] = np.nan
    found, whole, failed, error = reduce_to_candidates(
        [ROWS, ROWS, bad, ModelError("over")], [0.5, None, 0.5, 0.5], pool_candidates
    )
    assert isinstance(found, np.ndarray)
    assert found.tolist() == pool_candidates(ROWS, 0.5).tolist()
    assert whole is ROWS
    assert isinstance(failed, ModelError)
    assert isinstance(error, ModelError)
