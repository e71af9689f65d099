"""The vocabulary of a tokenizer file: the tokenizer itself, and what was tried out of it when it was read.

Revisions of a model mostly differ in weights alone. To read a tokenizer holds the GIL (0.1 s, of a large multilingual
one 0.5), in which a worker says nothing, so revisions whose files are equal share one vocabulary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from tokenizers import AddedToken, Tokenizer
from tokenizers import Encoding as Encoded

from service.core.arrays import TokenIds
from service.core.errors import ModelError
from service.text.known_words import KnownWords
from service.text.pieces import SEAM_KINDS, WORD_SEAM_KINDS, Seam, SeamKind, Separator, pieces

UNKNOWN_TOKENS = ("[UNK]", "<unk>")
"""What vocabularies call the token for a text that they have nothing for, where their model does not say."""
SHORT_CHARACTERS = 4_096
"""Up to this length the GIL is kept: giving it up costs more than such a text holds others up."""


class Vocabulary:
    """What a tokenizer file says, which many may share. Thread-safe.

    Raises:
        ModelError: it is no tokenizer file.

    Attributes:
        digest: of the file.
        prefix, suffix: special tokens before and after each sequence.
        seams: the places where a long text may be cut without changing its tokens.
        word_seam: where words begin whose tokens are the same in every text; None if that cannot be said.
        known_words: those that came before, with their tokens; None without a word seam.
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
        self.prefix, self.suffix = _special_tokens(self.tokenizer)
        self.seams = _find_seams(self.tokenizer, SEAM_KINDS)
        self.word_seam = _find_word_seam(self.tokenizer)
        encode = partial(encoded, self.tokenizer)  # Not of this object: what is dropped is freed at once.
        self.known_words = None if self.word_seam is None else KnownWords(self.word_seam.kind.pattern, encode)
        self.unknown_id = _find_unknown(self.tokenizer)


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
    """The tokens of a text without special tokens; of a long one without the GIL."""
    if len(text) <= SHORT_CHARACTERS:
        return tokenizer.encode(text, add_special_tokens=False)
    return tokenizer.encode_batch([text], add_special_tokens=False)[0]


def _unreadable(file: Path, error: Exception) -> ModelError:
    return ModelError(f"the tokenizer in {file.parent} cannot be read: {error}")


def _special_tokens(tokenizer: Tokenizer) -> tuple[TokenIds, TokenIds]:
    encoding = tokenizer.encode("a")
    mask = np.array(encoding.special_tokens_mask, dtype=np.bool_)
    ids = np.array(encoding.ids, dtype=np.int32)
    content = np.flatnonzero(~mask)
    if not len(content):
        raise ModelError("the tokenizer gives no token for the letter 'a'")
    return ids[: content[0]], ids[content[-1] + 1 :]


def _find_unknown(tokenizer: Tokenizer) -> int | None:
    named = getattr(tokenizer.model, "unk_token", None)
    names = (named,) if isinstance(named, str) else UNKNOWN_TOKENS
    return next((found for name in names if (found := tokenizer.token_to_id(name)) is not None), None)


def _find_seams(tokenizer: Tokenizer, kinds: Sequence[SeamKind]) -> tuple[Seam, ...]:
    """Those of the kinds of places where this tokenizer's texts may be cut."""
    added = list(tokenizer.get_added_tokens_decoder().values())
    if any(map(_reaches_out, added)):
        return ()
    whole = [kind for kind in kinds if not any(kind.pattern.search(f"a{each.content}a") for each in added)]
    found = (_seam(tokenizer, kind) for kind in whole if _splits_at(tokenizer, kind))
    return tuple(seam for seam in found if seam is not None)


def _find_word_seam(tokenizer: Tokenizer) -> Seam | None:
    """Where words begin whose tokens are the same in every text; None where their white space is not their own."""
    found = _find_seams(tokenizer, WORD_SEAM_KINDS)
    return next((seam for seam in found if seam.separator is Separator.WITH_NEXT), None)


def _splits_at(tokenizer: Tokenizer, kind: SeamKind) -> bool:
    """True if no pre-token of the kind's probe reaches across a place, whatever white space becomes."""
    normalizer, splitter = tokenizer.normalizer, tokenizer.pre_tokenizer
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


def _seam(tokenizer: Tokenizer, kind: SeamKind) -> Seam | None:
    """The way to cut at places of a kind that leaves its probe's tokens as they are, if there is one."""
    whole = tokenizer.encode(kind.probe, add_special_tokens=False)
    for seam in (Seam(kind, separator) for separator in Separator):
        parts = [
            (start, tokenizer.encode(kind.probe[start:end], add_special_tokens=False))
            for start, end in pieces(kind.probe, (seam,), shortest=1)
        ]
        ids = [token for _, part in parts for token in part.ids]
        offsets = [(start + a, start + b) for start, part in parts for a, b in part.offsets]
        if ids == whole.ids and offsets == whole.offsets:
            return seam
    return None


def _reaches_out(token: AddedToken) -> bool:
    """True for an added token that looks at what is around it, and is not kept from letters and marks by brackets."""
    looks = token.lstrip or token.rstrip or token.single_word
    return looks and not (token.content[:1] in "[<" and token.content[-1:] in "]>")
