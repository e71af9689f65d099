"""Requests of the console: found at any worker, and how far they are."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any, cast

import pytest

from service.api.console import requests as module
from service.api.console.requests import PREFIX, RequestFinder, WorkerPeers
from service.api.engine.client import EngineClient
from service.api.extraction.trace import RequestTrace, StageTimer, TraceBook
from service.core.errors import UnknownRoute


class NoEngine:
    async def debug_snapshot(self, since: int) -> None:
        return None


def finder_of(*ids: str, client: str = "ada") -> RequestFinder:
    traces = TraceBook()
    for number, name in enumerate(ids):
        traces.add(RequestTrace(name, 0.0, float(number), client=client, status=200))
    return RequestFinder(traces, cast(EngineClient, NoEngine()))


async def opened(folder: Path, number: int, finder: RequestFinder) -> WorkerPeers:
    """A worker's socket, as if its process had this number."""
    made = WorkerPeers(folder, finder.answer)
    made._path = folder / f"{PREFIX}{number}"
    await made.open()
    return made


def test_a_request_is_found_in_whichever_worker_remembers_it(tmp_path: Path) -> None:
    async def scene() -> None:
        here, there = finder_of("a", "b"), finder_of("c")
        ours, theirs = await opened(tmp_path, 1, here), await opened(tmp_path, 2, there)
        assert (await here.find("c", None, ours))["id"] == "c"
        assert (await there.find("a", "ada", theirs))["id"] == "a"
        assert {each["id"] for each in await here.latest(None, ours)} == {"a", "b", "c"}
        with pytest.raises(UnknownRoute, match="remembered"):
            await here.find("c", "somebody else", ours)
        assert await here.latest("somebody else", ours) == []
        for each in (ours, theirs):
            await each.close()

    asyncio.run(scene())


def test_a_worker_that_has_ended_or_says_nothing_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ASK_SECONDS", 0.2)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / f"{PREFIX}8"))
    dead.close()
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(str(tmp_path / f"{PREFIX}9"))
    silent.listen()

    async def scene() -> None:
        finder = finder_of("a")
        ours = await opened(tmp_path, 1, finder)
        assert [each["id"] for each in await finder.latest(None, ours)] == ["a"]
        await ours.close()

    with silent:
        asyncio.run(scene())
    assert not (tmp_path / f"{PREFIX}8").exists()


class _Engine:
    """Knows how many windows of one document have come back."""

    def windows(self, key: str) -> tuple[int, int]:
        return (3, 8) if key == "k" else (0, 0)


def progress(traces: TraceBook, folder: Path, client: str | None = None) -> dict[str, Any]:
    finder = RequestFinder(traces, cast(EngineClient, _Engine()))
    return asyncio.run(finder.progress("r", client, WorkerPeers(folder, finder.answer)))


@pytest.fixture
def trace() -> RequestTrace:
    return RequestTrace("r", 100.0, client="ada")


def test_a_request_without_a_document_yet_has_no_stage(trace: RequestTrace, tmp_path: Path) -> None:
    traces = TraceBook()
    traces.begin(trace)
    assert progress(traces, tmp_path) == {"stage": None, "windows_done": 0, "windows": 0}


def test_the_stage_is_the_one_that_began_last_and_windows_are_counted(trace: RequestTrace, tmp_path: Path) -> None:
    traces, timer = TraceBook(), StageTimer(begun_seconds={"parse": 100.1, "tokenize": 100.2})
    traces.begin(trace)
    trace.timer = timer
    assert progress(traces, tmp_path)["stage"] == "tokenize"
    timer.begun_seconds["queue"], timer.key = 100.3, "k"
    assert progress(traces, tmp_path) == {"stage": "queue", "windows_done": 3, "windows": 8}


def test_it_is_for_the_client_whose_request_it_is(trace: RequestTrace, tmp_path: Path) -> None:
    traces = TraceBook()
    traces.begin(trace)
    assert progress(traces, tmp_path, "ada")
    assert progress(traces, tmp_path, "bob") == {}


def test_what_is_answered_or_unknown_has_none(trace: RequestTrace, tmp_path: Path) -> None:
    traces = TraceBook()
    assert progress(traces, tmp_path) == {}
    traces.begin(trace)
    traces.add(trace)
    assert progress(traces, tmp_path) == {}
    assert traces.find("r") is trace
