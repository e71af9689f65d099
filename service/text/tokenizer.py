"""A model's tokenizer: text to token ids with offsets, and token ids to windows with special tokens around each.

A text is encoded as a whole, without special tokens, and then cut into windows. A long text is encoded chunk by chunk
(`split_points`), and without the GIL, so that it neither stops other threads nor takes more memory than its tokens. Of
a short text, the words that came before are looked up (`token_cache`).

Revisions of a model mostly differ in weights alone. To read a tokenizer holds the GIL (0.1 s, of a large multilingual
one 0.5), in which a worker says nothing, so revisions whose files are equal share one `Vocabulary`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding as Encoded
from tokenizers import Tokenizer

from service.core.arrays import Logits, TokenIds
from service.core.decoding.aggregation_strategies import subwords
from service.core.decoding.offsets import ComposedText, compose
from service.core.decoding.tokens import Encoding
from service.core.decoding.windows import Window, split_windows
from service.core.errors import ModelError
from service.text.decoding_files import read_decoding
from service.text.rules.rule_set import RuleSet
from service.text.split_points import SPLIT_KINDS, chunks, find_split_points, find_word_split
from service.text.token_cache import TokenCache, rows_of

UNKNOWN_TOKENS = ("[UNK]", "<unk>")
"""What vocabularies call the token for a text that they have nothing for, where their model does not say."""
_RUST = "pyo3_runtime"
"""Module of the class of Rust's panics."""
SHORT_CHARACTERS = 4_096
"""Up to this length the GIL is kept: giving it up costs more than such a text holds others up."""


class Vocabulary:
    """A tokenizer file's contents, which many may share. Thread-safe.

    Raises:
        ModelError: it is no tokenizer file.

    Attributes:
        digest: of the file.
        prefix, suffix: special tokens before and after each sequence.
        segments: segment ids (`token_type_ids`) of the prefix, of a text, and of the suffix.
        split_points: the places where a long text may be cut without changing its tokens.
        word_split: where words begin whose tokens are the same in every text; None if that cannot be said.
        token_cache: of words that came before; None without a word split.
        unknown_id: of the token for a text that the vocabulary has nothing for, if there is one.
    """

    def __init__(self, file: Path, digest: str) -> None:
        try:
            self.tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:
            raise _unreadable(file, error) from error
        self.digest = digest
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.prefix, self.suffix, self.segments = _special_tokens(self.tokenizer)
        self.split_points = find_split_points(self.tokenizer, SPLIT_KINDS)
        self.word_split = find_word_split(self.tokenizer)
        encode = partial(encoded, self.tokenizer)  # Not of this object: what is dropped is freed at once.
        self.token_cache = None if self.word_split is None else TokenCache(self.word_split.kind.pattern, encode)
        self.unknown_id = _find_unknown(self.tokenizer)

    @property
    def largest_id(self) -> int:
        return max(self.tokenizer.get_vocab(with_added_tokens=True).values(), default=0)


def vocabulary_of(file: Path, known: Iterable[Vocabulary] = ()) -> Vocabulary:
    """The one of those known that was read from an equal file, or else a new one.

    Raises:
        ModelError: it is no tokenizer file.
    """
    try:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(file, error) from error
    return next((each for each in known if each.digest == digest), None) or Vocabulary(file, digest)


def encoded(tokenizer: Tokenizer, text: str) -> Encoded:
    """The tokens of a text without special tokens; of a long one without the GIL.

    Raises:
        ModelError: a pattern of the tokenizer backtracks without an end.
    """
    with _coming_to_an_end():
        if len(text) <= SHORT_CHARACTERS:
            return tokenizer.encode(text, add_special_tokens=False)
        return tokenizer.encode_batch([text], add_special_tokens=False)[0]


def encoded_words(tokenizer: Tokenizer, words: Sequence[str]) -> Encoded:
    """The tokens of words, each read by itself, without special tokens and without the GIL; raises as `encoded`."""
    with _coming_to_an_end():
        return tokenizer.encode_batch([words], is_pretokenized=True, add_special_tokens=False)[0]


