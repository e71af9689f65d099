"""The worker's side of the zygote: starts it, has it fork and signal parsers, and keeps those that have no file.

The rules of the idle parsers:
- Fresh ones are forked before they are needed; used ones are kept for their client's next file.
- A parser reads the files of one client only, and not more than a given number. The client `anonymous` may be anybody,
  so each of its files has a parser of its own.
- Parsers that recognize pages read those of one file only, whose bytes they keep, and run behind all other processes.
- A parser whose file failed, whatever the reason, is not used again. One that is kept stands still until its next file.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Protocol

import msgspec

from service.api.parsers.parser import Parser, connect
from service.api.parsers.zygote import LENGTH, ORDER, Order, ParserEnded, ParserMeasured, ZygoteConfig, ZygoteReady
from service.core.errors import InternalError
from service.environment import parser_environment
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics
from service.sandbox.apply import SandboxMode, SandboxPart, SandboxReport
from service.settings import BadSettings

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-m", "service.api.parsers.zygote")
LATE_SECONDS = 10.0
"""Seconds after which a zygote that has not started yet is logged; as long as it lives it is waited for."""
START_TRIES = 3
"""Most starts of a zygote that dies while it starts."""
STOP_SECONDS = 5.0
_decode = msgspec.msgpack.Decoder(ZygoteReady | ParserMeasured | ParserEnded).decode


def announce(report: SandboxReport, mode: SandboxMode, metrics: WorkerMetrics) -> None:
    """Log and count the parts of a sandbox.

    Raises:
        BadSettings: the sandbox is required, and what was given does not hold.
    """
    for part in SandboxPart:
        metrics.parser_sandbox.labels(part.value).set(float(report.has(part)))
    missing = {part.value: reason for part, reason in report.missing.items()}
    fields = {"event": LogEvent.PARSER_SANDBOX, "given": list(report.given), "missing": missing, "holds": report.holds}
    level = logging.INFO if report.holds or mode is SandboxMode.OFF else logging.WARNING
    log.log(level, "the sandbox of the parsers", extra=fields)
    if mode is SandboxMode.REQUIRE and not report.holds:
        reasons = "; ".join(f"{part}: {reason}" for part, reason in missing.items())
        raise BadSettings(f"GLEANER_PARSER_SANDBOX=require: the platform does not give enough of it: {reasons}")


class ZygoteClient:
    """The zygote of one worker. `on_start` gets the sandbox's report each time that one has started."""

    def __init__(self, config: ZygoteConfig, on_start: Callable[[SandboxReport], None]) -> None:
        self._config = config
        self._on_start = on_start
        self._starting: asyncio.Task[None] | None = None
        self._running: _Running | None = None
        self._numbers = count(1)

    async def start(self) -> None:
        """Start a zygote unless one runs or starts; it goes on to start when its first file's deadline has passed.

        Raises:
            InternalError: it did not come up.
        """
        if self._running is not None and not self._running.dead:
            return
        if self._starting is None:
            self._starting = asyncio.create_task(self._replace())
            self._starting.add_done_callback(self._started)
        await asyncio.shield(self._starting)

    async def _replace(self) -> None:
        if self._running is not None:
            await self._running.stop()
        for tries_left in reversed(range(START_TRIES)):
            try:
                self._running = await _Running.launch(self._config)
                return self._on_start(self._running.report)
            except _DiedAtStart:
                if not tries_left:
                    raise

    def _started(self, starting: asyncio.Task[None]) -> None:
        self._starting = None
        if not starting.cancelled():
            starting.exception()  # Who waits for it says so.

    async def stop(self) -> None:
        """End the zygote and with it all its parsers."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait((self._starting,))
        if self._running is not None:
            await self._running.stop()

    async def fork(self) -> Parser:
        """A new parser.

        Raises:
            InternalError: no zygote can be started.
        """
        await self.start()
        assert self._running is not None
        return await self._running.fork(next(self._numbers))

    def order(self, order: Order, parser: Parser) -> None:
        """Signal a parser; one that has ended is none the worse for it."""
        if self._running is not None:
            self._running.send(order, parser.number)


class _DiedAtStart(InternalError):
    pass


class _Running:
    """One zygote process that has said what its sandbox is."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket, report: SandboxReport) -> None:
        self.report = report
        self.dead = False
        self._process = process
        self._control = control
        self._parsers: dict[int, Parser] = {}
        self._listening: asyncio.Task[None] | None = None

    @classmethod
    async def launch(cls, config: ZygoteConfig) -> _Running:
        ours, theirs = socket.socketpair()
        with theirs:
            arguments = (*COMMAND, msgspec.json.encode(config).decode())
            process = await asyncio.create_subprocess_exec(*arguments, stdin=theirs.fileno(), env=parser_environment())
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        late = partial(log.info, "the parsers' zygote is slow to start", extra={"event": LogEvent.ZYGOTE_LATE})
        notice = asyncio.get_running_loop().call_later(LATE_SECONDS, late)
        try:
            ready = await _message(reader)
            assert isinstance(ready, ZygoteReady)
        except BaseException as error:
            writer.close()
            await _end(process, 0.0)
            if isinstance(error, (asyncio.IncompleteReadError, ConnectionError)):
                raise _DiedAtStart("The parsers' zygote cannot be started.") from error
            raise
        finally:
            notice.cancel()
        running = cls(process, ours, ready.report)
        running._listening = asyncio.create_task(running._listen(reader, writer))
        return running

    async def fork(self, number: int) -> Parser:
        ours, theirs = socket.socketpair()
        with theirs:
            parser = await connect(number, ours)
            self._parsers[number] = parser
            self.send(Order.FORK, number, theirs)
        return parser

    def send(self, order: Order, number: int, *connections: socket.socket) -> None:
        """Send an order; a zygote that does not take it is as good as dead, and ends."""
        data = ORDER.pack(order, number)
        try:
            socket.send_fds(self._control, [data], [each.fileno() for each in connections])
        except OSError:
            if not self.dead:
                self.dead = True
                _kill(self._process)

    async def stop(self) -> None:
        self.dead = True
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait((self._listening,))
        await _end(self._process)

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                message = await _message(reader)
                if isinstance(message, ParserMeasured) and (measured := self._parsers.get(message.number)):
                    measured.note_processor_seconds(message.processor_seconds)
                if isinstance(message, ParserEnded) and (parser := self._parsers.pop(message.number, None)):
                    parser.note_end(message.exit_code)
        except (asyncio.IncompleteReadError, ConnectionError):
            if not self.dead:
                log.error("the parsers' zygote died", extra={"event": LogEvent.ZYGOTE_DIED})
        finally:
            self.dead = True
            writer.close()


