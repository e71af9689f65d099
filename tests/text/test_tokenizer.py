"""Texts become the tokens that the tokenizer itself gives, however they are cut on the way."""

from __future__ import annotations

import json
import shutil
import threading
import time
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from service.core.errors import ModelError
from service.families.registry import Processors
from service.text.split_points import (
    LONGEST_CHARACTERS,
    SHORTEST_CHARACTERS,
    SPLIT_KINDS,
    Separator,
    SplitPoint,
    chunks,
)
from service.text.tokenizer import TextTokenizer, encoded
from tests.support.tiny_models import BERT_SPECIALS, ROBERTA_SPECIALS, byte_level, word_piece

LETTERS = st.text(st.sampled_from("aZßéǆя日本語ฟ한ا𝒜٣5²"), min_size=1, max_size=4)
BREAKS = st.sampled_from(["\n", "\n\n", "\r\n", "\r", " \n", "\n ", "\t", "\u2028", "\x0b", "\x0c", "\x85", "\u00ad\n"])
OTHERS = st.sampled_from([" ", ". ", "-", "'s", "́", "😀", "invoice", "[SEP]", "<s>", "_", "", "\u200d", "ﬁ"])
MARKS = st.sampled_from(
    ["--", "- -", "-\n-", ".,", "==", "a -", "- a", "3.5", ". .", "&&", "/\n/", "一二", "。中", "中\u0301", "<mask>"]
)
SNIPPETS = st.lists(LETTERS | BREAKS | OTHERS | MARKS, min_size=1, max_size=25).map("".join)
KINDS = ("word pieces", "bytes", "words and spaces")


def tokenizer(kind: str) -> Tokenizer:
    """A tokenizer in the way of BERT, of RoBERTa and ModernBERT, or of XLM-R."""
    if kind == "word pieces":
        first, pad, last, unknown, mask = BERT_SPECIALS[2], "[PAD]", "[SEP]", "[UNK]", "[MASK]"
        made = word_piece(first, pad, last, unknown, mask)
    else:
        first, pad, last, unknown, mask = "<s>", "<pad>", "</s>", "<unk>", "<mask>"
        made = byte_level(first, pad, last, unknown, mask) if kind == "bytes" else _unigram()
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(name, made.token_to_id(name)) for name in (first, last)]
    )
    return made


