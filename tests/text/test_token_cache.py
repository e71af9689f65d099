"""Words that came before are looked up, and a text's tokens are those that its tokenizer gives for the whole of it."""

from __future__ import annotations

import re
import weakref
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Encoding, Regex, Tokenizer, models, normalizers, pre_tokenizers

from model_store.builtin import model_folder
from service.families.registry import Processors
from service.text.split_points import WORD_SPLIT_KINDS
from service.text.token_cache import LONGEST_WORD, MOST_TOKENS, MOST_WORDS, TokenCache
from service.text.tokenizer import TextTokenizer
from tests.support.garbage import uncollected
from tests.text.test_tokenizer import KINDS, tokenizer

WORD_START = WORD_SPLIT_KINDS[0].pattern
WORDS = st.sampled_from(
    [
        "a",
        "invoice",
        "Straße",
        "12,50",
        "é",
        "e\u0301",
        "(no",
        "5%",
        "日本",
        "ｶﾞ",
        "x_",
        "_y",
        "--",
        ".",
        "of:",
        "ﬁ",
        "٣",
        "'s",
    ]
)
BLANKS = st.sampled_from([" ", " ", " ", "\n", "\n", "  ", "\r\n", "\t", "   ", "\u00a0", "\n\n", " \u0301", "\u00ad"])
TEXTS = st.lists(st.tuples(WORDS, BLANKS).map("".join), max_size=20).map("".join)


@cache
def built_in() -> Tokenizer:
    return Tokenizer.from_file(str(model_folder() / "tokenizer.json"))


