"""Requests of the console: found at any worker, and how far they are."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any, cast

import pytest

from service.api.console import requests as module
from service.api.console.requests import PREFIX, RequestFinder
from service.api.engine.client import EngineClient
from service.api.extraction.trace import PageProgress, RequestTrace, StageTimer, TraceBook
from service.core.errors import UnknownRoute


class NoEngine:
    async def debug_snapshot(self, since: int) -> None:
        return None


async def opened(folder: Path, number: int, *ids: str) -> RequestFinder:
    """A worker's finder with its socket, as if its process had this number."""
    traces = TraceBook()
    for at, name in enumerate(ids):
        traces.add(RequestTrace(name, 0.0, float(at), client="ada", status=200))
    finder = RequestFinder(traces, cast(EngineClient, NoEngine()), folder, number)
    await finder.peers.open()
    return finder


async def test_a_request_is_found_in_whichever_worker_remembers_it(tmp_path: Path) -> None:
    here, there = await opened(tmp_path, 1, "a", "b"), await opened(tmp_path, 2, "c")
    assert (await here.find("c", None))["id"] == "c"
    assert (await there.find("a", "ada"))["id"] == "a"
    assert {each["id"] for each in await here.latest(None)} == {"a", "b", "c"}
    with pytest.raises(UnknownRoute):
        await here.find("c", "somebody else")
    assert await here.latest("somebody else") == []
    for each in (here, there):
        await each.peers.close()


def test_a_worker_that_has_ended_or_says_nothing_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ASK_SECONDS", 0.2)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / f"{PREFIX}8"))
    dead.close()
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(str(tmp_path / f"{PREFIX}9"))
    silent.listen()

    async def scene() -> None:
        finder = await opened(tmp_path, 1, "a")
        assert [each["id"] for each in await finder.latest(None)] == ["a"]
        await finder.peers.close()

    with silent:
        asyncio.run(scene())
    assert not (tmp_path / f"{PREFIX}8").exists()


async def test_a_worker_closes_though_another_asks_nothing_on_its_connection(tmp_path: Path) -> None:
    here, there = await opened(tmp_path, 1, "a"), await opened(tmp_path, 2)
    reader, writer = await asyncio.open_unix_connection(tmp_path / f"{PREFIX}1")
    assert (await there.find("a", None))["id"] == "a"  # So the connection before this one was accepted.
    async with asyncio.timeout(5.0):
        await here.peers.close()
        assert await reader.read() == b""
    writer.close()
    await there.peers.close()


class _Engine:
    """Knows how many windows of one document have come back."""

    def windows(self, key: str) -> tuple[int, int]:
        return (3, 8) if key == "k" else (0, 0)


def progress(traces: TraceBook, folder: Path, client: str | None = None) -> dict[str, Any]:
    finder = RequestFinder(traces, cast(EngineClient, _Engine()), folder)
    return asyncio.run(finder.progress("r", client))


def test_progress_is_the_stage_that_began_last_with_its_windows(tmp_path: Path) -> None:
    traces, trace = TraceBook(), RequestTrace("r", 100.0, client="ada")
    assert progress(traces, tmp_path) == {}
    traces.begin(trace)
    none = {"stage": None, "windows_done": 0, "windows": 0, "pages_done": 0, "pages": 0}
    assert progress(traces, tmp_path) == none
    trace.timer = StageTimer(begun_seconds={"parse": 100.1}, pages=PageProgress(done=2, count=5))
    assert progress(traces, tmp_path) == {**none, "stage": "parse", "pages_done": 2, "pages": 5}
    trace.timer = StageTimer(begun_seconds={"parse": 100.1, "tokenize": 100.2})
    assert progress(traces, tmp_path)["stage"] == "tokenize"
    trace.timer.begun_seconds["queue"], trace.timer.key = 100.3, "k"
    assert progress(traces, tmp_path) == {**none, "stage": "queue", "windows_done": 3, "windows": 8}
    assert progress(traces, tmp_path, "ada")
    assert progress(traces, tmp_path, "bob") == {}, "another client's request"
    traces.add(trace)
    assert progress(traces, tmp_path) == {}, "it has its answer"
    assert traces.find("r") is trace
