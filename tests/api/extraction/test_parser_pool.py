"""The pool with its real processes: they are killed, they hang, they run out of memory, and the pool goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable

import pytest

from service.api.extraction.parser_pool import ParseLimits, ParserPool
from service.core.errors import DocumentTooLarge, UnreadableDocument, UnsupportedFormat
from service.documents.limits import MEBIBYTE, DocumentLimits
from tests.support.document_files import simple_docx, simple_pdf
from tests.support.processes import children_of, command_of

LIMIT_SECONDS = 240.0
HANG_SECONDS = 4.0
"""Long enough for a parser to start on a busy machine; a test that lets one hang waits for it once."""

Scene = Callable[[ParserPool], Awaitable[None]]


def play(
    scene: Scene,
    *,
    size: int = 1,
    seconds: float = 30.0,
    memory_bytes: int = 2**31,
    limits: DocumentLimits | None = None,
) -> int:
    """Run a scene with a fresh pool; returns how many deaths it noted."""
    deaths = 0

    def died() -> None:
        nonlocal deaths
        deaths += 1

    async def whole() -> None:
        pool = ParserPool(size, ParseLimits(limits or DocumentLimits(), seconds, memory_bytes), died)
        await pool.start()
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                while len(parsers()) < size:  # For a moment a process that has just been started has no command line.
                    await asyncio.sleep(0.001)
                await scene(pool)
        finally:
            await pool.stop()
        assert not parsers(), "a parser was left behind"

    asyncio.run(whole())
    return deaths


def parsers() -> list[int]:
    """The parser processes that this process has started."""
    return [pid for pid in children_of(os.getpid()) if "service.api.extraction.parser_process" in command_of(pid)]


async def text(pool: ParserPool, data: bytes, name: str) -> str:
    return (await pool.parse(data, None, name)).text


def test_files_become_documents_with_pages_where_they_have_them() -> None:
    async def scene(pool: ParserPool) -> None:
        plain = await pool.parse("héllo 😀".encode(), "text/plain; charset=utf-8", None)
        assert (plain.text, plain.pages) == ("héllo 😀", None)
        paged = await pool.parse(simple_pdf("Anna Smith"), None, "a.pdf")
        assert paged.pages is not None
        assert paged.text.strip() == "Anna Smith"
        assert paged.boxes(0, 4)
        assert "Berlin" in await text(pool, simple_docx("Berlin"), "a.docx")

    assert play(scene) == 0


def test_a_refusal_crosses_the_process_border_and_costs_no_process() -> None:
    async def scene(pool: ParserPool) -> None:
        before = parsers()
        with pytest.raises(UnreadableDocument, match="empty"):
            await pool.parse(b"", None, "a.pdf")
        with pytest.raises(UnsupportedFormat):
            await pool.parse(bytes(range(256)) * 4, "image/png", None)
        with pytest.raises(DocumentTooLarge, match="characters"):
            await pool.parse(b"x" * 11, None, "a.txt")
        assert await text(pool, b"hello", "a.txt") == "hello"
        assert parsers() == before

    assert play(scene, limits=DocumentLimits(max_characters=10)) == 0


def test_many_files_through_two_parsers_come_back_to_their_callers() -> None:
    async def scene(pool: ParserPool) -> None:
        before = parsers()
        assert len(before) == 2
        texts = [f"file {number} " * (number * 50 + 1) for number in range(40)]
        found = await asyncio.gather(*(text(pool, each.encode(), "a.txt") for each in texts))
        assert found == texts
        assert parsers() == before

    assert play(scene, size=2) == 0


def test_a_killed_parser_costs_its_file_a_second_try() -> None:
    async def scene(pool: ParserPool) -> None:
        assert await text(pool, b"warm", "a.txt") == "warm"
        os.kill(parsers()[0], signal.SIGKILL)
        assert await text(pool, b"hello", "a.txt") == "hello"

    assert play(scene) <= 1  # None, where the death was noticed before the file was sent.


def test_a_file_that_kills_two_parsers_is_refused_and_the_pool_goes_on() -> None:
    async def scene(pool: ParserPool) -> None:
        async def kill_two() -> None:
            killed: set[int] = set()
            while len(killed) < 2:
                for pid in set(parsers()) - killed:
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)
                await asyncio.sleep(0.001)

        os.kill(parsers()[0], signal.SIGSTOP)
        parsing = asyncio.create_task(text(pool, b"hello", "a.txt"))
        await kill_two()
        with pytest.raises(UnreadableDocument, match="crashes its parser"):
            await parsing
        assert await text(pool, b"hello", "a.txt") == "hello"

    assert play(scene) == 2


def test_a_file_over_the_time_limit_is_refused_and_the_pool_goes_on() -> None:
    async def scene(pool: ParserPool) -> None:
        hanging = parsers()[0]
        os.kill(hanging, signal.SIGSTOP)
        begun = time.monotonic()
        with pytest.raises(UnreadableDocument, match=r"longer than 4 s"):
            await pool.parse(b"hello", None, "a.txt")
        assert time.monotonic() - begun >= HANG_SECONDS
        assert hanging not in parsers()
        assert await text(pool, b"hello", "a.txt") == "hello"

    assert play(scene, seconds=HANG_SECONDS) == 1


def test_an_abandoned_file_does_not_answer_the_next_one() -> None:
    async def scene(pool: ParserPool) -> None:
        os.kill(parsers()[0], signal.SIGSTOP)
        abandoned = asyncio.create_task(text(pool, b"mine", "a.txt"))
        waiting = asyncio.create_task(text(pool, b"yours", "a.txt"))
        await asyncio.sleep(0)  # Lets the first one take the only parser.
        abandoned.cancel()
        with pytest.raises(asyncio.CancelledError):
            await abandoned
        assert await waiting == "yours"

    assert play(scene) == 0


def test_a_file_over_the_memory_limit_is_refused_and_the_pool_goes_on() -> None:
    large = DocumentLimits(max_bytes=128 * MEBIBYTE, max_characters=128 * MEBIBYTE)

    async def scene(pool: ParserPool) -> None:
        with pytest.raises(UnreadableDocument, match="memory"):
            await pool.parse(b"ab " * (20 * MEBIBYTE), None, "a.txt")
        with pytest.raises(UnreadableDocument, match="memory"):  # lxml stops in the middle and only logs it.
            await pool.parse(b"<p>x</p>" * (4 * MEBIBYTE), "text/html", "a.html")
        assert await text(pool, b"hello", "a.txt") == "hello"

    play(scene, seconds=LIMIT_SECONDS, memory_bytes=2**28, limits=large)


def test_a_pool_that_stops_in_the_middle_leaves_no_process() -> None:
    async def scene(pool: ParserPool) -> None:
        os.kill(parsers()[0], signal.SIGSTOP)
        parsing = asyncio.create_task(text(pool, b"hello", "a.txt"))
        await asyncio.sleep(0)
        parsing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await parsing

    play(scene)