class Counted:
    """The built-in model's tokenizer, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, text: str) -> Encoding:
        self.asked.append(text)
        return self.whole(text)

    def whole(self, text: str) -> Encoding:
        return built_in().encode(text, add_special_tokens=False)

    def assert_same(self, words: TokenCache, text: str) -> None:
        rows, whole = words.tokens(text), self.whole(text)
        assert rows.dtype == np.int32
        assert rows[:, 0].tolist() == whole.ids
        assert [tuple(pair) for pair in rows[:, 1:].tolist()] == whole.offsets


@given(texts=st.lists(TEXTS, max_size=4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_came_before_a_text_has_the_tokens_of_the_whole(texts: list[str]) -> None:
    counted = Counted()
    words = TokenCache(WORD_START, counted.encode)
    for text in [*texts, *texts, "".join(texts)]:
        counted.assert_same(words, text)


def test_each_word_is_tokenized_once() -> None:
    counted = Counted()
    words = TokenCache(WORD_START, counted.encode)
    counted.assert_same(words, "Total due: 5 EUR to Anna")
    counted.assert_same(words, "Total due: 7 EUR to Anna\nBerg and 5 EUR")
    counted.assert_same(words, "Total due: 7 EUR to Anna")
    assert counted.asked == ["Total due: 5 EUR to Anna", " 7\nBerg and"]


def test_what_no_text_has_had_for_long_is_forgotten_and_what_is_used_stays() -> None:
    counted = Counted()
    words = TokenCache(WORD_START, counted.encode)
    words.tokens("used unused")
    for start in range(0, 3 * MOST_WORDS, 1_000):
        words.tokens("used " + " ".join(map(str, range(start, start + 1_000))))
    counted.asked.clear()
    words.tokens("used unused")
    assert counted.asked == [" unused"]


def test_a_long_word_is_not_kept() -> None:
    counted = Counted()
    words = TokenCache(WORD_START, counted.encode)
    for size in (LONGEST_WORD, LONGEST_WORD, LONGEST_WORD + 1, LONGEST_WORD + 1):
        counted.assert_same(words, ("invoice" * 10)[:size])
    assert list(map(len, counted.asked)) == [LONGEST_WORD, LONGEST_WORD + 1, LONGEST_WORD + 1]


def test_a_word_of_many_tokens_is_not_kept() -> None:
    """One sign may stand for a sentence: the most that clients can fill is bounded."""
    counted = Counted()
    words = TokenCache(WORD_START, counted.encode)
    assert len(counted.whole("ﷺ" * 8).ids) > MOST_TOKENS
    for _ in range(2):
        counted.assert_same(words, "ﷺ" * 8)
    assert counted.asked == ["ﷺ" * 8] * 2


@pytest.mark.parametrize(("text", "words"), [
    ("Anna Berg, Berlin\n5 EUR (net)", ["Anna", " Berg,", " Berlin", "\n5", " EUR", " (net)"]),
    ("a  b", ["a  b"]),
    (" a\n\nb\r\nc", [" a\n\nb\r\nc"]),
    ("_ _ _ x_ y", ["_ _ _ x_ y"]),
    ("- - a . b", ["- - a .", " b"]),
    ("e\u0301 b a \u0301b", ["e\u0301 b", " a \u0301b"]),
])  # fmt: skip
def test_words_begin_where_nothing_around_them_matters(text: str, words: list[str]) -> None:
    starts = [0, *(found.start() for found in re.finditer(WORD_START, text))]
    assert [text[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)] == words


@pytest.mark.parametrize(("kind", "number"), list(zip(KINDS, (0, 1, 0), strict=True)))
def test_cached_words_begin_after_the_white_space_of_the_tokenizer(tmp_path: Path, kind: str, number: int) -> None:
    tokenizer(kind).save(str(tmp_path / "tokenizer.json"))
    split = TextTokenizer(tmp_path).vocabulary.word_split
    assert split is not None
    assert split.kind is WORD_SPLIT_KINDS[number]


def split_by(normalizer: normalizers.Normalizer | None, splitter: pre_tokenizers.PreTokenizer) -> Tokenizer:
    """Pairs of bytes with a merge of `New York`, as a tokenizer may have that does not split at blanks."""
    letters = [*"▁ abknoNrwYe0125%.,:;()iĀ\n"]
    pieces = ["Ne", "New", "New▁", "Yo", "Yor", "York", "New▁York", "1 ", "00", "000", "1 000"]
    merges = [("N", "e"), ("Ne", "w"), ("New", "▁"), ("Y", "o"), ("Yo", "r"), ("Yor", "k"), ("New▁", "York"),
              ("1", " "), ("0", "0"), ("00", "0"), ("1 ", "000")]  # fmt: skip
    made = Tokenizer(models.BPE({piece: i for i, piece in enumerate([*letters, *pieces])}, merges))
    made.normalizer, made.pre_tokenizer = normalizer, splitter
    return made


@pytest.mark.parametrize(
    ("made", "texts"),
    [
        (
            split_by(normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous")),
            ("a New York b", "New York", "New", "New York", "York"),
        ),
        (
            split_by(None, pre_tokenizers.Split(Regex(r"\d+(?: \d{3})*| ?[^\s\d]+|\s"), "isolated")),
            ("a 1 000 b", "1 000", "1", "1 000", "000"),
        ),
    ],
    ids=["blanks are no blanks", "numbers have blanks"],
)
def test_a_token_that_reaches_across_words_is_found_in_every_text(
    tmp_path: Path, made: Tokenizer, texts: tuple[str, ...]
) -> None:
    made.save(str(tmp_path / "tokenizer.json"))
    ours = TextTokenizer(tmp_path)
    for text in texts:
        whole = made.encode(text, add_special_tokens=False)
        assert ours.encode(text).ids.tolist() == whole.ids
        assert [tuple(each) for each in ours.encode(text).offsets.tolist()] == whole.offsets


def test_a_text_with_tokens_across_words_is_tokenized_whole() -> None:
    """Where a probe has not shown it: what is seen to reach across is not kept."""
    made = split_by(normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous"))
    words = TokenCache(WORD_START, lambda text: made.encode(text, add_special_tokens=False))
    for text in ("a New York b", "New York", "New", "a"):
        assert words.tokens(text)[:, 0].tolist() == made.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("added", [AddedToken("foo ", normalized=False), AddedToken("Name: "), AddedToken(" foo")])
def test_a_token_with_white_space_at_its_end_is_found(tmp_path: Path, added: AddedToken) -> None:
    made = tokenizer("word pieces")
    made.add_tokens([added])
    made.save(str(tmp_path / "tokenizer.json"))
    ours = TextTokenizer(tmp_path)
    for text in ("x foo", "x foo bar", "Name: a", "Name:", "x foo"):
        assert ours.encode(text).ids.tolist() == made.encode(text, add_special_tokens=False).ids


def test_a_tokenizer_that_is_dropped_is_freed_at_once(tmp_path: Path) -> None:
    tokenizer("word pieces").save(str(tmp_path / "tokenizer.json"))
    processors = Processors()
    old = processors.get("old", tmp_path).tokenizer
    assert isinstance(old, TextTokenizer)
    old.encode("Total due")
    del old
    held = weakref.ref(processors.get("old", tmp_path).tokenizer.vocabulary)
    (tmp_path / "new").mkdir()
    tokenizer("bytes").save(str(tmp_path / "new" / "tokenizer.json"))
    with uncollected():
        processors.replace({"new": tmp_path / "new"})
        assert held() is None


@pytest.mark.parametrize("added", [AddedToken("total due"), AddedToken("mask", lstrip=True)])
def test_words_are_not_known_where_a_token_may_reach_across_them(tmp_path: Path, added: AddedToken) -> None:
    made = tokenizer("word pieces")
    made.add_tokens([added])
    made.save(str(tmp_path / "tokenizer.json"))
    ours = TextTokenizer(tmp_path)
    for text in ("due", f"the {added.content} is", "total", "due"):
        assert ours.encode(text).ids.tolist() == made.encode(text, add_special_tokens=False).ids
