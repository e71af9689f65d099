"""Sequences of a document as they travel to the engine: end to end in one buffer, then the pictures of its pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from service.core.arrays import Pictures, TokenIds, columns_in
from service.core.types import MOST_PICTURE_BYTES, ResponseKind, Submission


class Pictured(np.ndarray[Any, np.dtype[np.int32]]):
    """A sequence with its page's picture, `[3, side, side]`, which its copies and views have too.

    Or several sequences end to end, with the pictures of all pages.
    """

    picture: Pictures | None

    def __array_finalize__(self, of: object) -> None:
        self.picture = picture_of(of)


def picture_of(sequence: object) -> Pictures | None:
    """Return a sequence's picture or pictures; None without any."""
    return getattr(sequence, "picture", None)


def with_picture(sequence: TokenIds, picture: Pictures) -> TokenIds:
    """Attach its page's picture to a sequence. Sequences of a page should share one array: each array is sent once."""
    pictured = sequence.view(Pictured)
    pictured.picture = picture
    return pictured


def pictures_in(sequences: Sequence[TokenIds]) -> tuple[tuple[int, ...], list[Pictures]]:
    """Number the pictures of sequences: each sequence's number, and each picture once; nothing unless all have one."""
    every = [found for each in sequences if (found := picture_of(each)) is not None]
    if len(every) < len(sequences):
        return (), []
    different = {id(each): each for each in every}
    numbers = {identity: number for number, identity in enumerate(different)}
    return tuple(numbers[id(each)] for each in every), list(different.values())


def shape_of(sequences: Sequence[TokenIds]) -> dict[str, Any]:
    """Make the fields of a submission that describe its sequences."""
    numbers, pictures = pictures_in(sequences)
    side = pictures[0].shape[-1] if pictures else 0
    lengths, columns = tuple(map(len, sequences)), columns_in(sequences[0])
    return {"lengths": lengths, "columns": columns, "picture_of": numbers, "picture_side": side}


def joined(sequences: Sequence[TokenIds]) -> npt.NDArray[np.int32]:
    """Make the buffer of a submission: its tokens, then the bytes of its pictures."""
    _, pictures = pictures_in(sequences)
    pixels = [np.ascontiguousarray(each).reshape(-1).view(np.int32) for each in pictures]
    return np.concatenate([*(each.reshape(-1) for each in sequences), *pixels])


def divided(submission: Submission, buffer: npt.NDArray[np.int32]) -> TokenIds:
    """Read a submission's buffer: the tokens of all sequences end to end, with its pictures if it has any."""
    numbers, side = submission.columns * submission.tokens, submission.picture_side
    tokens = buffer[:numbers] if submission.columns == 1 else buffer[:numbers].reshape(-1, submission.columns)
    if not submission.picture_of:
        return tokens
    return with_picture(tokens, buffer[numbers:].view(np.uint8).reshape(-1, 3, side, side))


def contradiction(submission: Submission, buffer_bytes: int) -> str | None:
    """Name a contradiction among the fields of a submission, or with the bytes of its buffer."""
    sequences, side, pictured = len(submission.lengths), submission.picture_side, len(submission.picture_of)
    if pictured != (sequences if side else 0):
        return f"{pictured} of {sequences} sequences have pictures of {side} pixels"
    if submission.picture_bytes > MOST_PICTURE_BYTES:
        return f"pictures of {submission.picture_bytes} bytes"
    if submission.buffer_bytes != buffer_bytes:
        return f"{buffer_bytes} bytes for tokens and pictures of {submission.buffer_bytes}"
    if submission.response_kind is ResponseKind.WORD_TAGS and sequences > 1:
        return f"tags of {sequences} sequences"
    return None