def _unigram() -> Tokenizer:
    letters = [chr(code) for code in range(33, 127)]
    vocabulary = [*ROBERTA_SPECIALS, "▁", *letters, "▁a", "▁in", "voice", "▁invoice", "on"]
    made = Tokenizer(models.Unigram([(piece, -float(i % 7) - 1) for i, piece in enumerate(vocabulary)], unk_id=3))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    made.add_special_tokens(list(ROBERTA_SPECIALS))
    return made


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but a tokenizer."""
    folder = tmp_path_factory.mktemp("model")
    tokenizer(request.param).save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module")
def ours(folder: Path) -> TextTokenizer:
    return TextTokenizer(folder)


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def assert_same(ours: TextTokenizer, theirs: Tokenizer, text: str) -> None:
    text = unicodedata.normalize("NFC", text)  # Of another text, ours are places of whole letters with their marks.
    tokens, whole = ours.encode(text), theirs.encode(text, add_special_tokens=False)
    assert tokens.ids.tolist() == whole.ids
    assert [tuple(pair) for pair in tokens.offsets.tolist()] == whole.offsets
    assert tokens.ids.dtype == tokens.offsets.dtype == np.dtype(np.int32)


@given(snippet=SNIPPETS)
@settings(max_examples=60)
def test_a_short_text_has_the_tokenizer_s_own_tokens(ours: TextTokenizer, theirs: Tokenizer, snippet: str) -> None:
    assert_same(ours, theirs, snippet)


@given(snippet=SNIPPETS, joint=st.tuples(LETTERS, BREAKS, LETTERS).map("".join))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_long_text_read_in_chunks_has_the_same_tokens_as_the_whole(
    ours: TextTokenizer, theirs: Tokenizer, snippet: str, joint: str
) -> None:
    part = snippet + joint
    assert_same(ours, theirs, part * (SHORTEST_CHARACTERS // len(part) + 20))


@given(snippet=SNIPPETS)
@settings(max_examples=100)
def test_chunks_at_every_border_have_the_tokens_of_the_whole_text(
    ours: TextTokenizer, theirs: Tokenizer, snippet: str
) -> None:
    whole = theirs.encode(snippet, add_special_tokens=False)
    parts = [
        (start, theirs.encode(snippet[start:end], add_special_tokens=False))
        for start, end in chunks(snippet, ours.vocabulary.split_points, shortest=1)
    ]
    assert [token for _, part in parts for token in part.ids] == whole.ids
    assert [(start + a, start + b) for start, part in parts for a, b in part.offsets] == whole.offsets


@pytest.mark.parametrize(
    ("kind", "places"), [("word pieces", range(6)), ("bytes", (1, 3)), ("words and spaces", range(4))]
)
def test_texts_are_cut_where_that_is_harmless(tmp_path: Path, kind: str, places: Sequence[int]) -> None:
    """At white space between letters or marks; in BERT's way also between two marks or two ideographs.

    RoBERTa puts a blank before a piece that has none, so only blanks can be cut at.
    """
    tokenizer(kind).save(str(tmp_path / "tokenizer.json"))
    assert [each.kind for each in TextTokenizer(tmp_path).vocabulary.split_points] == [
        SPLIT_KINDS[number] for number in places
    ]


@pytest.mark.parametrize("added", [AddedToken("invoice total"), AddedToken("mask", lstrip=True), AddedToken("a--b")])
def test_texts_are_not_cut_where_an_added_token_may_stand(tmp_path: Path, added: AddedToken) -> None:
    made = tokenizer("word pieces")
    made.add_tokens([added])
    made.save(str(tmp_path / "tokenizer.json"))
    assert len(TextTokenizer(tmp_path).vocabulary.split_points) < len(SPLIT_KINDS)
    text = f"one {added.content} two " * 2_000
    assert_same(TextTokenizer(tmp_path), made, text)


HOSTILE = ("- ", "-", "の", "\n--", "&", "a", "\n", "中", "e\u0301", "[SEP]")


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_text_makes_a_piece_that_is_long(ours: TextTokenizer, unit: str) -> None:
    text = unit * ((LONGEST_CHARACTERS + SHORTEST_CHARACTERS) // len(unit))
    assert max(end - start for start, end in chunks(text, ours.vocabulary.split_points)) <= LONGEST_CHARACTERS


@pytest.mark.parametrize("unit", ["- ", "\n--"])
def test_a_hostile_text_with_split_points_has_the_same_tokens_as_the_whole(
    ours: TextTokenizer, theirs: Tokenizer, unit: str
) -> None:
    assert_same(ours, theirs, unit * SHORTEST_CHARACTERS)


def test_other_threads_run_while_a_text_without_line_breaks_is_tokenized(ours: TextTokenizer) -> None:
    """The longest standstill is a small part of the work; with the GIL held it would be all of it."""
    text = "- " * LONGEST_CHARACTERS
    assert min(_standstill(lambda: ours.encode(text)) for _ in range(3)) < 1 / 3


def _standstill(work: Callable[[], object]) -> float:
    """The longest time for which this thread could not run, as a share of the work's in another."""
    worker = threading.Thread(target=work)
    longest, begun = 0.0, time.monotonic()
    worker.start()
    last = time.monotonic()
    while worker.is_alive():
        time.sleep(0.0005)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    return longest / (time.monotonic() - begun)


def test_an_empty_text_has_no_tokens_and_no_windows(ours: TextTokenizer) -> None:
    tokens = ours.encode("")
    assert (tokens.ids.shape, tokens.offsets.shape) == ((0,), (0, 2))
    assert ours.windows(0, longest=16, overlap=4) == ()
    assert ours.sequences(tokens.ids, ()) == []


@given(snippet=SNIPPETS)
@settings(max_examples=30)
def test_one_window_is_exactly_the_tokenizer_s_own_sequence(
    ours: TextTokenizer, theirs: Tokenizer, snippet: str
) -> None:
    tokens = ours.encode(snippet)
    windows = ours.windows(len(tokens.ids), longest=len(tokens.ids) + 3, overlap=0)
    sequences = ours.sequences(tokens.ids, windows)
    whole = theirs.encode(unicodedata.normalize("NFC", snippet))
    assert [part.tolist() for part in sequences] == ([whole.ids] if len(tokens.ids) else [])


@given(words=st.integers(0, 300), longest=st.integers(8, 64), overlap=st.integers(0, 64))
def test_sequences_never_exceed_the_limit_and_their_content_is_the_text_s(
    ours: TextTokenizer, words: int, longest: int, overlap: int
) -> None:
    tokens = ours.encode("a " * words)
    windows = ours.windows(len(tokens.ids), longest=longest, overlap=overlap)
    sequences = ours.sequences(tokens.ids, windows)
    assert all(len(part) <= longest for part in sequences)
    for window, part in zip(windows, sequences, strict=True):
        logits = part.astype(np.float32)[:, None]
        assert ours.content(logits)[:, 0].tolist() == tokens.ids[window.start : window.stop].tolist()


