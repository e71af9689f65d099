"""Requests with an Idempotency-Key: answered once, joined, replayed, refused."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from service.api.extraction.request import DocumentInput
from service.api.http.request_body import Body
from service.api.idempotency.requests import (
    HEADER,
    IdempotentRequests,
    idempotency_key,
    is_final,
)
from service.api.idempotency.store import AnswerStore, Claim, KeptAnswer
from service.api.schemas import Options
from service.core.errors import DeadlineExceeded, InvalidOptions, MalformedRequest
from service.metrics.worker import WorkerMetrics

DONE = b'{"documents":[{"error":null}]}'
BUSY = b'{"documents":[{"error":{"status":429}}]}'


def headers(*keys: str) -> Headers:
    return Headers(raw=[(HEADER.lower().encode(), key.encode("latin-1")) for key in keys])


def asking(key: str | None = "k") -> Request:
    async def receive() -> Any:
        await asyncio.sleep(3_600)

    raw = [] if key is None else [(HEADER.lower().encode(), key.encode())]
    return Request({"type": "http", "headers": raw, "method": "POST", "path": "/extract"}, receive)


class WatchedStore(AnswerStore):
    """Knows which tasks have looked for an answer."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, 600.0, 100_000)
        self.lookers = weakref.WeakSet[object]()

    def claim(self, client: str, key: str, fingerprint: str, now: float) -> Claim | KeptAnswer | None:
        found = super().claim(client, key, fingerprint, now)
        self.lookers.add(asyncio.current_task())
        return found


class Place:
    """Two workers of one service, and an answer that is given when told."""

    def __init__(self, folder: Path) -> None:
        self.store = WatchedStore(folder / "answers")
        self.metrics = WorkerMetrics()
        self.workers = [IdempotentRequests(self.store, self.metrics) for _ in range(2)]
        self.calls = 0
        self.stays: list[bool] = []
        self.go = asyncio.Event()
        self.response: Callable[[], Response] = lambda: Response(DONE, media_type="application/json")

    async def answer(self, *, stays: bool) -> Response:
        self.calls += 1
        self.stays.append(stays)
        await self.go.wait()
        return self.response()

    def ask(
        self, worker: int = 0, key: str | None = "k", text: str = "Jane", client: str = "c", seconds: float = 30.0
    ) -> asyncio.Task[Response]:
        body = Body((DocumentInput("0", text=text),), Options(), batch=False)
        request, deadline = asking(key), time.monotonic() + seconds
        return asyncio.create_task(self.workers[worker].answer(request, client, body, deadline, self.answer))

    def outcomes(self, outcome: str) -> float:
        return float(self.metrics.repeated_requests.labels(outcome)._value.get())