async def _message(reader: asyncio.StreamReader) -> ZygoteReady | ParserMeasured | ParserEnded:
    length = LENGTH.unpack(await reader.readexactly(LENGTH.size))[0]
    message: ZygoteReady | ParserMeasured | ParserEnded = _decode(await reader.readexactly(length))
    return message


async def _end(process: asyncio.subprocess.Process, seconds: float = STOP_SECONDS) -> None:
    """Wait for a process whose connection is closed; one that goes on for so long is killed."""
    try:
        await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        _kill(process)
        await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()


MOST_BUSY_SECONDS = 10.0
"""Most busy seconds of a parser that is kept: its limit of processor time holds for all its files together."""
HALT_SECONDS = 0.01
"""Seconds after which a kept parser is stopped: the next file often comes before."""


class ParserSource(Protocol):
    """The source of parsers: the zygote's client."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def fork(self) -> Parser: ...
    def order(self, order: Order, parser: Parser) -> None: ...


class IdleParserPool:
    """Parsers that wait: `size` fresh ones, and at most as many that are kept, those used last."""

    def __init__(self, size: int, files: int, source: ParserSource, *, anonymous: str) -> None:
        self._size = size
        self._files = files
        self._source = source
        self._anonymous = anonymous
        self._fresh: deque[Parser] = deque()
        self._kept: deque[Parser] = deque()
        self._coming: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start the source and fork the first parsers."""
        await self._source.start()
        self._restock()

    async def stop(self) -> None:
        """End all parsers."""
        for task in self._coming:
            task.cancel()
        await asyncio.gather(*self._coming, return_exceptions=True)
        for parser in (*self._fresh, *self._kept):
            self._end(parser)
        await self._source.stop()

    async def take(self, client: str, held: object | None = None) -> Parser:
        """A parser for a file of this client; with `held` one that may keep it, or does already.

        Raises:
            InternalError: none can be forked.
        """
        parser = next(self._usable(client, held), None) or await self._source.fork()
        if held is not None and parser.held is not held:
            self._source.order(Order.STEP_BACK, parser)
        parser.client = client
        parser.files += 1
        return parser

    def put_back(self, parser: Parser, ran_seconds: float, *, sound: bool, stopped: bool) -> None:
        """Take back a parser whose file is done after so long.

        Args:
            sound: without any error, and the file was not large.
            stopped: it was interrupted, but had already answered.
        """
        parser.busy_seconds += ran_seconds
        parser.halted = stopped
        again = parser.held is not None or (parser.files < self._files and parser.client != self._anonymous)
        if sound and again and parser.busy_seconds < MOST_BUSY_SECONDS:
            self._kept.append(parser)
            asyncio.get_running_loop().call_later(HALT_SECONDS, self._halt, parser, parser.files)
            if len(self._kept) <= self._size:
                return
            parser = self._kept.popleft()
        self._end(parser)
        self._restock()

    def release(self, held: object) -> None:
        """End the parsers that keep a file."""
        for parser in [each for each in self._kept if each.held is held]:
            self._kept.remove(parser)
            self._end(parser)
        self._restock()

    def interrupt(self, parser: Parser, interrupted: bool) -> None:
        """Let a parser stand still, or go on."""
        self._source.order(Order.STOP if interrupted else Order.CONTINUE, parser)

    def measure(self, parser: Parser) -> None:
        """Have a parser's `on_measured` called, unless it ends before."""
        self._source.order(Order.MEASURE, parser)

    def _usable(self, client: str, held: object | None) -> Iterator[Parser]:
        """Parsers for this client, taken out of those that wait; those that have died meanwhile are dropped."""
        for parser in [each for each in self._kept if each.client == client and each.held is held]:
            self._kept.remove(parser)
            if parser.usable:
                if parser.halted:
                    parser.halted = False
                    self._source.order(Order.CONTINUE, parser)
                yield parser
            self._end(parser)
        while self._fresh:
            parser = self._fresh.popleft()
            if parser.usable:
                yield parser
            self._end(parser)

    def _halt(self, parser: Parser, files: int) -> None:
        """Stop a parser that still waits after this many files."""
        if parser in self._kept and parser.files == files:
            parser.halted = True
            self._source.order(Order.STOP, parser)

    def _restock(self) -> None:
        while len(self._fresh) + len(self._coming) < self._size:
            task = asyncio.get_running_loop().create_task(self._add())
            self._coming.add(task)
            task.add_done_callback(self._coming.discard)

    async def _add(self) -> None:
        try:
            self._fresh.append(await self._source.fork())
        except InternalError:  # The next file that needs a parser says so to its client.
            log.exception("no parser can be forked", extra={"event": LogEvent.ZYGOTE_DIED})

    def _end(self, parser: Parser) -> None:
        self._source.order(Order.KILL, parser)
        parser.close()
