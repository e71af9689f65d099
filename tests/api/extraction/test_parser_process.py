"""Documents survive the way between the processes; a parser answers file after file."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import IO

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.extraction.parser_process import (
    FileHeader,
    ParsedHeader,
    decode_header,
    frame_prefix,
    from_frames,
    to_frames,
)
from service.documents.document import Document, Layout, Page
from service.documents.limits import DocumentLimits


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
    borders = sorted(draw(st.sets(st.integers(0, len(text)), max_size=4)) | {0, len(text)})
    pages = tuple(Page(number, a, b) for number, (a, b) in enumerate(pairwise(borders), 1))
    if not pages or not draw(st.booleans()):
        return Document(text)
    numbers = draw(
        st.lists(st.floats(0, 1000, width=32) | st.just(float("nan")), min_size=4 * len(text), max_size=4 * len(text))
    )
    boxes = np.array(numbers, dtype=np.float32).reshape(-1, 4)
    return Document(text, pages, Layout(boxes, np.array(borders[:-1], dtype=np.int32)))


@given(documents())
def test_a_document_comes_back_as_it_was(document: Document) -> None:
    head, *arrays = [bytes(part) for part in to_frames(document)]
    boxes, line_starts = arrays or (b"", b"")
    found = from_frames(decode_header(head), boxes, line_starts)
    assert (found.text, found.pages) == (document.text, document.pages)
    assert (found.layout is None) == (document.layout is None)
    if found.layout is not None and document.layout is not None:
        assert np.array_equal(found.layout.boxes, document.layout.boxes, equal_nan=True)
        assert np.array_equal(found.layout.line_starts, document.layout.line_starts)


@given(st.binary(max_size=100))
def test_a_frame_begins_with_its_length(data: bytes) -> None:
    assert struct.unpack("<I", frame_prefix(data)) == (len(data),)


class Parser:
    """A parser process as its pool sees it: frames in, frames out."""

    def __init__(self, source: IO[bytes], sink: IO[bytes]) -> None:
        self._source = source
        self._sink = sink

    def write(self, *parts: bytes) -> None:
        for part in parts:
            self._sink.write(frame_prefix(part) + part)
        self._sink.flush()

    def ask(self, data: bytes, name: str) -> ParsedHeader:
        self.write(msgspec.msgpack.encode(FileHeader(None, name, DocumentLimits(max_characters=1_000))), data)
        length = struct.unpack("<I", self._source.read(4))[0]
        return decode_header(self._source.read(length))


@contextmanager
def parser(memory_bytes: int = 2**31) -> Iterator[tuple[Parser, subprocess.Popen[bytes]]]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "service.api.extraction.parser_process"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        talk = Parser(process.stdout, process.stdin)
        talk.write(struct.pack("<Q", memory_bytes))
        yield talk, process
        process.stdin.close()
        assert process.wait(30) == 0


def test_one_process_answers_file_after_file_and_ends_with_its_input() -> None:
    with parser() as (talk, process):
        assert talk.ask(b"hello", "a.txt") == ParsedHeader(text="hello")
        refused = talk.ask(b"", "b.txt")
        assert (refused.text, refused.error_code) == ("", "unreadable_document")
        assert talk.ask(b"x" * 1_001, "c.txt").error_code == "document_too_large"
        assert talk.ask(b"<p>bye</p>", "d.html").text.strip() == "bye"
        assert process.poll() is None


@pytest.mark.parametrize("memory_bytes", [2**28])
def test_the_smallest_memory_that_may_be_set_is_enough_for_small_files(memory_bytes: int) -> None:
    with parser(memory_bytes) as (talk, _):
        assert talk.ask(b"hello", "a.txt").text == "hello"
        assert talk.ask(b"<p>bye</p>", "d.html").text.strip() == "bye"
