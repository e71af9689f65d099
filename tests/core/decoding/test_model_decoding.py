"""What a model's folder asks for changes its own answers; without it every model is decoded alike."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import decode_logits
from service.core.decoding.model_decoding import PLAIN, Calibration, Decoding, seen_inside_begins, word_logits
from service.core.decoding.tag_scheme import scheme_of
from service.core.decoding.tokens import Encoding, word_starts
from service.core.decoding.transitions import Transitions

LABELS = ("O", "B-MONEY", "I-MONEY")
BIO = scheme_of(LABELS)
OUT, BEGIN, INNER = ([5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 5.0])


def tokens(text: str, *, unknown: str = "") -> Encoding:
    """A token for each run of letters and digits and for each mark."""
    offsets = np.array([match.span() for match in re.finditer(r"\w+|[^\w\s]", text)], dtype=np.int32)
    is_unknown = np.array([text[start:end] in unknown.split() for start, end in offsets.tolist()])
    return Encoding(offsets, np.zeros(len(offsets), dtype=np.bool_), is_unknown)


def found(text: str, rows: list[list[float]], decoding: Decoding, *, unknown: str = "") -> list[str]:
    logits = np.array(rows, dtype=np.float32)
    encoding = tokens(text, unknown=unknown)
    return [each.text for each in decode_logits(text, encoding, logits, BIO, Aggregation.CONSTRAINED, decoding)]


def test_a_compound_is_one_word_if_the_model_asks() -> None:
    text, rows = "pay EUR 12-50 now", [OUT, BEGIN, INNER, OUT, OUT, OUT]
    assert found(text, rows, PLAIN) == ["EUR 12"]
    assert found(text, rows, replace(PLAIN, compounds=True)) == ["EUR 12-50"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2026-03-14", 1), ("info@acme-tools", 1), ("and/or", 1), ("snake_case", 1), ("2019-2023", 3), ("2019/2020", 3),
        ("a - b", 3), ("a-", 2), ("-5", 2), ("a--b", 4), ("A-2019-7", 1), ("ü-2019-2023-x", 3), ("東-京", 3),
    ],
)  # fmt: skip
def test_marks_bind_word_characters_but_not_two_years(text: str, words: int) -> None:
    offsets = np.array([match.span() for match in re.finditer(r"[^\W_]+|[^\w\s]|_", text)], dtype=np.int32)
    if text.startswith("東"):
        offsets = np.array([(0, 1), (1, 2), (2, 3)], dtype=np.int32)
    assert int(word_starts(text, offsets, compounds=True).sum()) == words


UNSURE = [0.0, 0.0, 0.5]


@pytest.mark.parametrize(
    ("texts", "seen"),
    [
        ([[OUT, INNER, OUT, INNER], [INNER], [INNER], [INNER]], True),
        ([[OUT, INNER, OUT, INNER], [INNER], [INNER], [INNER, BEGIN]], True),  # it parts two neighbours
        ([[OUT, INNER, INNER, INNER], [INNER], [INNER], [INNER]], False),  # too few
        ([[INNER]] * 8 + [[BEGIN]], False),
        ([[INNER]] * 25 + [[BEGIN]], True),
        ([[UNSURE]] * 8, False),
        ([[BEGIN, INNER]] * 8, False),
        ([], False),
    ],
)
def test_a_model_of_iob1_is_seen_by_what_begins_its_entities(texts: list[list[list[float]]], seen: bool) -> None:
    assert seen_inside_begins([np.array(rows, dtype=np.float32) for rows in texts], BIO) is seen


def test_a_type_without_b_tells_nothing_of_a_models_scheme() -> None:
    scheme = scheme_of(("O", "B-PER", "I-PER", "I-MISC"))
    per, misc = np.eye(4, dtype=np.float32)[[[2, 0]]] * 9, np.eye(4, dtype=np.float32)[[[3, 0]]] * 9
    assert not seen_inside_begins([*misc] * 8, scheme)
    assert seen_inside_begins([*misc, *per] * 8, scheme)


def test_a_scheme_is_open_unless_the_folder_or_its_steps_say_it() -> None:
    assert PLAIN.leaves_open(BIO)
    assert not PLAIN.leaves_open(scheme_of(("O", "I-MONEY")))
    assert not replace(PLAIN, inside_begins=False).leaves_open(BIO)
    assert not replace(PLAIN, transitions=Transitions.of(np.zeros((3, 3)), BIO)).leaves_open(BIO)


def test_an_entity_ends_at_a_column_gap_if_the_model_asks() -> None:
    text, rows = "150\t225   9", [BEGIN, INNER, INNER]
    assert found(text, rows, PLAIN) == [text]
    assert found(text, rows, replace(PLAIN, cells=True)) == ["150", "225", "9"]


def test_marks_are_trimmed_if_the_model_asks() -> None:
    text, rows = "- 5 $", [BEGIN, INNER, OUT]
    assert found(text, rows, PLAIN) == ["- 5"]
    assert found(text, rows, replace(PLAIN, marks=True)) == ["- 5"]
    assert found("$ and #", [BEGIN, OUT, BEGIN], replace(PLAIN, marks=True)) == []


def test_text_unknown_to_the_vocabulary_is_no_entity_if_asked() -> None:
    text, rows = "東京 . 5 大阪", [BEGIN, INNER, OUT, BEGIN]
    asked = replace(PLAIN, unknown=True)
    assert found(text, rows, PLAIN, unknown="東京 大阪") == ["東京 .", "大阪"]
    assert found(text, rows, asked, unknown="東京 大阪") == []
    assert found(text, [BEGIN, INNER, INNER, OUT], asked, unknown="東京 大阪") == ["東京 . 5"]
    assert found(text, rows, asked) == ["東京 .", "大阪"], "every token is known"


def test_scores_become_the_share_that_is_right() -> None:
    decoding = replace(PLAIN, calibration=Calibration((0.2, 0.6), (0.1, 0.5)))
    rows = np.log(np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.1], [0.1, 0.8, 0.1]], dtype=np.float32))
    encoding = tokens("a b c")
    raw = decode_logits("a b c", encoding, rows, BIO, Aggregation.CONSTRAINED)
    sure = decode_logits("a b c", encoding, rows, BIO, Aggregation.CONSTRAINED, decoding)
    assert [each[:4] for each in sure] == [each[:4] for each in raw]
    assert [each.score for each in sure] == pytest.approx(np.interp([e.score for e in raw], [0.2, 0.6], [0.1, 0.5]))


def test_the_pipelines_strategies_ignore_the_models_rules() -> None:
    everything = Decoding(
        compounds=True,
        first_piece_share=0.5,
        cells=True,
        marks=True,
        unknown=True,
        transitions=Transitions.of(np.full((3, 3), -2.0), BIO),
        calibration=Calibration((0.0,), (0.0,)),
    )
    rows = np.random.default_rng(3).normal(size=(5, 3)).astype(np.float32)
    for strategy in set(Aggregation) - {Aggregation.CONSTRAINED}:
        plain = decode_logits("a-b\tc $", tokens("a-b\tc $"), rows, BIO, strategy)
        assert decode_logits("a-b\tc $", tokens("a-b\tc $"), rows, BIO, strategy, everything) == plain


def rows(*values: list[float]) -> NDArray[np.float32]:
    return np.array(values, dtype=np.float32)


def test_a_word_has_its_first_token_s_share_and_the_mean_of_the_others() -> None:
    logits = rows([1, 2, 3], [4, 5, 6], [0, 0, 2], [9, 9, 9], [7, 7, 7])
    firsts = np.array([0, 3])
    assert word_logits(logits, firsts, 4, BIO, 1.0).tolist() == [[1, 2, 3], [9, 9, 9]]
    others = np.array([2.0, 4.0, 4.0])
    expected = 0.25 * np.array([1.0, 2.0, 3.0]) + 0.75 * others
    mixed = word_logits(logits, firsts, 4, BIO, 0.25)
    assert mixed[0] == pytest.approx(expected)
    assert mixed[1].tolist() == [9, 9, 9]
    assert logits[0].tolist() == [1, 2, 3]


def test_the_last_token_may_belong_to_a_word_of_several() -> None:
    logits = rows([1, 0, 0], [0, 0, 4], [0, 0, 2])
    (word,) = word_logits(logits, np.array([0]), 3, BIO, 0.5)
    assert word == pytest.approx([0.5, 1.5, 1.5])
    (word,) = word_logits(logits, np.array([0]), 2, BIO, 0.5)
    assert word == pytest.approx([0.5, 2.0, 2.0])


def test_without_words_there_are_no_scores() -> None:
    assert word_logits(rows([1, 2, 3]), np.empty(0, dtype=np.intp), 0, BIO, 0.5).shape == (0, 3)
