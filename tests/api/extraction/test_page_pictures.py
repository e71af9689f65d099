"""Pictures of pages for a model that sees them: which are drawn, of what, and what is said of those that cannot be."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pytest

from service.api.extraction.page_pictures import PagePictures
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.options import read_options
from service.api.parsers.pool import ParserPool
from service.core.admission.size import DocumentMemory
from service.core.errors import DocumentTooLarge, GleanerError, InsufficientMemory, UnreadableDocument
from service.core.types import MOST_PICTURE_BYTES
from service.documents.document import Document, Page, PagePicture, PictureRequest, PlacedWords
from service.families.processor import PictureFormat

SEEN = PictureFormat(2, 3)
PIXELS = bytes(range(12))
HELD = object()
WORDS = PlacedWords(np.zeros((0, 2), np.int32), np.zeros((0, 4)))


@dataclass
class FakePool:
    """Parsers that draw the same of everything, unless there is an error."""

    error: GleanerError | None = None
    size: int = 2
    drawn: list[tuple[bytes, PictureRequest, object]] = field(default_factory=list)

    def holding(self) -> AbstractContextManager[object]:
        return nullcontext(HELD)

    async def draw(self, data: bytes, page: PictureRequest, *, held: object = None, **_: Any) -> PagePicture:
        self.drawn.append((data, page, held))
        if self.error is not None:
            raise self.error
        return PagePicture(PIXELS, 9.0, 9.0, 1)


def document(*texts: str) -> Document:
    starts = [sum(map(len, texts[:number])) for number in range(len(texts))]
    pages = (Page(n, at, at + len(text), 9, 9) for n, (at, text) in enumerate(zip(starts, texts, strict=True), start=1))
    return Document("".join(texts), tuple(pages))


def added(pool: FakePool, to: Document, seen: PictureFormat = SEEN, free_bytes: int = 1 << 30) -> Document:
    request = ExtractRequest(cast(Any, None), read_options({}), cast(Any, None), "c", 1e9)
    pictures = PagePictures(cast(ParserPool, pool))
    with DocumentMemory(lambda: free_bytes).lease() as lease:
        return asyncio.run(pictures.added(to, DocumentInput("0", data=b"file"), request, seen, lease))


def test_pages_with_a_text_are_drawn_from_the_file() -> None:
    pool = FakePool()
    first, second, third = added(pool, document("one", " \n", "three")).page_pixels
    assert pool.drawn == [(b"file", PictureRequest(number, 2, 3), HELD) for number in (1, 3)]
    assert second is None
    assert first is not None
    assert third is not None
    assert added(pool, document("one")).page_pixels[0] is not None
    assert pool.drawn[-1][2] is None, "one page alone is drawn by any parser"
    assert first.tolist() == [[[0, 3], [6, 9]], [[1, 4], [7, 10]], [[2, 5], [8, 11]]]


def test_a_callers_own_pictures_are_drawn_and_nothing_else() -> None:
    pool = FakePool()
    own = replace(document("one", "two"), words=WORDS, page_images=(b"", b"picture"))
    first, second = added(pool, own).page_pixels
    assert first is None
    assert second is not None
    assert pool.drawn == [(b"picture", PictureRequest(1, 2, 3), None)]
    assert added(pool, replace(own, page_images=())).page_pixels == (None, None)


def test_a_picture_that_cannot_be_read_is_named_by_its_page() -> None:
    own = replace(document("one", "two"), words=WORDS, page_images=(b"", b"picture"))
    for error in (UnreadableDocument("it is damaged"), DocumentTooLarge("it has far too many pixels")):
        with pytest.raises(type(error), match=f"page 2, image: {error.detail}"):
            added(FakePool(error), own)


def test_more_pictures_than_the_engine_takes_are_refused() -> None:
    pool, seen = FakePool(), PictureFormat(1_024, 2)
    most = MOST_PICTURE_BYTES // (3 * 1_024**2)
    with pytest.raises(DocumentTooLarge, match=f"{most}"):
        added(pool, document(*["a"] * (most + 1)), seen)
    assert not pool.drawn


def test_pictures_for_which_there_is_no_memory_are_not_drawn() -> None:
    pool = FakePool()
    with pytest.raises(InsufficientMemory):
        added(pool, document("one", "two"), free_bytes=2 * 2 * 3 * len(PIXELS) - 1)
    assert pool.drawn == []
    added(pool, document("one", "two"), free_bytes=2 * 2 * 3 * len(PIXELS))