def test_limits_in_the_file_do_not_cut_or_fill_texts(tmp_path: Path) -> None:
    made = tokenizer("word pieces")
    made.enable_truncation(4)
    made.enable_padding(length=50)
    made.save(str(tmp_path / "tokenizer.json"))
    assert len(TextTokenizer(tmp_path).encode("invoice " * 20).ids) == 20


@pytest.mark.parametrize("content", [None, "", "{}", "[1]"])
def test_a_folder_whose_tokenizer_cannot_be_read_is_a_model_error(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(ModelError, match="cannot be read"):
        TextTokenizer(tmp_path)


def test_each_revision_s_tokenizer_is_read_once(folder: Path) -> None:
    processors = Processors()
    assert processors.get("a", folder) is processors.get("a", Path("/nowhere"))
    assert processors.get("a", folder) is not processors.get("b", folder)


def test_tokenizers_of_other_revisions_are_forgotten_and_new_ones_read(folder: Path) -> None:
    processors = Processors()
    old = processors.get("old", folder)
    processors.replace({"new": folder})
    assert processors.get("new", Path("/nowhere")).is_read
    assert processors.get("old", folder) is not old


def test_tokenizers_are_kept_while_an_engine_that_starts_names_none(folder: Path) -> None:
    """To read one holds the GIL for a tenth of a second, in which a worker says nothing."""
    processors = Processors()
    old = processors.get("old", folder)
    processors.replace({})
    assert processors.get("old", Path("/nowhere")) is old


def test_revisions_with_equal_tokenizer_files_share_the_vocabulary_only(folder: Path, tmp_path: Path) -> None:
    """Most new revisions are new weights; to read the file again would stop the event loop for as long as it takes."""
    processors, same, other = Processors(), tmp_path / "same", tmp_path / "other"
    for copy in (same, other):
        shutil.copytree(folder, copy)
    (same / "decoding.json").write_text(json.dumps({"compounds": True}))
    written = json.loads((other / "tokenizer.json").read_text())
    (other / "tokenizer.json").write_text(json.dumps(written, indent=1))
    named = (("1", folder), ("2", same), ("3", other))
    first, second, third = (processors.get(name, each).tokenizer for name, each in named)
    assert second.vocabulary is first.vocabulary
    assert isinstance(first, TextTokenizer)
    assert isinstance(second, TextTokenizer)
    assert second.decoding.compounds
    assert not first.decoding.compounds
    assert third.vocabulary is not first.vocabulary
    processors.replace({"2": same})
    fourth = processors.get("4", folder).tokenizer
    assert fourth.vocabulary is first.vocabulary, "the first one's is the second one's too"


TEXTS = st.lists(st.sampled_from(["a", "one", " ", "\n", "-", "中", "3", "é", "_", "- -", "b\nb"]), max_size=60).map(
    "".join
)
SPLIT_POINTS = st.lists(st.builds(SplitPoint, st.sampled_from(SPLIT_KINDS), st.sampled_from(Separator)), max_size=4)
SIZES = st.tuples(st.integers(1, 12), st.integers(1, 12)).map(lambda sizes: (min(sizes), sum(sizes)))


@given(text=TEXTS, split_points=SPLIT_POINTS, sizes=SIZES)
def test_chunks_cover_the_text_but_for_white_space_between_them(
    text: str, split_points: list[SplitPoint], sizes: tuple[int, int]
) -> None:
    shortest, longest = sizes
    found = list(chunks(text, split_points, shortest=shortest, longest=longest))
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    gaps = [text[end:start] for (_, end), (start, _) in pairwise(found)]
    assert set(gaps) <= {"", " ", "\n"}
    assert all(end - start <= longest for start, end in found)
    assert all(start < end for start, end in found) or not text


def test_a_text_without_split_points_is_cut_at_the_limit_alone() -> None:
    assert list(chunks("a" * 25, (), shortest=5, longest=10)) == [(0, 10), (10, 20), (20, 25)]
    words = SplitPoint(SPLIT_KINDS[1], Separator.WITH_NEXT)
    assert list(chunks("aaa bbb ccc", (words,), shortest=2, longest=10)) == [(0, 3), (3, 7), (7, 11)]
    neither = SplitPoint(SPLIT_KINDS[1], Separator.WITH_NEITHER)
    assert list(chunks("aaa bbb ccc", (neither,), shortest=2, longest=10)) == [(0, 3), (4, 7), (8, 11)]


def test_a_pattern_without_an_end_is_an_error_of_the_text() -> None:
    """Rust's panic is no Exception: it would pass by all that answers one."""
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"(?:x+x+)+y|\s"), "removed")
    with pytest.raises(ModelError, match="does not come to an end"):
        encoded(tokenizer, "a " + "x" * 40)
    assert encoded(tokenizer, "a a").ids == [0, 0]
