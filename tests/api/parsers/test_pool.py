"""The pool with its real processes: they are killed, they hang, they run out of memory, and the pool goes on."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest

from service.api.parsers import zygote_client
from service.api.parsers.frames import LENGTH, FileHeader, frame_prefix, to_frames
from service.api.parsers.parser import Parser
from service.api.parsers.pool import ParseLimits, ParserPool
from service.api.parsers.zygote import Order
from service.api.parsers.zygote_client import START_TRIES, IdleParserPool
from service.core.errors import (
    DeadlineExceeded,
    DocumentTooLarge,
    InternalError,
    InvalidOptions,
    QueueFull,
    UnreadableDocument,
    UnsupportedFormat,
)
from service.core.tenants import ANONYMOUS
from service.documents.document import Document, PictureRequest
from service.documents.limits import MEBIBYTE, DocumentLimits
from service.sandbox.apply import SandboxMode
from tests.support.document_files import simple_docx, simple_pdf
from tests.support.parsers import LIMIT_SECONDS, PoolSetup, fresh, parsers_of, play, with_pool, zygotes_of
from tests.support.processes import children_of

PLAIN = FileHeader(None, "a.txt", DocumentLimits())
HANG_SECONDS = 0.5
"""Limit of processor time; a test that lets a parser hang waits for `STALL_LIMITS` times as long."""


def parsers() -> list[int]:
    return parsers_of(os.getpid())


async def parse(
    pool: ParserPool, data: bytes, name: str | None = None, *, kind: str | None = None, client: str = "c"
) -> Document:
    header = FileHeader(kind, name, pool.document_limits)
    return await pool.parse(data, header, client=client, deadline_seconds=time.monotonic() + LIMIT_SECONDS)


async def text(pool: ParserPool, data: bytes, name: str = "a.txt", client: str = "c") -> str:
    return (await parse(pool, data, name, client=client)).text


@pytest.mark.parametrize("mode", [SandboxMode.OFF, SandboxMode.REQUIRE])
def test_files_become_documents_with_pages_where_they_have_them(mode: SandboxMode) -> None:
    """By default: all other tests, which also read and draw such files."""

    async def scene(pool: ParserPool) -> None:
        plain = await parse(pool, "héllo 😀".encode(), kind="text/plain; charset=utf-8")
        assert (plain.text, plain.pages) == ("héllo 😀", None)
        paged = await parse(pool, simple_pdf("Anna Smith"), "a.pdf")
        assert paged.pages is not None
        assert paged.text.strip() == "Anna Smith"
        assert paged.boxes(0, 4)
        assert "Berlin" in await text(pool, simple_docx("Berlin"), "a.docx")

    assert play(scene, PoolSetup(mode=mode)) == 0


@with_pool(limits=DocumentLimits(max_characters=10), deaths=(0,))
async def test_a_refusal_crosses_the_process_border(pool: ParserPool) -> None:
    with pytest.raises(UnreadableDocument, match="empty"):
        await parse(pool, b"", "a.pdf")
    with pytest.raises(UnsupportedFormat):
        await parse(pool, bytes(range(256)) * 4, kind="image/png")
    with pytest.raises(DocumentTooLarge, match="characters"):
        await parse(pool, b"x" * 11, "a.txt")
    assert await text(pool, b"hello") == "hello"


@with_pool(size=2, files=4, deaths=(0,))
async def test_many_files_through_two_parsers_come_back_to_their_callers(pool: ParserPool) -> None:
    texts = [f"file {number} " * (number * 50 + 1) for number in range(40)]
    found = await asyncio.gather(*(text(pool, each.encode()) for each in texts))
    assert found == texts


@with_pool(files=3, deaths=(0,))
async def test_a_parser_reads_files_of_one_client_only_and_not_for_ever(pool: ParserPool) -> None:
    first = parsers()[0]
    for _ in range(2):
        await text(pool, b"hello", client="a")
        assert first in parsers(), "it is kept for its client's next file"
    await text(pool, b"hello", client="b")
    await text(pool, b"hello", client="a")
    while first in parsers():  # That was its third file.
        await asyncio.sleep(0.001)


@pytest.mark.parametrize(("client", "files"), [(ANONYMOUS, 16), ("a", 1)])
def test_where_clients_have_no_names_each_file_has_its_own_parser(client: str, files: int) -> None:
    async def scene(pool: ParserPool) -> None:
        for _ in range(3):
            reading = (await fresh())[0]
            await text(pool, b"hello", client=client)
            while reading in parsers():
                await asyncio.sleep(0.001)

    assert play(scene, PoolSetup(files=files)) == 0


@with_pool(files=16, deaths=(0,))
async def test_a_parser_whose_file_was_bad_reads_no_other(pool: ParserPool) -> None:
    reading = parsers()[0]
    with pytest.raises(UnreadableDocument):
        await text(pool, b"%PDF-1.4 nothing", "a.pdf")
    while reading in parsers():
        await asyncio.sleep(0.001)


@with_pool(deaths=(1, 2))
async def test_a_parser_killed_over_a_file_costs_a_second_try(pool: ParserPool) -> None:
    os.kill(parsers()[0], signal.SIGKILL)
    assert await text(pool, b"hello") == "hello"
    reading = (await fresh())[0]
    os.kill(reading, signal.SIGSTOP)
    parsing = asyncio.create_task(text(pool, b"hello"))
    await asyncio.sleep(0.01)
    os.kill(reading, signal.SIGKILL)
    assert await parsing == "hello"


@with_pool(reader="tests.support.hostile_readers:crash", deaths=(4,))
async def test_a_file_that_kills_two_parsers_is_refused_and_the_pool_goes_on(pool: ParserPool) -> None:
    """Also one over which its reader only fails."""
    for order in (b"crash", b"raise"):
        with pytest.raises(UnreadableDocument, match="crashes its parser"):
            await text(pool, order)
        assert await text(pool, b"hello") == "hello"


def test_a_killed_zygote_is_replaced() -> None:
    async def scene(pool: ParserPool) -> None:
        assert await text(pool, b"hello") == "hello"
        for _ in range(2):
            zygote = zygotes_of(os.getpid())[0]
            os.kill(zygote, signal.SIGKILL)
            while zygote in zygotes_of(os.getpid()):
                await asyncio.sleep(0.001)
            assert await text(pool, b"hello") == "hello"

    setup = PoolSetup(size=2)
    assert play(scene, setup) <= 2
    assert len(setup.reports) == 3


def test_a_file_that_computes_for_longer_than_the_limit_is_refused() -> None:
    async def outlast_the_load(pool: ParserPool) -> None:
        while True:
            with suppress(DeadlineExceeded):  # On a machine too busy even for this.
                await parse(pool, b"spin", "a.txt")

    async def scene(pool: ParserPool) -> None:
        with pytest.raises(UnreadableDocument, match=r"longer than 0.5 s"):
            await outlast_the_load(pool)

    assert play(scene, PoolSetup(seconds=HANG_SECONDS, reader="tests.support.hostile_readers:crash")) >= 1


def test_a_file_whose_parser_never_works_may_be_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(pool: ParserPool) -> None:
        hanging = parsers()[0]
        os.kill(hanging, signal.SIGSTOP)
        begun = time.monotonic()
        with pytest.raises(DeadlineExceeded, match="of the processor in 5 s"):
            await parse(pool, b"hello", "a.txt")
        assert time.monotonic() - begun >= HANG_SECONDS
        assert await text(pool, b"hello") == "hello"
        while hanging in parsers():
            await asyncio.sleep(0.001)

    assert play(scene, PoolSetup(seconds=HANG_SECONDS)) == 1
    (said,) = [vars(record) for record in caplog.records if vars(record).get("event") == "parser_died"]
    assert said["client"] == "c"
    assert "of the processor in 5 s" in said["reason"]


@with_pool(seconds=HANG_SECONDS, deaths=(0,))
async def test_a_file_whose_parser_waits_for_longer_than_the_limit_is_read(pool: ParserPool) -> None:
    starved = parsers()[0]
    os.kill(starved, signal.SIGSTOP)
    reading = asyncio.create_task(text(pool, b"hello"))
    await asyncio.wait((reading,), timeout=2 * HANG_SECONDS)
    os.kill(starved, signal.SIGCONT)
    assert await reading == "hello"


@with_pool(deaths=(0,))
async def test_an_abandoned_file_does_not_answer_the_next_one(pool: ParserPool) -> None:
    os.kill(parsers()[0], signal.SIGSTOP)
    abandoned = asyncio.create_task(text(pool, b"mine"))
    waiting = asyncio.create_task(text(pool, b"yours"))
    await asyncio.sleep(0.01)
    abandoned.cancel()
    with pytest.raises(asyncio.CancelledError):
        await abandoned
    assert await waiting == "yours"


def test_a_file_over_the_memory_limit_is_refused_and_the_pool_goes_on() -> None:
    large = DocumentLimits(max_bytes=128 * MEBIBYTE, max_characters=128 * MEBIBYTE)

    async def scene(pool: ParserPool) -> None:
        with pytest.raises(UnreadableDocument, match="memory"):
            await parse(pool, b"ab " * (20 * MEBIBYTE), "a.txt")
        with pytest.raises(UnreadableDocument, match="memory"):  # lxml stops in the middle and only logs it.
            await parse(pool, b"<p>x<!--%b-->" % (b"x" * 24 * MEBIBYTE), "a.html", kind="text/html")
        assert await text(pool, b"hello") == "hello"

    play(scene, PoolSetup(seconds=LIMIT_SECONDS, memory_bytes=2**28, limits=large))


@with_pool()
async def test_a_pool_that_stops_in_the_middle_leaves_no_process(pool: ParserPool) -> None:
    os.kill(parsers()[0], signal.SIGSTOP)
    parsing = asyncio.create_task(text(pool, b"hello"))
    await asyncio.sleep(0.01)
    parsing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await parsing


@with_pool(size=2, seconds=LIMIT_SECONDS, reader="tests.support.hostile_readers:crash")
async def test_files_that_hang_do_not_delay_another_client(pool: ParserPool) -> None:
    """Four files of one client that take the whole time limit: with two parsers they took all of it from everybody."""
    hanging = [asyncio.create_task(text(pool, b"hang", client="a")) for _ in range(4)]
    await asyncio.sleep(0.5)
    waits = []
    for number in range(10):
        begun = time.monotonic()
        assert await text(pool, b"%d" % number, client="b") == str(number)
        waits.append(time.monotonic() - begun)
    assert not any(each.done() for each in hanging)
    assert max(waits) < 4.0
    for each in hanging:
        each.cancel()
    await asyncio.wait(hanging)


def test_a_file_that_would_wait_too_long_is_refused_and_counted() -> None:
    setup = PoolSetup(size=1, wait_seconds=0.001, reader="tests.support.hostile_readers:crash")

    async def scene(pool: ParserPool) -> None:
        hanging = [asyncio.create_task(text(pool, b"hang", client="a"))]
        await asyncio.sleep(0.01)
        asked = pool.asked.ratio(time.monotonic())
        with pytest.raises(QueueFull) as full:
            await text(pool, b"one more", client="a")
        assert full.value.retry_after_seconds is not None
        assert pool.asked.ratio(time.monotonic()) > asked
        for each in hanging:
            each.cancel()
        await asyncio.wait(hanging)

    play(scene, setup)
    assert setup.refused == ["queue_full"]


def test_a_file_without_time_or_room_is_refused_with_retry_after() -> None:
    async def scene(pool: ParserPool) -> None:
        hanging = asyncio.create_task(text(pool, b"hang", client="a"))
        await asyncio.sleep(0.01)
        with pytest.raises(QueueFull) as full:
            await text(pool, b"x" * 2**20, client="a")
        assert full.value.retry_after_seconds is not None
        with pytest.raises(DeadlineExceeded) as late:
            await pool.parse(b"hello", PLAIN, client="b", deadline_seconds=time.monotonic())
        assert late.value.retry_after_seconds is not None
        with pytest.raises(DeadlineExceeded):
            await pool.parse(b"hang", PLAIN, client="b", deadline_seconds=time.monotonic() + 0.5)
        assert await text(pool, b"hello", client="b") == "hello"
        hanging.cancel()
        await asyncio.wait((hanging,))

    setup = PoolSetup(queue_bytes=2**18, seconds=LIMIT_SECONDS, reader="tests.support.hostile_readers:crash")
    assert play(scene, setup) == 0


def test_a_zygote_that_cannot_start_is_an_error_and_leaves_no_process() -> None:
    others = {*children_of(os.getpid())}
    with pytest.raises(InternalError, match="cannot be started"):
        play(lambda _pool: asyncio.sleep(0), PoolSetup(reader="tests.support.no_such_module:read"))
    assert {*children_of(os.getpid())} <= others


@pytest.mark.parametrize(("deaths", "reads"), [(START_TRIES - 1, True), (START_TRIES, False)])
def test_a_zygote_that_dies_while_it_starts_is_started_again(
    deaths: int, reads: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "zygote"
    died = f'echo >> "{tmp_path}/deaths"; test $(wc -l < "{tmp_path}/deaths") -gt {deaths} || exit 1'
    command.write_text(f'#!/bin/sh\n{died}\nexec {shlex.join(zygote_client.COMMAND)} "$@"\n')
    monkeypatch.setattr(zygote_client, "COMMAND", ("/bin/sh", str(command)))

    async def scene(pool: ParserPool) -> None:
        assert await text(pool, b"hello") == "hello"

    if reads:
        play(scene)
    else:
        with pytest.raises(InternalError, match="cannot be started"):
            play(scene)


def test_a_slow_zygote_outlives_the_file_that_had_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else, where its start takes longer than any file may wait, none would ever come up."""
    command = tmp_path / "zygote"
    waits = f'echo >> "{tmp_path}/starts"; until test -e "{tmp_path}/go"; do sleep 0.01; done'
    command.write_text(f'#!/bin/sh\n{waits}\nexec {shlex.join(zygote_client.COMMAND)} "$@"\n')

    async def scene(pool: ParserPool) -> None:
        monkeypatch.setattr(zygote_client, "COMMAND", ("/bin/sh", str(command)))
        zygote = zygotes_of(os.getpid())[0]
        os.kill(zygote, signal.SIGKILL)
        while zygote in zygotes_of(os.getpid()):
            await asyncio.sleep(0.01)
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(text(pool, b"hello"), 0.5)
        (tmp_path / "go").touch()
        assert await text(pool, b"hello") == "hello"
        assert (tmp_path / "starts").read_text() == "\n"

    play(scene)