def play(folder: Path, scene: Callable[[Place], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(30):
            await scene(Place(folder))

    asyncio.run(whole())


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.005)


def test_tries_of_one_request_in_several_workers_are_answered_once(tmp_path: Path) -> None:
    async def scene(place: Place) -> None:
        first = place.ask(0)
        await until(lambda: place.calls == 1)
        others = [place.ask(number % 2) for number in range(6)]
        await until(lambda: len(place.store.lookers) == 7)
        assert not any(each.done() for each in others)
        place.go.set()
        assert {(await each).body for each in (first, *others)} == {DONE}
        assert "idempotent-replayed" not in (await first).headers
        assert [each.result().headers["idempotent-replayed"] for each in others] == ["true"] * 6
        assert ((await place.ask(1)).body, place.calls) == (DONE, 1)
        assert (place.outcomes("joined"), place.outcomes("replayed")) == (6, 1)

    play(tmp_path, scene)


def test_without_a_key_or_a_store_every_request_is_its_own(tmp_path: Path) -> None:
    async def scene(place: Place) -> None:
        place.go.set()
        for _ in range(2):
            await place.ask(key=None)
        place.workers[0] = IdempotentRequests(None, place.metrics)
        for _ in range(2):
            await place.ask()
        assert (place.calls, place.stays) == (4, [False] * 4)
        assert not (tmp_path / "answers").exists()

    play(tmp_path, scene)


def test_another_request_under_the_key_is_refused_and_another_client_s_is_not(tmp_path: Path) -> None:
    async def scene(place: Place) -> None:
        place.go.set()
        await place.ask()
        with pytest.raises(InvalidOptions, match=HEADER):
            await place.ask(text="John")
        await place.ask(text="John", client="another")
        assert (place.calls, place.outcomes("refused")) == (2, 1)

    play(tmp_path, scene)


@pytest.mark.parametrize("failure", [ValueError, asyncio.CancelledError])
def test_who_waits_takes_over_when_the_first_fails(tmp_path: Path, failure: type[BaseException]) -> None:
    async def scene(place: Place) -> None:
        def fails() -> Response:
            place.response = lambda: Response(DONE, media_type="application/json")
            raise failure

        place.response = fails
        first = place.ask()
        await until(lambda: place.calls == 1)
        second = place.ask(1)
        await asyncio.sleep(0.05)
        place.go.set()
        with pytest.raises(failure):
            await first
        assert ((await second).body, place.calls) == (DONE, 2)

    play(tmp_path, scene)


def test_what_was_refused_for_overload_is_asked_again(tmp_path: Path) -> None:
    async def scene(place: Place) -> None:
        place.go.set()
        for response in (Response(BUSY), Response(b"{}", 503), Response(b"{}", 499)):
            place.response = lambda kept=response: kept  # type: ignore[misc]
            await place.ask()
        assert place.calls == 3
        place.response = lambda: Response(b"{}", 422)
        assert [(await place.ask()).status_code for _ in range(2)] == [422, 422]
        assert place.calls == 4

    play(tmp_path, scene)


def test_lines_are_kept_once_all_were_read(tmp_path: Path) -> None:
    async def lines() -> AsyncIterator[bytes]:
        for number in range(3):
            yield b'{"document":{"error":null},"number":%d}\n' % number

    async def scene(place: Place) -> None:
        place.go.set()
        place.response = lambda: StreamingResponse(lines(), media_type="application/x-ndjson")
        left = await place.ask()
        assert isinstance(left, StreamingResponse)
        await anext(aiter(left.body_iterator))
        await left.body_iterator.aclose()  # type: ignore[attr-defined]
        whole = await place.ask()
        assert isinstance(whole, StreamingResponse)
        read = b"".join([bytes(line) async for line in whole.body_iterator])  # type: ignore[arg-type]
        again = await place.ask(1)
        assert (again.body, again.media_type, place.calls) == (read, "application/x-ndjson", 2)

    play(tmp_path, scene)


def test_an_answer_that_nobody_reads_leaves_its_key_free(tmp_path: Path) -> None:
    async def lines() -> AsyncIterator[bytes]:
        yield b"{}\n"

    async def scene(place: Place) -> None:
        place.go.set()
        place.response = lambda: StreamingResponse(lines())
        await place.ask()
        await until(lambda: not list((tmp_path / "answers").rglob("*/*")))

    play(tmp_path, scene)


def test_whoever_waits_waits_for_no_longer_than_the_deadline(tmp_path: Path) -> None:
    async def scene(place: Place) -> None:
        first = place.ask()
        await until(lambda: place.calls == 1)
        with pytest.raises(DeadlineExceeded):
            await place.ask(1, seconds=0.1)
        place.go.set()
        await first

    play(tmp_path, scene)


def test_only_so_many_requests_outlive_their_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.api.idempotency.requests.MOST_UNATTENDED", 2)

    async def scene(place: Place) -> None:
        asked = [place.ask(key=f"k{number}") for number in range(4)]
        await until(lambda: place.calls == 4)
        assert sorted(place.stays) == [False, False, True, True]
        place.go.set()
        await asyncio.gather(*asked)

    play(tmp_path, scene)


def test_a_folder_that_cannot_be_written_to_costs_the_favour_and_not_the_answer(tmp_path: Path) -> None:
    async def scene(place: Place) -> None:
        (tmp_path / "answers").write_text("no folder")
        place.go.set()
        assert [(await place.ask()).body for _ in range(2)] == [DONE, DONE]
        assert place.calls == 2

    play(tmp_path, scene)


def test_a_key_may_have_quotation_marks() -> None:
    assert [idempotency_key(headers(*keys)) for keys in ((), ("abc",), ('"abc"',), (' "8e03 9a" ',))] == [
        None,
        "abc",
        "abc",
        "8e03 9a",
    ]


@pytest.mark.parametrize("keys", [("",), ('""',), ("k" * 256,), ("schl\xfcssel",), ("a\x01b",), ("a", "b")])
def test_what_is_no_key_is_refused(keys: tuple[str, ...]) -> None:
    with pytest.raises(MalformedRequest, match=HEADER):
        idempotency_key(headers(*keys))


@pytest.mark.parametrize(
    ("status", "body", "final"),
    [
        (200, DONE, True),
        (200, BUSY, False),
        (200, b'{"documents":[{"error":{"status":422}},{"error":null}]}', True),
        (200, b'{"documents":[{"error":{"status":500}},{"error":null}]}', False),
        (200, b'{"document":{"error":null}}\n{"document":{"error":{"status":504}}}\n', False),
        (404, b"{}", False),
        (413, b"{}", True),
        (507, b"{}", False),
    ],
)
def test_only_answers_that_another_try_would_get_are_final(status: int, body: bytes, final: bool) -> None:
    assert is_final(KeptAnswer(status, "", body)) is final
