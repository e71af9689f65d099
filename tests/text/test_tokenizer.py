"""Texts become the tokens that the tokenizer itself gives, however they are cut on the way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from service.core.errors import ModelError
from service.text.tokenizer import PIECE_CHARACTERS, PieceBorder, TextTokenizer, Tokenizers, pieces
from tests.support.tiny_models import BERT_SPECIALS, ROBERTA_SPECIALS, byte_level, word_piece

LETTERS = st.text(st.sampled_from("aZßéǆя日本語ฟ한ا𝒜٣5²"), min_size=1, max_size=4)
BREAKS = st.sampled_from(["\n", "\n\n", "\r\n", "\r", " \n", "\n ", "\t", "\u2028", "\x0b", "\x0c", "\x85", "\u00ad\n"])
OTHERS = st.sampled_from([" ", ". ", "-", "'s", "́", "😀", "invoice", "[SEP]", "<s>", "_", "", "\u200d", "ﬁ"])
SNIPPETS = st.lists(LETTERS | BREAKS | OTHERS, min_size=1, max_size=25).map("".join)
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
def test_a_long_text_read_in_pieces_has_the_same_tokens_as_the_whole(
    ours: TextTokenizer, theirs: Tokenizer, snippet: str, joint: str
) -> None:
    part = snippet + joint
    assert_same(ours, theirs, part * (PIECE_CHARACTERS // len(part) + 20))


@given(snippet=SNIPPETS)
@settings(max_examples=100)
def test_pieces_at_every_border_have_the_tokens_of_the_whole_text(
    ours: TextTokenizer, theirs: Tokenizer, snippet: str
) -> None:
    whole = theirs.encode(snippet, add_special_tokens=False)
    parts = [
        (start, theirs.encode(snippet[start:end], add_special_tokens=False))
        for start, end in pieces(snippet, ours.piece_border, shortest=1)
    ]
    assert [token for _, part in parts for token in part.ids] == whole.ids
    assert [(start + a, start + b) for start, part in parts for a, b in part.offsets] == whole.offsets


@pytest.mark.parametrize(("kind", "cuts"), [("word pieces", True), ("bytes", False), ("words and spaces", True)])
def test_long_texts_are_cut_where_that_is_harmless(tmp_path: Path, kind: str, cuts: bool) -> None:
    tokenizer(kind).save(str(tmp_path / "tokenizer.json"))
    border = TextTokenizer(tmp_path).piece_border
    lines = "one\ntwo\n" * PIECE_CHARACTERS
    assert (len(list(pieces(lines, border))) > 4) is cuts
    assert list(pieces("one\ntwo", border)) == [(0, 7)]


@given(text=SNIPPETS, shortest=st.integers(1, 20))
def test_pieces_cover_the_text_but_for_the_breaks_between_them(text: str, shortest: int) -> None:
    assert list(pieces(text, PieceBorder.NONE, shortest=shortest)) == [(0, len(text))]
    after = list(pieces(text, PieceBorder.AFTER_BREAK, shortest=shortest))
    without = list(pieces(text, PieceBorder.WITHOUT_BREAK, shortest=shortest))
    assert "".join(text[a:b] for a, b in after) == text
    assert "\n".join(text[a:b] for a, b in without) == text
    assert all(b - a >= shortest for a, b in without[:-1])


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
    whole = theirs.encode(snippet)
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
    tokenizers = Tokenizers()
    assert tokenizers.get("a", folder) is tokenizers.get("a", Path("/nowhere"))
    assert tokenizers.get("a", folder) is not tokenizers.get("b", folder)


def test_tokenizers_of_other_revisions_are_forgotten_and_new_ones_read(folder: Path) -> None:
    tokenizers = Tokenizers()
    old = tokenizers.get("old", folder)
    tokenizers.replace({"new": folder})
    assert tokenizers.get("new", Path("/nowhere"))
    assert tokenizers.get("old", folder) is not old
