from __future__ import annotations

import dataclasses
import re
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from service.core.decoding import tag_scheme
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity, decode_logits
from service.core.decoding.tag_scheme import OUTSIDE, read_scheme
from service.core.decoding.tokens import Encoding
from service.core.errors import ModelError

BIO = tag_scheme.read_scheme({0: "O", 1: "B-PER", 2: "I-PER", 3: "B-ORG", 4: "I-ORG"})
BIOES = tag_scheme.read_scheme({0: "O", 1: "B-PER", 2: "I-PER", 3: "E-PER", 4: "S-PER"})


def encoding(*offsets: tuple[int, int]) -> Encoding:
    pairs = np.array(offsets, dtype=np.int32).reshape(-1, 2)
    return Encoding(pairs, np.zeros(len(pairs), dtype=np.bool_))


def words(text: str) -> Encoding:
    return encoding(*(match.span() for match in re.finditer(r"\S+", text)))


def rows(scheme: tag_scheme.Scheme, *probabilities: dict[str, float]) -> NDArray[np.float32]:
    """Logits with the given probabilities; the rest of each row is shared by the other labels."""
    table = np.empty((len(probabilities), len(scheme.labels)))
    for row, given_ones in zip(table, probabilities, strict=True):
        row[:] = (1 - sum(given_ones.values())) / (len(scheme.labels) - len(given_ones))
        for label, probability in given_ones.items():
            row[scheme.labels.index(label)] = probability
    return np.log(table).astype(np.float32)


def constrained(
    text: str, tokens: Encoding, logits: NDArray[np.float32], scheme: tag_scheme.Scheme = BIO
) -> list[Entity]:
    return decode_logits(text, tokens, logits, scheme, Aggregation.CONSTRAINED)


def test_an_entity_is_the_documents_own_text() -> None:
    text = "So says Angela Merkel today"
    logits = rows(BIO, {"O": 0.9}, {"O": 0.9}, {"B-PER": 0.9}, {"I-PER": 0.9}, {"O": 0.9})
    (entity,) = constrained(text, words(text), logits)
    assert (entity.label, entity.text, entity.start, entity.end) == ("PER", "Angela Merkel", 8, 21)


def test_neighbours_of_one_type_are_two_where_the_second_begins() -> None:
    text = "Angela Joachim Sauer"
    logits = rows(BIO, {"B-PER": 0.9}, {"B-PER": 0.9}, {"I-PER": 0.9})
    assert [entity.text for entity in constrained(text, words(text), logits)] == ["Angela", "Joachim Sauer"]


def test_neighbours_are_parted_after_an_end_tag() -> None:
    text = "a b c d"
    logits = rows(BIOES, {"B-PER": 0.9}, {"E-PER": 0.9}, {"S-PER": 0.9}, {"O": 0.9})
    assert [entity.text for entity in constrained(text, words(text), logits, BIOES)] == ["a b", "c"]


def test_an_orphan_inside_tag_gets_the_best_valid_path() -> None:
    text = "by Angela Merkel"
    logits = rows(BIO, {"O": 0.9}, {"I-PER": 0.6, "B-PER": 0.3}, {"I-PER": 0.9})
    (entity,) = constrained(text, words(text), logits)
    assert entity.text == "Angela Merkel"


@pytest.mark.parametrize(
    ("text", "tokens", "found"),
    [
        ("So Zoe\u0308, x", [(0, 2), (3, 6), (7, 8), (9, 10)], "Zoe\u0308"),
        ("a Co\u0301rdoba b", [(0, 1), (2, 4), (5, 10), (11, 12)], "Co\u0301rdoba"),
        ("a שָׁלוֹם b", [(0, 1), (2, 3), (5, 9), (10, 11)], "שָׁלוֹם"),
        ("a राजे b", [(0, 1), (2, 5), (7, 8)], "राजे"),
        ("a علی\u200cرضا b", [(0, 1), (2, 5), (6, 9), (10, 11)], "علی\u200cرضا"),
        ("a Mül\u00adler b", [(0, 1), (2, 5), (6, 9), (10, 11)], "Mül\u00adler"),
        ("a I \u2764\ufe0f5", [(0, 1), (2, 5), (5, 6), (6, 7)], "I \u2764\ufe0f"),
        ("a Jane\u200b b", [(0, 1), (2, 7), (8, 9)], "Jane"),
        ("a \u2028\ufeffJane\u2003\u200e b", [(0, 1), (2, 10), (11, 12)], "Jane"),
        ("a രാമന്\u200d b", [(0, 1), (2, 7), (9, 10)], "രാമന്\u200d"),
    ],
)
def test_an_entity_holds_whole_characters_and_no_blank_at_its_ends(
    text: str, tokens: list[tuple[int, int]], found: str
) -> None:
    logits = rows(BIO, {"O": 0.9}, {"B-PER": 0.9}, *({"O": 0.9} for _ in tokens[2:]))
    (entity,) = constrained(text, encoding(*tokens), logits)
    assert entity.text == found


@pytest.mark.parametrize(
    "blank", ["\u2003", "\x1f", "\u2028", "\u200b\u2060", "\ufeff", "\u00ad", "\u3164", "\u200e \u200f", "\u0301"]
)
def test_an_entity_of_blanks_does_not_exist(blank: str) -> None:
    text = f"a {blank} b"
    tokens = encoding((0, 1), (2, 2 + len(blank)), (len(text) - 1, len(text)))
    assert constrained(text, tokens, rows(BIO, {"O": 0.9}, {"B-PER": 0.9}, {"O": 0.9})) == []


