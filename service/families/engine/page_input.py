"""Page input: makes a model's inputs of the boxes and the picture that a sequence carries beside its token ids.

A sequence of such a model is int32 `[tokens, BOXED]`: an id, and the box of the token's word on its page. The picture
of the page is attached to it (`core/sequences.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_store.families.layout import LARGEST
from service.core.arrays import Pictures, TokenIds
from service.core.errors import InternalError
from service.core.sequences import picture_of, with_picture

FARTHEST = 1_000.0
"""Largest absolute coordinate of a box in shares of its page."""

Boxes = npt.NDArray[np.int64] | npt.NDArray[np.float32]
Colours = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class PictureInput:
    """How pictures enter a model: (number × `factor` − its colour's mean) ÷ its colour's deviation.

    Attributes:
        side: width and height in pixels.
    """

    side: int
    factor: float = 1 / 255
    mean: Colours = (0.5, 0.5, 0.5)
    deviation: Colours = (0.5, 0.5, 0.5)

    def of(self, sequences: Sequence[TokenIds]) -> Pictures:
        """Stack the pictures of sequences: `[sequences, 3, side, side]`."""
        return np.stack([picture for each in sequences if (picture := picture_of(each)) is not None])

    def refuse_others(self, sequence: TokenIds) -> None:
        """Raise InternalError for a sequence without a picture of this size."""
        picture = picture_of(sequence)
        if picture is None or picture.shape != (3, self.side, self.side) or picture.dtype != np.uint8:
            raise InternalError(f"a sequence without its page's picture of {self.side} pixels")


@dataclass(frozen=True, slots=True)
class PageInput:
    """How boxes and pictures enter a model.

    Attributes:
        in_shares: the last columns are the bits of float32 shares of the page; else thousandths of it.
        padding: box of a padding token, in the model's own numbers.
        picture: None for a model that sees no pictures.
    """

    in_shares: bool
    padding: tuple[float, float, float, float]
    picture: PictureInput | None = None

    def boxes(self, sequence: TokenIds) -> Boxes:
        """Read the boxes, as the model takes them, of `[tokens, BOXED]`: `[tokens, 4]`."""
        if self.in_shares:
            return np.ascontiguousarray(sequence[:, 1:]).view(np.float32)
        return sequence[:, 1:].astype(np.int64)

    def padded_boxes(self, sequences: Sequence[TokenIds], longest: int) -> Boxes:
        """Read the boxes of several sequences: `[sequences, longest, 4]`."""
        padded = np.empty((len(sequences), longest, 4), dtype=np.float32 if self.in_shares else np.int64)
        padded[:] = self.padding
        for row, sequence in zip(padded, sequences, strict=True):
            row[: len(sequence)] = self.boxes(sequence)
        return padded

    def refuse_others(self, sequence: TokenIds) -> None:
        """Raise InternalError for a picture or box that the model cannot take; a box may break a CUDA device."""
        if self.picture is not None:
            self.picture.refuse_others(sequence)
        if self.in_shares:
            if not (np.abs(self.boxes(sequence)) <= FARTHEST).all():  # NaN as well.
                raise InternalError("a sequence with a box that is far outside its page, or not a number")
            return
        boxes = sequence[:, 1:]
        ordered = (boxes[:, :2] <= boxes[:, 2:]).all()
        if not ordered or boxes.min() < 0 or boxes.max() > LARGEST:
            raise InternalError(f"a sequence with a box that is not within 0 to {LARGEST}, or reversed")


def example(ids: TokenIds, page: PageInput | None, seed: int = 0) -> TokenIds:
    """Make a sequence of these token ids, with random boxes and a random picture if the model sees them."""
    if page is None:
        return ids
    random = np.random.default_rng(seed)
    corners = random.integers(0, LARGEST + 1, (len(ids), 2, 2)).astype(np.int32)
    corners.sort(axis=1)
    columns = corners.reshape(-1, 4)
    if page.in_shares:
        columns = (columns / LARGEST).astype(np.float32).view(np.int32)
    sequence = np.column_stack([ids, columns])
    if page.picture is None:
        return sequence
    return with_picture(sequence, random.integers(0, 256, (3, page.picture.side, page.picture.side), dtype=np.uint8))