@contextmanager
def _coming_to_an_end() -> Iterator[None]:
    try:
        yield
    except BaseException as error:  # A panic of Rust's is no Exception, and would end the worker's thread.
        if type(error).__module__ != _RUST:
            raise
        raise ModelError(
            "the model's tokenizer cannot read this text: a pattern of it does not come to an end"
        ) from None


def _unreadable(file: Path, error: Exception) -> ModelError:
    reason = error.strerror if isinstance(error, OSError) else error
    return ModelError(f"the tokenizer of {file.parent.name} cannot be read: {reason}")


Segments = tuple[tuple[int, ...], int, tuple[int, ...]]


def _special_tokens(tokenizer: Tokenizer) -> tuple[TokenIds, TokenIds, Segments]:
    encoding = tokenizer.encode("a")
    mask = np.array(encoding.special_tokens_mask, dtype=np.bool_)
    ids = np.array(encoding.ids, dtype=np.int32)
    content = np.flatnonzero(~mask)
    if not len(content):
        raise ModelError("the tokenizer gives no token for the letter 'a'")
    start, stop, types = content[0], content[-1] + 1, encoding.type_ids
    return ids[:start], ids[stop:], (tuple(types[:start]), types[start], tuple(types[stop:]))


def _find_unknown(tokenizer: Tokenizer) -> int | None:
    named = getattr(tokenizer.model, "unk_token", None)
    names = (named,) if isinstance(named, str) else UNKNOWN_TOKENS
    return next((found for name in names if (found := tokenizer.token_to_id(name)) is not None), None)


TOKENIZER_FILE = "tokenizer.json"


@dataclass(frozen=True, slots=True, eq=False)
class GivenWords:
    """Words that a document has of itself: no entity begins or ends within one, or goes over two pages.

    Attributes:
        firsts: the first token of each word that has tokens, intp `[words]`.
        pages: the tokens `[start, stop)` of each page that has some; one after another they are all.
    """

    firsts: npt.NDArray[np.intp]
    pages: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """A text's tokens without special tokens: ids int32 `[tokens]`, offsets int32 `[tokens, 2]` in code points.

    `words`: those that were given, whose tokens begin and end where they do; None: words are found in the text.
    """

    ids: TokenIds
    offsets: npt.NDArray[np.int32]
    words: GivenWords | None = None

    def pages(self) -> Iterator[Tokens]:
        """The tokens of each page; all at once where words are not given."""
        if self.words is None:
            yield self
            return
        for start, stop in self.words.pages:
            first, last = np.searchsorted(self.words.firsts, (start, stop))
            words = GivenWords(self.words.firsts[first:last] - start, ((0, stop - start),))
            yield Tokens(self.ids[start:stop], self.offsets[start:stop], words)

    @classmethod
    def joined(cls, parts: Sequence[Tokens]) -> Tokens:
        """The tokens of a text from those of its chunks, of which it has at least one."""
        if len(parts) == 1:
            return parts[0]
        return cls(np.concatenate([part.ids for part in parts]), np.concatenate([part.offsets for part in parts]))


