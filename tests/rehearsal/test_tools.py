"""The engine's tools, and the benchmark that `make gpu` runs, from end to end on a modelled device."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.rehearsal.conftest import Modelled
from tests.rehearsal.devices import A10G, H200
from tests.support.tiny_models import make_model


def _tool(name: str, store: Path, *arguments: str) -> dict[str, Any]:
    import os

    command = [sys.executable, "-m", f"service.engine.tools.{name}", "tiny", *arguments]
    environment = {**os.environ, "GLEANER_MODEL_STORE": str(store), "GLEANER_DEVICE": "cuda"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def store(tmp_path: Path) -> Path:
    publish(make_model(tmp_path / "m", hidden=64), "tiny", Store(tmp_path / "store"))
    return tmp_path / "store"


def test_the_engine_benchmark_measures_device_and_memory(store: Path, modelled: Modelled) -> None:
    modelled(A10G)
    found = _tool("engine_benchmark", store, "10")
    assert found["device"].startswith("A10G")
    assert found["dtype"] == "bfloat16"
    assert found["matrix_flops"] > 0
    assert found["engine_tokens_per_second"] > 0
    assert (found["batches_checked"], found["batches_below"]) == (10, 0)


def test_the_graph_benchmark_captures_every_row(store: Path, modelled: Modelled) -> None:
    modelled(H200)
    found = _tool("graph_benchmark", store)
    assert found["rows"]
    assert all(row["right"] for row in found["rows"]), found["rows"]
    assert found["document"]["graph_ms"] > 0


def test_the_gpu_benchmark_prints_its_tables(tmp_path: Path, modelled: Modelled) -> None:
    modelled(A10G)
    program = "import sys; from pathlib import Path; from loadtest.bench.engine import gpu; "
    program += "gpu._measure(Path(sys.argv[1]), 'small', 3.0, 10)"
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    for row in ("device | A10G", "over HTTP", "engine busy at saturation", "one document of 128 tokens"):
        assert f"\n| {row}" in done.stdout
    assert "not recorded" not in done.stdout
