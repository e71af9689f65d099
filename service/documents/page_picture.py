"""A page's picture: what is wanted, and what comes. Values only; `pdf/picture` draws it, in a parser."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from service.documents.limits import MEBIBYTE

MOST_WIDTH = 2_400
MOST_PIXELS = 8_000_000
MOST_PNG_BYTES = 3 * MOST_PIXELS + MEBIBYTE


class PictureWanted(msgspec.Struct, frozen=True):
    """Which page, from 1, is drawn how wide, in pixels."""

    page: int
    width: int


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page as shown (rotation applied): its PNG, its size in points, and how many pages its file has."""

    png: bytes
    width_points: float
    height_points: float
    pages: int