class TextTokenizer:
    """The fast tokenizer of one model folder, and what the folder asks for in decoding. Thread-safe.

    `rules`: those that the folder asks for; other attributes as in `Vocabulary`. `known`: those that may be shared.

    Raises:
        ModelError: the folder's tokenizer, or its files for decoding or rules, cannot be read.
    """

    def __init__(self, folder: Path, known: Iterable[Vocabulary] = ()) -> None:
        self.vocabulary = vocabulary_of(folder / TOKENIZER_FILE, known)
        self._tokenizer = self.vocabulary.tokenizer
        self.prefix, self.suffix = self.vocabulary.prefix, self.vocabulary.suffix
        self.rules = RuleSet.read(folder)
        self.decoding = read_decoding(folder)

    @property
    def special_tokens(self) -> int:
        return len(self.prefix) + len(self.suffix)

    def encode(self, text: str) -> Tokens:
        """Tokenize a text of any length."""
        return Tokens.joined([self.encode_chunk(text, start, end) for start, end in self.chunks(text)])

    def chunks(self, text: str) -> Iterator[tuple[int, int]]:
        """The chunks `[start, end)` whose tokens, one after another, are the text's."""
        return chunks(text, self.vocabulary.split_points)

    def encode_chunk(self, text: str, start: int, end: int, *, composed: bool = True) -> Tokens:
        """Tokenize one chunk of a text; the offsets count from the text's beginning.

        Args:
            composed: tokenize its composed form, so that accents give the same tokens however they are written; else
                the text as it is, as transformers' pipeline does.
        """
        read = compose(text[start:end]) if composed else ComposedText(text[start:end])
        chunk = read.text
        known = self.vocabulary.token_cache
        if known is not None and len(chunk) <= SHORT_CHARACTERS:
            rows = known.tokens(chunk)
        else:
            rows = rows_of(encoded(self._tokenizer, chunk))
        return Tokens(rows[:, 0].copy(), read.written(rows[:, 1:]) + np.int32(start))

    def windows(self, tokens: int, *, longest: int, overlap: int) -> tuple[Window, ...]:
        """The windows of a text of `tokens` tokens for a model that takes `longest`, special tokens included."""
        window = longest - self.special_tokens
        return split_windows(tokens, window=window, overlap=min(overlap, window // 2))

    def sequences(self, ids: TokenIds, windows: tuple[Window, ...]) -> list[TokenIds]:
        """The input sequence of each window: its token ids between prefix and suffix."""
        return [np.concatenate([self.prefix, ids[w.start : w.stop], self.suffix]) for w in windows]

    def content(self, logits: Logits) -> Logits:
        """A sequence's logits without those of its special tokens."""
        return logits[len(self.prefix) : len(logits) - len(self.suffix)]

    def unknown(self, tokens: Tokens) -> npt.NDArray[np.bool_] | None:
        """True for the tokens whose text the vocabulary has nothing for; None if it has something for every text."""
        unknown = self.vocabulary.unknown_id
        return None if unknown is None else tokens.ids == unknown

    def encoding(self, text: str, tokens: Tokens, *, with_subwords: bool) -> Encoding:
        """The tokens as decoding needs them; `is_subword` is filled in only with `with_subwords`, for `aggregation`."""
        if tokens.words is not None:
            continues = np.ones(len(tokens.ids), dtype=np.bool_)
            continues[tokens.words.firsts] = False
            is_unknown = self.unknown(tokens) if self.decoding.unknown else None
            return Encoding(tokens.offsets, continues, is_unknown, tokens.words.firsts)
        if not with_subwords:
            is_unknown = self.unknown(tokens) if self.decoding.unknown else None
            return Encoding(tokens.offsets, np.zeros(len(tokens.ids), dtype=np.bool_), is_unknown)
        prefix = getattr(self._tokenizer.model, "continuing_subword_prefix", None)
        unknown = getattr(self._tokenizer.model, "unk_token", None)
        return Encoding(
            tokens.offsets,
            subwords(
                [self._tokenizer.id_to_token(token) or "" for token in tokens.ids.tolist()],
                tokens.ids,
                tokens.offsets,
                text,
                continuing_prefix=bool(prefix),
                unk_id=self._tokenizer.token_to_id(unknown) if isinstance(unknown, str) else None,
            ),
        )

    def spellings(self, text: str, tokens: Tokens, start: int, stop: int) -> list[str]:
        """Tokens `[start, stop)` as transformers' pipeline has them: of an unknown one, the text's slice."""
        unknown = getattr(self._tokenizer.model, "unk_token", None)
        unknown_id = self._tokenizer.token_to_id(unknown) if isinstance(unknown, str) else None
        return [
            text[a:b] if token == unknown_id else self._tokenizer.id_to_token(token) or ""
            for token, (a, b) in zip(tokens.ids[start:stop].tolist(), tokens.offsets[start:stop].tolist(), strict=True)
        ]

    @property
    def has_decoder(self) -> bool:
        """Whether the folder says how tokens are put together to words."""
        return self._tokenizer.decoder is not None

    def joined(self, spellings: Sequence[str]) -> str:
        """What transformers' `convert_tokens_to_string` makes of tokens; only with a decoder."""
        words: str = self._tokenizer.decoder.decode(list(spellings))
        return words
