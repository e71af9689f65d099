"""A model's tokenizer: text to token ids with offsets, and token ids to windows with special tokens around each.

A text is encoded as a whole, without special tokens, and then cut into windows. A long text is encoded piece by piece
(`pieces`), and without the GIL, so that it neither stops other threads nor takes more memory than its tokens; where it
may be cut without changing them is tried out when the tokenizer is loaded. Of a short text, the words that came before
are looked up (`known_words`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import AddedToken, Tokenizer
from tokenizers import Encoding as Encoded

from service.core.arrays import Logits, TokenIds
from service.core.decoding.aggregation_strategies import subwords
from service.core.decoding.tokens import Encoding
from service.core.decoding.windows import Window, split_windows
from service.core.errors import ModelError
from service.text.decoding_files import read_decoding
from service.text.known_words import KnownWords, rows_of
from service.text.pieces import SEAM_KINDS, WORD_SEAM_KINDS, Seam, SeamKind, Separator, pieces
from service.text.rules.rule_set import RuleSet

UNKNOWN_TOKENS = ("[UNK]", "<unk>")
"""What vocabularies call the token for a text that they have nothing for, where their model does not say."""
SHORT_CHARACTERS = 4_096
"""Up to this length the GIL is kept: giving it up costs more than such a text holds others up."""


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """A text's tokens without special tokens: ids int32 `[tokens]`, offsets int32 `[tokens, 2]` in code points."""

    ids: TokenIds
    offsets: npt.NDArray[np.int32]

    @classmethod
    def joined(cls, parts: Sequence[Tokens]) -> Tokens:
        """The tokens of a text from those of its pieces, of which it has at least one."""
        if len(parts) == 1:
            return parts[0]
        return cls(np.concatenate([part.ids for part in parts]), np.concatenate([part.offsets for part in parts]))


