"""Zygote (`python -m service.api.parsers.zygote`): a warm process that forks the parsers of one worker.

It has imported the readers, holds no secret, reads no file, and has given up all that parsers must not have. Its
control connection is stdin. From the worker: [order, number of a parser], with a connection for the new parser where
it is to fork one. To the worker: first the sandbox's report, then the end of each parser, and its processor time where
that is asked for. It ends with its connection.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from functools import partial
from importlib import import_module

import msgspec

from service.process import die_with_parent, hide_memory
from service.sandbox.apply import ParserSandbox, ProcessLimits, SandboxMode, SandboxPart, SandboxReport

READER = "service.api.parsers.child:read"
ORDER = struct.Struct("<BQ")
LENGTH = struct.Struct("<I")


class Order(IntEnum):
    """The worker's order concerning a parser."""

    FORK = 1
    STOP = 2
    CONTINUE = 3
    KILL = 4
    STEP_BACK = 5
    MEASURE = 6


SIGNALS = {Order.STOP: signal.SIGSTOP, Order.CONTINUE: signal.SIGCONT, Order.KILL: signal.SIGKILL}
STEPPED_BACK = 10
"""Least nice value of parsers that recognize pages: these take seconds, and run in the time that others leave."""


class ZygoteConfig(msgspec.Struct, frozen=True):
    """The zygote's configuration, as JSON on its command line.

    `ocr_folder` has the weights of OCR's networks, if it is on.
    """

    mode: SandboxMode
    memory_bytes: int
    cpu_seconds: float
    reader: str = READER
    ocr_folder: str | None = None


class ZygoteReady(msgspec.Struct, frozen=True, tag="ready"):
    """The zygote's first message: parsers can be forked, in this sandbox."""

    report: SandboxReport


class ParserMeasured(msgspec.Struct, frozen=True, tag="measured"):
    """A parser has had this much of the processor since it was forked."""

    number: int
    processor_seconds: float


class ParserEnded(msgspec.Struct, frozen=True, tag="ended"):
    """A parser ended, with this exit code, or by this signal if it is negative."""

    number: int
    exit_code: int


class Zygote:
    """The loop of the zygote: orders in, forks and signals out."""

    def __init__(self, control: socket.socket, sandbox: ParserSandbox, config: ZygoteConfig) -> None:
        self._control = control
        self._sandbox = sandbox
        self._null = os.open(os.devnull, os.O_RDWR)
        self._child = import_module("service.api.parsers.child")
        module, _, function = config.reader.partition(":")
        self._reader = getattr(import_module(module), function)
        self._ocr_folder = config.ocr_folder
        self._parsers: dict[int, int] = {}
        self._numbers: dict[int, int] = {}

    def run(self) -> None:
        """Warm up, close the sandbox, and serve orders until the worker is gone."""
        self._child.prepare(self._ocr_folder)
        self._sandbox.close()
        self._try_out()
        ended, waker = socket.socketpair()
        waker.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        self._tell(ZygoteReady(self._sandbox.report))
        self._serve(ended)
        for process in self._parsers.values():
            os.kill(process, signal.SIGKILL)

    def _serve(self, ended: socket.socket) -> None:
        poll = select.poll()
        for each in (self._control, ended):
            poll.register(each, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if ended.fileno() in ready:
                ended.recv(4096)
                self._reap()
            if self._control.fileno() in ready:
                if (message := self._receive()) is None:
                    return
                self._obey(*message)

    def _receive(self) -> tuple[Order, int, list[int]] | None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, ORDER.size, 1)
        except ConnectionError:
            return None
        if len(data) < ORDER.size:
            return None
        order, number = ORDER.unpack(data)
        return Order(order), number, descriptors

    def _obey(self, order: Order, number: int, descriptors: list[int]) -> None:
        if order is Order.FORK:
            live = partial(self._child.live, descriptors[0], self._null, self._sandbox, self._reader)
            process = _forked(live)
            os.close(descriptors[0])
            self._parsers[number], self._numbers[process] = process, number
        elif number not in self._parsers:
            return
        elif order is Order.STEP_BACK:
            step_back(self._parsers[number])
        elif order is Order.MEASURE:
            with suppress(OSError):  # Some sandboxes of containers have no such clocks.
                self._tell(ParserMeasured(number, processor_seconds(self._parsers[number])))
        else:
            os.kill(self._parsers[number], SIGNALS[order])

    def _try_out(self) -> None:
        """Let a child restrict itself, so that the report says what holds rather than what was asked for."""
        if self._sandbox.report.has(SandboxPart.SECCOMP) and os.waitpid(_forked(self._sandbox.restrict), 0)[1] != 0:
            self._sandbox.withdraw(SandboxPart.SECCOMP, "the filter could not be installed, or ended its process")

    def _reap(self) -> None:
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            if (number := self._numbers.pop(process, None)) is not None:
                del self._parsers[number]
                self._tell(ParserEnded(number, os.waitstatus_to_exitcode(status)))

    def _tell(self, message: ZygoteReady | ParserMeasured | ParserEnded) -> None:
        data = msgspec.msgpack.encode(message)
        try:
            self._control.sendall(LENGTH.pack(len(data)) + data)
        except OSError:  # The worker is gone.
            os._exit(0)


def _forked(work: Callable[[], None]) -> int:
    """A child process that does this and ends; its exit code is 1 if it fails."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return process


def step_back(process: int) -> None:
    """Raise a process's nice value to `STEPPED_BACK`; a higher one stays, since lowering needs a privilege."""
    niceness = os.getpriority(os.PRIO_PROCESS, process)
    os.setpriority(os.PRIO_PROCESS, process, max(niceness, STEPPED_BACK))


def processor_seconds(process: int) -> float:
    """Read a process's processor time, by its clock, whose number clock_getcpuclockid(3) makes like this."""
    return time.clock_gettime(~process << 3 | 2)


def main() -> None:
    """Be the zygote; where there is a process namespace, in a child, which is process 1 of it."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    config = msgspec.json.decode(sys.argv[1], type=ZygoteConfig)
    sandbox = ParserSandbox(config.mode, ProcessLimits(config.memory_bytes, config.cpu_seconds))
    if sandbox.enter_namespaces() and (process := os.fork()):
        os.close(0)
        os._exit(abs(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])))
    die_with_parent()
    hide_memory()
    control = socket.socket(fileno=0)
    Zygote(control, sandbox, config).run()
    os._exit(0)


if __name__ == "__main__":
    main()
