"""Pages that a text layer leaves unread are recognized, each as a job: which, how many at once, what fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest

from service.api.extraction.ocr import PageRecognizer
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.trace import PageProgress, RequestTrace
from service.api.options import read_options
from service.api.parsers.frames import FileHeader
from service.api.parsers.pool import ParserPool
from service.core.errors import DocumentTooLarge, GleanerError, InvalidOptions, QueueFull, UnreadableDocument
from service.documents.document import Document, Layout, Page, PartlyRead, RecognizedPage, UnreadReason
from service.documents.limits import DocumentLimits


def layout(text: str, confidence: float | None = None) -> Layout:
    sure = None if confidence is None else np.full(len(text), confidence, np.float32)
    return Layout(np.zeros((len(text), 4), np.float32), np.zeros(1, np.int32), sure)


def paged(*texts: str, unread: tuple[int, ...] = (), partly: tuple[int, ...] = ()) -> Document:
    whole = "\n\n".join(texts)
    starts = [sum(len(each) + 2 for each in texts[:number]) for number in range(len(texts))]
    pages = tuple(Page(n + 1, at, at + len(text), 9, 9) for n, (at, text) in enumerate(zip(starts, texts, strict=True)))
    parts = tuple(PartlyRead(number, UnreadReason.IMAGE, ()) for number in partly)
    return Document(whole, pages, layout(whole), unread, parts)


@dataclass
class FakePool:
    """Parsers that read this document, and recognize a page as its number, unless an error is set for it."""

    document: Document
    errors: dict[int, GleanerError] = field(default_factory=dict)
    size: int = 2
    asked: list[tuple[int, ...] | None] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    recognized: str = "page {}"

    def holding(self) -> AbstractContextManager[object]:
        return nullcontext(object())

    async def parse(
        self, _: bytes, header: FileHeader, *, on_ran: Callable[[float], None] = lambda _: None, **__: Any
    ) -> Document:
        ocr_pages = header.ocr_pages
        on_ran(sum(ocr_pages or (0.5,)))
        self.asked.append(ocr_pages)
        if not ocr_pages:
            return self.document
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        (number,) = ocr_pages
        if number in self.errors:
            raise self.errors[number]
        text = self.recognized.format(number)
        recognized = (RecognizedPage(number, 0.98, 0, 0.0),)
        return Document(text, (Page(number, 0, len(text), 9, 9),), layout(text, 0.98), recognized=recognized)


def read(
    pool: FakePool,
    *,
    is_available: bool = True,
    most_pages: int = 10,
    max_characters: int = 1_000_000,
    progress: PageProgress | None = None,
    trace: RequestTrace | None = None,
    **options: Any,
) -> Document:
    limits = DocumentLimits(max_characters=max_characters)
    ocr = PageRecognizer(cast(ParserPool, pool), limits, is_available=is_available, most_pages=most_pages)
    request = ExtractRequest(cast(Any, None), read_options(options), cast(Any, None), "c", 1e9, trace=trace)
    return asyncio.run(ocr.read(DocumentInput("0", data=b"x"), request, progress or PageProgress()))


def test_the_pages_that_were_not_read_are_recognized() -> None:
    pool = FakePool(paged("first", "", "half", unread=(2,), partly=(3,)))
    found = read(pool)
    assert found.text == "first\n\npage 2\n\npage 3"
    assert (found.incomplete_pages, [each.page for each in found.recognized]) == ((), [2, 3])
    assert found.pages is not None
    assert [found.text[page.start : page.end] for page in found.pages] == ["first", "page 2", "page 3"]
    assert found.confidence(0, 5) is None
    assert found.confidence(7, 13) == pytest.approx(0.98)
    assert sorted(pool.asked, key=str) == [(), (2,), (3,)]


@pytest.mark.parametrize("unread", [(), (1,)])
def test_the_seconds_of_recognition_say_nothing_of_the_services_speed(unread: tuple[int, ...]) -> None:
    trace = RequestTrace("r", 0.0)
    read(FakePool(paged("first", unread=unread)), trace=trace)
    assert trace.is_untimed is bool(unread)


def test_pages_are_counted_as_they_are_done_also_those_that_fail() -> None:
    progress = PageProgress()
    read(
        FakePool(paged("first", "", "half", unread=(2,), partly=(3,)), {2: UnreadableDocument("damaged")}),
        progress=progress,
    )
    assert (progress.done, progress.count) == (2, 2)
    untouched = PageProgress()
    read(FakePool(paged("first")), progress=untouched)
    assert (untouched.done, untouched.count) == (0, 0)


def test_pages_take_an_idle_worker_their_longest_or_their_share() -> None:
    """Here each page takes as many seconds as its number, and the file itself half a one; two parsers read them."""
    for pages, seconds in (((2,), 0.5 + 2), ((2, 3, 7), 0.5 + 7), ((2, 3, 4), 0.5 + 4.5)):
        progress = PageProgress()
        read(FakePool(paged("1", *["" for _ in range(6)], unread=pages)), progress=progress)
        assert progress.parser_seconds == pytest.approx(seconds)


def test_pictures_of_a_file_without_pages_are_recognized_each_once() -> None:
    pool = FakePool(Document("first last", pictures=((5, 7), (10, 3), (10, 7))))
    found = read(pool)
    assert found.text == "first\npage 7\nlast\npage 3\npage 7"
    assert found.confidence(0, 5) is None
    assert found.confidence(6, 12) == pytest.approx(0.98)
    assert sorted(pool.asked, key=str) == [(), (3,), (7,)]


def test_a_picture_in_many_places_counts_in_each() -> None:
    pool = FakePool(Document("a", pictures=((1, 7),) * 100))
    with pytest.raises(DocumentTooLarge):
        read(pool, max_characters=500)


@pytest.mark.parametrize(("count", "errors"), [(11, {}), (2, {2: UnreadableDocument("damaged")})])
def test_pictures_over_the_limit_or_damaged_are_named(count: int, errors: dict[int, GleanerError]) -> None:
    found = read(FakePool(Document("a", pictures=tuple((1, number) for number in range(1, count + 1))), errors))
    assert [(part.page, part.reason) for part in found.partly_read] == [(None, UnreadReason.IMAGE)]
    assert len(found.recognized) == min(count, 10) - len(errors)
    with pytest.raises(UnreadableDocument, match="damaged"):
        read(FakePool(Document("", pictures=((0, 1),)), {1: UnreadableDocument("damaged")}))


def test_a_document_that_was_read_in_full_costs_nothing_more() -> None:
    pool = FakePool(paged("first"))
    assert read(pool).text == "first"
    assert pool.asked == [()]


@pytest.mark.parametrize(("options", "is_available"), [({"ocr": "off"}, True), ({}, False)])
def test_nothing_is_recognized_unless_it_may_be(options: dict[str, Any], *, is_available: bool) -> None:
    pool = FakePool(paged("first", "", unread=(2,)))
    assert read(pool, is_available=is_available, **options).unread_pages == (2,)
    assert pool.asked == [None]


def test_all_pages_are_recognized_by_force() -> None:
    pool = FakePool(paged("first", "second"))
    assert read(pool, ocr="force").text == "page 1\n\npage 2"
    with pytest.raises(InvalidOptions, match="started without OCR"):
        read(pool, is_available=False, ocr="force")
    assert read(FakePool(Document("a text without pages")), ocr="force").text == "a text without pages"


def test_a_page_that_kills_its_parser_stays_unread_alone() -> None:
    errors: dict[int, GleanerError] = {2: UnreadableDocument("The file crashes its parser.")}
    found = read(FakePool(paged("", "", "", unread=(1, 2, 3)), errors))
    assert (found.text, found.unread_pages) == ("page 1\n\n\n\npage 3", (2,))


def test_a_refusal_ends_the_document() -> None:
    with pytest.raises(QueueFull, match="too much"):
        read(FakePool(paged("", "", unread=(1, 2)), {1: QueueFull("too much")}))


def test_no_more_pages_at_once_than_there_are_parsers() -> None:
    pool = FakePool(paged(*[""] * 9, unread=tuple(range(1, 10))))
    read(pool)
    assert pool.most_at_once == pool.size


def test_of_many_partly_read_pages_the_first_are_recognized() -> None:
    found = read(FakePool(paged(*["text"] * 11, partly=tuple(range(1, 12)))))
    assert [each.page for each in found.recognized] == list(range(1, 11))
    assert found.incomplete_pages == (11,)


def test_too_many_pages_are_refused_and_nothing_at_all_is_an_error() -> None:
    with pytest.raises(DocumentTooLarge, match=r"11 pages .* the limit is 10"):
        read(FakePool(paged(*[""] * 11, unread=tuple(range(1, 12)))))
    with pytest.raises(UnreadableDocument, match="longer than 60 s"):
        read(FakePool(paged("", unread=(1,)), {1: UnreadableDocument("Reading the file took longer than 60 s.")}))
    blank = FakePool(paged("", unread=(1,)))
    blank.recognized = ""
    with pytest.raises(UnreadableDocument, match="No text was recognized"):
        read(blank)