class TextTokenizer:
    """The fast tokenizer of one model folder, and what the folder asks for in decoding. Thread-safe.

    `prefix` and `suffix` are the special tokens before and after each sequence, `rules` those that the folder asks for.
    `seams` are the places where a long text is cut, `word_seam` where words begin that are looked up in a short one.

    Raises:
        ModelError: the folder's tokenizer, or its files for decoding or rules, cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:
            raise ModelError(f"the tokenizer in {folder} cannot be read: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.prefix, self.suffix = self._special_tokens()
        self.seams = self._find_seams(SEAM_KINDS)
        self.word_seam = self._find_word_seam()
        encode = partial(_encoded, self._tokenizer)  # Not of this object: what is dropped is freed at once.
        self._known_words = None if self.word_seam is None else KnownWords(self.word_seam.kind.pattern, encode)
        self.rules = RuleSet.read(folder)
        self.decoding = read_decoding(folder)
        self._unknown_id = self._find_unknown()

    @property
    def special_tokens(self) -> int:
        """The number of special tokens of every sequence."""
        return len(self.prefix) + len(self.suffix)

    def encode(self, text: str) -> Tokens:
        """Tokenize a text of any length."""
        return Tokens.joined([self.encode_piece(text, start, end) for start, end in self.pieces(text)])

    def pieces(self, text: str) -> Iterator[tuple[int, int]]:
        """The pieces `[start, end)` whose tokens, one after another, are the text's."""
        return pieces(text, self.seams)

    def encode_piece(self, text: str, start: int, end: int) -> Tokens:
        """Tokenize one piece of a text; the offsets count from the text's beginning."""
        piece = text[start:end]
        if self._known_words is not None and len(piece) <= SHORT_CHARACTERS:
            rows = self._known_words.tokens(piece)
        else:
            rows = rows_of(_encoded(self._tokenizer, piece))
        return Tokens(rows[:, 0].copy(), rows[:, 1:] + np.int32(start))

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
        return None if self._unknown_id is None else tokens.ids == self._unknown_id

    def encoding(self, text: str, tokens: Tokens, *, with_subwords: bool) -> Encoding:
        """The tokens as decoding needs them; `is_subword` is filled in only with `with_subwords`, for `aggregation`."""
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

    def joined(self, spellings: Sequence[str]) -> str:
        """What transformers' `convert_tokens_to_string` makes of tokens."""
        decoder = self._tokenizer.decoder
        if decoder is None:
            return " ".join(spellings)
        words: str = decoder.decode(list(spellings))
        return words

    def _special_tokens(self) -> tuple[TokenIds, TokenIds]:
        encoding = self._tokenizer.encode("a")
        mask = np.array(encoding.special_tokens_mask, dtype=np.bool_)
        ids = np.array(encoding.ids, dtype=np.int32)
        content = np.flatnonzero(~mask)
        if not len(content):
            raise ModelError("the tokenizer gives no token for the letter 'a'")
        return ids[: content[0]], ids[content[-1] + 1 :]

    def _find_unknown(self) -> int | None:
        named = getattr(self._tokenizer.model, "unk_token", None)
        names = (named,) if isinstance(named, str) else UNKNOWN_TOKENS
        return next((found for name in names if (found := self._tokenizer.token_to_id(name)) is not None), None)

    def _find_seams(self, kinds: Sequence[SeamKind]) -> tuple[Seam, ...]:
        """Those of the kinds of places where this tokenizer's texts may be cut."""
        added = list(self._tokenizer.get_added_tokens_decoder().values())
        if any(map(_reaches_out, added)):
            return ()
        whole = [kind for kind in kinds if not any(kind.pattern.search(f"a{each.content}a") for each in added)]
        found = (self._seam(kind) for kind in whole if self._splits_at(kind))
        return tuple(seam for seam in found if seam is not None)

    def _find_word_seam(self) -> Seam | None:
        """Where words begin whose tokens are the same in every text; None where their white space is not their own."""
        found = self._find_seams(WORD_SEAM_KINDS)
        return next((seam for seam in found if seam.separator is Separator.WITH_NEXT), None)

    def _splits_at(self, kind: SeamKind) -> bool:
        """True if no pre-token of the kind's probe reaches across a place, whatever white space becomes."""
        normalizer, splitter = self._tokenizer.normalizer, self._tokenizer.pre_tokenizer
        if splitter is None:
            return False
        normal = str if normalizer is None else normalizer.normalize_str
        text = normal(kind.probe)
        spans = [span for _, span in splitter.pre_tokenize_str(text)]
        places = [
            (len(normal(kind.probe[: found.start()])), len(text) - len(normal(kind.probe[found.end() :])))
            for found in kind.pattern.finditer(kind.probe)
        ]
        return not any(start < left and end > right for start, end in spans for left, right in places)

    def _seam(self, kind: SeamKind) -> Seam | None:
        """The way to cut at places of a kind that leaves its probe's tokens as they are, if there is one."""
        whole = self._tokenizer.encode(kind.probe, add_special_tokens=False)
        for seam in (Seam(kind, separator) for separator in Separator):
            parts = [
                (start, self._tokenizer.encode(kind.probe[start:end], add_special_tokens=False))
                for start, end in pieces(kind.probe, (seam,), shortest=1)
            ]
            ids = [token for _, part in parts for token in part.ids]
            offsets = [(start + a, start + b) for start, part in parts for a, b in part.offsets]
            if ids == whole.ids and offsets == whole.offsets:
                return seam
        return None


def _encoded(tokenizer: Tokenizer, text: str) -> Encoded:
    """The tokens of a text without special tokens; of a long one without the GIL."""
    if len(text) <= SHORT_CHARACTERS:
        return tokenizer.encode(text, add_special_tokens=False)
    return tokenizer.encode_batch([text], add_special_tokens=False)[0]


def _reaches_out(token: AddedToken) -> bool:
    """True for an added token that looks at what is around it, and is not kept from letters and marks by brackets."""
    looks = token.lstrip or token.rstrip or token.single_word
    return looks and not (token.content[:1] in "[<" and token.content[-1:] in "]>")


class Tokenizers:
    """A cache of tokenizers by revision. Thread-safe."""

    def __init__(self) -> None:
        self._loaded: dict[str, TextTokenizer] = {}

    def get(self, revision: str, folder: Path) -> TextTokenizer:
        """The tokenizer of a revision, read from its folder the first time."""
        return self.loaded(revision) or self._loaded.setdefault(revision, TextTokenizer(folder))

    def loaded(self, revision: str) -> TextTokenizer | None:
        """The tokenizer of a revision, if it has been read already."""
        return self._loaded.get(revision)

    def replace(self, folders: Mapping[str, Path]) -> None:
        """Read the tokenizers of new revisions, and drop those of all revisions that are not named.

        Where none is named, an engine starts anew, most likely with the same ones, and to read one holds the GIL.
        """
        for revision, folder in folders.items():
            self.get(revision, folder)
        if not folders:
            return
        for revision in set(self._loaded) - set(folders):
            self._loaded.pop(revision, None)