@with_pool(mode=SandboxMode.AUTO, deaths=(0,))
async def test_a_page_is_drawn_by_a_sandboxed_parser_and_squares_of_a_held_file_from_what_it_has(
    pool: ParserPool,
) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    data = simple_pdf("Invoice INV-20931")
    drawn = await pool.draw(data, PictureRequest(1, 200), client="c", deadline_seconds=deadline)
    assert drawn.content.startswith(b"\x89PNG")
    assert (round(drawn.width_points), drawn.pages) == (595, 1)
    with pytest.raises(InvalidOptions, match="no page 9"):
        await pool.draw(data, PictureRequest(9, 200), client="c", deadline_seconds=deadline)
    with pytest.raises(UnreadableDocument):
        await pool.draw(b"no PDF", PictureRequest(1, 200), client="c", deadline_seconds=deadline)
    assert "INV-20931" in (await parse(pool, data)).text
    square = PictureRequest(1, 16, resample=2)
    with pool.holding() as held:
        for sent in (data, b"never sent"):
            drawn = await pool.draw(sent, square, client="c", deadline_seconds=deadline, held=held)
            assert len(drawn.content) == 3 * 16 * 16
    with pytest.raises(UnreadableDocument):
        await pool.draw(b"no PDF", square, client="c", deadline_seconds=deadline)


