"""`gleaner plan` predicts what an engine of the same model then shows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.support.service import environment, serving, wait_until
from tests.support.tiny_models import make_model


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    publish(make_model(home / "m", hidden=64), "m", Store(home / "store"))
    return home


def _plan(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "service.cli", "plan", *arguments]
    return subprocess.run(command, env=environment(home), capture_output=True, text=True, timeout=250, check=False)


def test_a_plan_agrees_with_the_engine(home: Path) -> None:
    done = _plan(home, "m", "--json")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    with serving(home, MODELS="m") as service, service.client() as client:
        (served,) = client.get("/models").json()["models"]
        wait_until(lambda: service.metric("gleaner_budget_tokens{") > 0)
        budget = service.metric("gleaner_budget_tokens{")
        room = service.metric("gleaner_memory_room_bytes")
        per_token = service.metric("gleaner_memory_bytes_per_token{")
    assert plan["weights_bytes"] == served.get("parameter_bytes", plan["weights_bytes"])
    assert plan["batch_tokens"] == budget
    assert plan["room_bytes"] == pytest.approx(room, rel=0.5)
    assert plan["activation_bytes_per_1000_tokens"] >= 0
    assert per_token >= 0


def test_a_plan_for_a_gpu_is_a_table_with_the_measuring_device(home: Path) -> None:
    done = _plan(home, "m", "--gpu-memory-gib", "16", "--dtype", "float16")
    assert done.returncode == 0, done.stderr
    assert "m@stable, float16" in done.stdout, "measured here in bfloat16, as a CPU has none"
    lines = {line.split("  ")[0].strip(): line for line in done.stdout.splitlines()}
    assert "a GPU of 16 GiB" in lines["device"]
    assert "threads" in lines["measured on"]
    assert "its speed is not predicted" in done.stdout
    assert "tokens" in lines["largest batch"]
    assert lines["models of this size that fit"]


def test_a_plan_for_a_gpu_counts_what_a_layer_holds(home: Path) -> None:
    width = 512
    publish(make_model(home / "wide", hidden=width), "wide", Store(home / "store"))
    done = _plan(home, "wide", "--gpu-memory-gib", "16", "--dtype", "float16", "--json")
    assert done.returncode == 0, done.stderr
    inner_bytes = 1_000 * 2 * width * 2  # float16
    assert inner_bytes < json.loads(done.stdout)["activation_bytes_per_1000_tokens"] < 20 * inner_bytes


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nobody",), 1, "nobody"),
        (("m", "--gpu-memory-gib", "0"), 2, "such as 16"),
        (("m", "--gpu-memory-gib", "nan"), 2, "such as 16"),
        (("m", "--gpu-memory-gib", "0.001"), 1, "does not fit a GPU of 0.001 GiB"),
        (("m", "--gpu-memory-gib", "16", "--dtype", "int8"), 2, "int8 is for CPUs"),
        (("m", "--dtype", "float16", "--device", "cpu"), 1, "GLEANER_DTYPE or --dtype"),
    ],
)
def test_a_bad_model_or_size_has_its_exit_code(home: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    done = _plan(home, *arguments)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