def test_the_score_is_the_mean_probability_of_the_type() -> None:
    text = "Angela Merkel"
    logits = rows(BIO, {"B-PER": 0.5, "I-PER": 0.4}, {"B-PER": 0.3, "I-PER": 0.4})
    (entity,) = constrained(text, words(text), logits)
    assert entity.score == pytest.approx((0.9 + 0.7) / 2)


def test_a_word_is_tagged_by_its_first_token_and_never_split() -> None:
    text = "Merkel, Berlin"
    pieces = encoding((0, 3), (3, 6), (6, 7), (8, 10), (10, 14))
    certain = [{"B-PER": 0.9}, {"B-ORG": 0.99}, {"O": 0.9}, {"O": 0.9}, {"B-ORG": 0.99}]
    (entity,) = constrained(text, pieces, rows(BIO, *certain))
    assert (entity.label, entity.text) == ("PER", "Merkel")
    assert entity.score == pytest.approx(0.9, abs=0.03)


def test_given_words_are_tagged_by_their_first_tokens_and_stay_whole() -> None:
    text = "(Merkel, Berlin)"
    pieces = encoding((0, 4), (4, 8), (9, 16))
    given_words = dataclasses.replace(pieces, firsts=np.array([0, 2]))
    logits = rows(BIO, {"B-PER": 0.9}, {"B-ORG": 0.99}, {"O": 0.9})
    (entity,) = constrained(text, given_words, logits)
    assert (entity.label, entity.text, entity.start, entity.end) == ("PER", "(Merkel,", 0, 8)


def test_constrained_entities_are_trimmed_and_empty_ones_dropped() -> None:
    text = "a  b \n c"
    pieces = encoding((0, 1), (1, 4), (4, 6), (6, 8))
    logits = rows(BIO, {"O": 0.9}, {"B-PER": 0.9}, {"B-ORG": 0.9}, {"O": 0.9})
    found = [(entity.text, entity.start, entity.end) for entity in constrained(text, pieces, logits)]
    assert found == [("b", 3, 4)]


def test_the_pipelines_offsets_are_left_as_they_are() -> None:
    text = "a  b"
    (entity,) = decode_logits(
        text, encoding((0, 1), (1, 4)), rows(BIO, {"O": 0.9}, {"B-PER": 0.9}), BIO, Aggregation.SIMPLE
    )
    assert (entity.text, entity.start, entity.end) == ("  b", 1, 4)


@pytest.mark.parametrize("aggregation", Aggregation)
def test_a_document_without_tokens_has_no_entities(aggregation: Aggregation) -> None:
    assert decode_logits("", encoding(), np.empty((0, 0), dtype=np.float32), BIO, aggregation) == []


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_numbers_are_the_models_fault(bad: float) -> None:
    logits = np.full((1, 5), bad, dtype=np.float32)
    with pytest.raises(ModelError):
        constrained("a", encoding((0, 1)), logits)


def test_a_row_too_few_is_a_broken_invariant() -> None:
    with pytest.raises(AssertionError, match="row"):
        constrained("a b", words("a b"), rows(BIO, {"O": 0.9}))


@st.composite
def tokenised_texts(draw: st.DrawFn) -> tuple[str, Encoding]:
    text = draw(st.text(alphabet="aé9. ,\n€東\u0301", min_size=1, max_size=60))
    borders = sorted(draw(st.sets(st.integers(0, len(text)))) | {0, len(text)})
    return text, encoding(*pairwise(borders))


@given(tokenised_texts(), st.sampled_from([BIO, BIOES]), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=200)
def test_entities_are_ordered_apart_trimmed_and_whole(
    document: tuple[str, Encoding], scheme: tag_scheme.Scheme, seed: int
) -> None:
    text, tokens = document
    logits = np.random.default_rng(seed).normal(size=(len(tokens.offsets), 5)).astype(np.float32)
    previous_end = 0
    for entity in constrained(text, tokens, logits, scheme):
        assert previous_end <= entity.start < entity.end <= len(text)
        assert entity.text == text[entity.start : entity.end] == entity.text.strip()
        assert 0 < entity.score <= 1
        for border in (entity.start, entity.end):
            assert not text.startswith("\u0301", border)
            assert not (re.search(r"[aé9]\u0301*\Z", text[:border]) and re.match("[aé9]", text[border:]))
        previous_end = entity.end


@pytest.mark.parametrize("aggregation", [Aggregation.CONSTRAINED, Aggregation.SIMPLE])
def test_decoding_takes_little_more_memory_than_the_logits(aggregation: Aggregation) -> None:
    """It took over four times as much: two gigabytes for a text of a million tokens, all of them in entities."""
    tokens, labels = 100_000, [OUTSIDE, *(f"{begin}-{name}" for name in range(20) for begin in "BI")]
    starts = np.arange(tokens, dtype=np.int32) * 2
    encoding = Encoding(np.stack([starts, starts + 1], axis=1), np.zeros(tokens, dtype=np.bool_))
    logits = np.zeros((tokens, len(labels)), dtype=np.float32)
    logits[:, 2] = 5.0
    logits[::10, 1] = 9.0
    text, scheme = "a " * tokens, read_scheme(dict(enumerate(labels)))
    tracemalloc.start()
    entities = decode_logits(text, encoding, logits, scheme, aggregation)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert entities
    assert peak < 2.5 * logits.nbytes