class SlowSource:
    """A source whose parsers take their time, also to be called off."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        self.log.append("stopped")

    async def fork(self) -> Parser:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            self.log.append("called off")
        raise AssertionError("nobody waits a minute")

    def order(self, order: Order, parser: Parser) -> None:
        raise AssertionError("there is no parser")


async def test_the_reading_of_a_caller_who_left_is_waited_for() -> None:
    source = SlowSource()
    idle = IdleParserPool(0, 1, source, anonymous=ANONYMOUS)
    limits = ParseLimits(DocumentLimits(), seconds=60.0, queue_bytes=1 << 20)
    pool = ParserPool(1, limits, idle, on_death=lambda: None, on_refusal=lambda _: None)
    await pool.start()
    wanted = pool.parse(b"hello", PLAIN, client="c", deadline_seconds=time.monotonic() + 60)
    asking = asyncio.create_task(wanted)
    await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await pool.stop()
    assert source.log == ["called off", "stopped"]


class ParserOnOrder:
    """A source whose first parser answers a file when it is ordered to stop, and the next when it may go on."""

    def __init__(self) -> None:
        self.ordered = {Order.STOP: asyncio.Event(), Order.CONTINUE: asyncio.Event()}
        self.parsers: list[Parser] = []
        self.lives: list[asyncio.Task[None]] = []

    async def start(self) -> None: ...

    async def stop(self) -> None:
        await asyncio.wait(self.lives)

    async def fork(self) -> Parser:
        ours, theirs = socket.socketpair()
        self.lives.append(asyncio.create_task(self._live(theirs, [] if self.parsers else [*self.ordered.values()])))
        self.parsers.append(Parser(len(self.parsers), *await asyncio.open_connection(sock=ours)))
        return self.parsers[-1]

    def order(self, order: Order, parser: Parser) -> None:
        if parser is self.parsers[0] and order in self.ordered:
            self.ordered[order].set()

    async def _live(self, connection: socket.socket, waits: list[asyncio.Event]) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        with suppress(asyncio.IncompleteReadError):
            while True:
                await _frame(reader)
                document = Document((await _frame(reader)).decode())
                if waits:
                    await waits.pop(0).wait()
                writer.writelines(part for frame in to_frames(document) for part in (frame_prefix(frame), frame))
        writer.close()


async def _frame(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(LENGTH.unpack(await reader.readexactly(LENGTH.size))[0])


async def test_a_parser_that_answers_as_it_is_stopped_goes_on_with_its_next_file() -> None:
    idle = IdleParserPool(2, 4, ParserOnOrder(), anonymous=ANONYMOUS)
    limits = ParseLimits(DocumentLimits(), seconds=60.0, queue_bytes=1 << 20)
    pool = ParserPool(1, limits, idle, on_death=lambda: None, on_refusal=lambda _: None)
    async with asyncio.timeout(30):
        first = asyncio.create_task(text(pool, b"first", client="a"))
        await asyncio.sleep(0)
        other = asyncio.create_task(text(pool, b"other", client="b"))
        assert await first == "first"
        assert await text(pool, b"second", client="a") == "second"
        assert await other == "other"
        await pool.stop()
