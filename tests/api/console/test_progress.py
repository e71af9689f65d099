"""How far a request is that is not answered yet: found by its id, for its own client alone, and gone once answered."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from service.api.console.requests import RequestFinder, WorkerPeers
from service.api.engine.client import EngineClient
from service.api.extraction.trace import RequestTrace, StageTimer, TraceBook


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
