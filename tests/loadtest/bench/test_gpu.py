"""The GPU benchmark's load and its tests, without a GPU."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from loadtest.bench import gpu
from loadtest.bench.fixtures import texts
from service.engine.models.profiling import GPU_BATCH_TOKENS

CHARACTERS_PER_TOKEN = 7
"""More than any text of these has."""
FULL_BATCHES = 3


def test_the_load_holds_several_full_batches() -> None:
    characters = sum(map(len, texts(gpu.DOCUMENTS_PER_REQUEST, seed=0))) / gpu.DOCUMENTS_PER_REQUEST
    tokens = gpu.CLIENTS * gpu.DOCUMENTS_PER_REQUEST * characters / CHARACTERS_PER_TOKEN
    assert tokens >= FULL_BATCHES * GPU_BATCH_TOKENS


def test_tests_that_do_not_end_leave_the_figures_to_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, env: dict[str, str], timeout: float, **__: Any) -> None:
        assert env["PYTORCH_ALLOC_CONF"] == "expandable_segments:True", "not the allocator of the service"
        raise subprocess.TimeoutExpired("pytest", timeout)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.delenv("PYTORCH_ALLOC_CONF", raising=False)
    assert gpu._tests() == 1
