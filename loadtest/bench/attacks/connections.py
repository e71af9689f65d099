"""Attacks by how a connection is used: endless, slow, silent, half-closed, or far too many of them (C2, C3, H7)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable

from loadtest.bench.attacks.attack import Attack, Strike
from loadtest.bench.attacks.callers import ask_at_a_rate, until
from loadtest.bench.attacks.target import ATTACKER, Target, attackers_job, authorization
from loadtest.bench.attacks.wire import SILENCE, RawConnection, connected, head
from loadtest.client.crowd import raise_open_files
from loadtest.workload.mix import JSON, Pairs

PIECE_BYTES = 1 << 16
REST_SECONDS = 0.05
"""Between two tries of one attacker."""
BODY_BYTES = 235_000_000
BIG_ANSWER_CHARACTERS = 4_000_000
DRIP_SECONDS = 0.5
SHORT = json.dumps({"text": "Invoice INV-20931 from Acme GmbH, total EUR 1,200.00."}).encode()
FORM: Pairs = (*authorization(ATTACKER), ("Content-Type", "multipart/form-data; boundary=x"))
TYPED: Pairs = (*authorization(ATTACKER), ("Content-Type", JSON))
Act = Callable[[RawConnection, int], Awaitable[str]]
"""What an attacker does with a connection of this number; returns what it was answered."""


def _by(count: int, act: Act, *, receive_bytes: int = 0) -> Strike:
    """So many attackers, each with a connection at a time, again and again."""

    async def strike(target: Target, end: float) -> None:
        raise_open_files()

        async def attack(number: int) -> None:
            while time.monotonic() < end:
                try:
                    async with connected(target.url, receive_bytes) as connection:
                        target.answers[await act(connection, number)] += 1
                except OSError as error:
                    target.answers[type(error).__name__] += 1
                await asyncio.sleep(REST_SECONDS)

        await until(end, target, *(attack(number) for number in range(count)))

    return strike


async def _endless_headers(connection: RawConnection, _number: int) -> str:
    connection.send(b"POST /extract HTTP/1.1\r\nHost: a\r\n")
    return await connection.pour(b"a: b\r\n" * 10_000, 183_000_000 // 3)


async def _endless_line(connection: RawConnection, number: int) -> str:
    connection.send(b"POST /extract HTTP/1.1\r\nHost: a\r\nA: " if number % 2 else b"GET /")
    return await connection.pour(b"a" * PIECE_BYTES, 138 << 20)


async def _unfinished_body(connection: RawConnection, number: int) -> str:
    """All of it but the end, which never comes."""
    connection.send(head("POST", "/extract", FORM if number % 2 else TYPED, BODY_BYTES))
    if number % 2:
        connection.send(b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n')
    answer = await connection.pour(b"a" * PIECE_BYTES, BODY_BYTES - PIECE_BYTES - 100)
    return await connection.answer() if answer == SILENCE else answer


async def _too_long_a_body(connection: RawConnection, _number: int) -> str:
    connection.send(head("POST", "/extract", (*TYPED, ("Expect", "100-continue")), 300_000_000))
    return await connection.answer()


async def _dawdle(connection: RawConnection, number: int) -> str:
    """Nothing at all, or a byte of a head or of a body now and then."""
    whole = head("POST", "/extract", TYPED, 1_000_000)
    connection.send((b"", whole[:-2], b"", whole)[number % 4])
    answer = asyncio.ensure_future(connection.answer())
    while not answer.done():
        await asyncio.wait([answer], timeout=DRIP_SECONDS)
        if number % 2:
            connection.send(b"x")
    return await answer


async def _never_read(connection: RawConnection, _number: int) -> str:
    """A text of blanks asks for an answer of four megabytes, of which nothing is read."""
    _ask_for_much(connection)
    await asyncio.sleep(3600)
    return SILENCE


async def _shut_and_never_read(connection: RawConnection, _number: int) -> str:
    _ask_for_much(connection)
    await asyncio.sleep(1.0)
    connection.writer.write_eof()
    await asyncio.sleep(3600)
    return SILENCE


async def _shut_and_read(connection: RawConnection, _number: int) -> str:
    connection.send(head("POST", "/extract", TYPED, len(SHORT)) + SHORT)
    connection.writer.write_eof()
    return await connection.answer()


async def _ask(connection: RawConnection, _number: int) -> str:
    connection.send(head("POST", "/extract", TYPED, len(SHORT)) + SHORT)
    return await connection.answer()


def _ask_for_much(connection: RawConnection) -> None:
    body = json.dumps({"text": f"Jane Doe{' ' * BIG_ANSWER_CHARACTERS}Acme", "include_text": True}).encode()
    connection.writer.transport.pause_reading()  # type: ignore[attr-defined]
    connection.send(head("POST", "/extract", TYPED, len(body)) + body)


def dawdling(clients: int) -> Strike:
    """So many clients that are slow or silent, each with a connection that it opens again when it is closed."""
    return _by(clients, _dawdle)


async def _at_600_a_second(target: Target, end: float) -> None:
    raise_open_files()
    job = attackers_job(SHORT, JSON, (("deadline_ms", "2000"),))
    await ask_at_a_rate(target, job, 600.0, 5_500, end)


ATTACKS = (
    Attack("183 MB of headers, without a key", "C2", _by(3, _endless_headers)),
    Attack("one line of 138 MiB, without a key", "C2", _by(2, _endless_line)),
    Attack("15 unfinished bodies of 235 MB", "C3", _by(15, _unfinished_body)),
    Attack("bodies of 300 MB that wait to be asked for", "C3", _by(8, _too_long_a_body)),
    Attack("300 slow and silent clients", "C3", dawdling(300)),
    Attack("1,000 slow and silent clients", "C3", dawdling(1_000)),
    Attack("60 clients that never read 4 MB", "C3", _by(60, _never_read, receive_bytes=4_096)),
    Attack("60 half-closed clients that never read 4 MB", "C3", _by(60, _shut_and_never_read, receive_bytes=4_096)),
    Attack("60 half-closed clients that read on", "C3", _by(60, _shut_and_read)),
    Attack("600 requests a second, deadline 2 s", "H7", _at_600_a_second),
    Attack("5,500 connections, each asks again and again", "H7", _by(5_500, _ask)),
    Attack("the same, probed on the internal port", "H7", _by(5_500, _ask), probed_inside=True),
)
