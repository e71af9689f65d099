"""The service over HTTP on a modelled device, with and without NVML."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from loadtest.service_process import processes_running
from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.cuda_emulator.conftest import Modelled
from tests.cuda_emulator.devices import A10G
from tests.support.service import serving
from tests.support.tiny_models import make_model

CLIENTS = 8
REQUESTS = 40
DOCUMENTS = [{"id": str(number), "text": "invoice total due from maria smith " * 20} for number in range(8)]
NVML_NOT_SUPPORTED = 3
SLOW_A10G = replace(A10G, least_kernel_ns=1_000_000)
"""So that batches are waited for, as those of a large model are."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    publish(make_model(tmp_path / "m", hidden=256, layers=4), "tiny", Store(tmp_path / "store"))
    return tmp_path


def test_documents_are_answered_and_nothing_spins(
    home: Path, modelled: Modelled, record_property: pytest.FixtureRequest
) -> None:
    state = modelled(SLOW_A10G)
    with serving(home, MODELS="tiny", DEVICE="cuda", THREADS=1, WORKERS=1) as service:
        (before,) = state.reports()
        engine = next(iter(processes_running("service.engine", service.process.pid)))
        used, busy, began = engine.cpu_times().user, service.metric("gleaner_busy_seconds_total"), time.monotonic()
        spent: list[float] = []

        def client(_: int) -> set[int]:
            codes = set()
            for _ in range(REQUESTS // CLIENTS):
                asked = time.monotonic()
                codes.add(service.extract(documents=DOCUMENTS, timeout=120.0).status_code)
                spent.append(time.monotonic() - asked)
            return codes

        with ThreadPoolExecutor(CLIENTS) as clients:
            codes = set.union(*clients.map(client, range(CLIENTS)))
        seconds = time.monotonic() - began
        figures = {
            "documents a second": REQUESTS * len(DOCUMENTS) / seconds,
            "p50 of a request, ms": 1_000 * statistics.median(spent),
            "device busy": (service.metric("gleaner_busy_seconds_total") - busy) / seconds,
            "engine's share of a core": (engine.cpu_times().user - used) / seconds,
        }
        (after,) = state.reports()
    for name, figure in figures.items():
        print(f"{name}: {figure:.2f}")
        record_property(name, round(figure, 2))  # type: ignore[operator]
    assert codes == {200}
    assert after["launches"] > before["launches"]
    assert after["violations"] == {}
    waited = after["slept_seconds"] - before["slept_seconds"]
    assert waited > 0.1
    assert after["spun_seconds"] - before["spun_seconds"] <= 0.1 * waited, "batches are waited for by spinning"


def test_a_service_without_nvml_serves(home: Path, modelled: Modelled) -> None:
    modelled(A10G, nvml=False)
    with serving(home, MODELS="tiny", DEVICE="cuda", THREADS=1, WORKERS=1) as service:
        assert service.extract(text="from anna").status_code == 200


def test_a_service_whose_gpu_tells_nothing_of_its_fabric_serves(home: Path, modelled: Modelled) -> None:
    modelled(A10G).set(fail_fabric=NVML_NOT_SUPPORTED)
    with serving(home, MODELS="tiny", DEVICE="cuda", THREADS=1, WORKERS=1) as service:
        assert service.extract(text="from anna").status_code == 200


PROGRAM = """
import sys
from pathlib import Path
from loadtest.bench import gpu
gpu._measure(Path(sys.argv[1]), "small", 3.0, 10)
"""


@pytest.mark.timeout(900)
def test_the_gpu_benchmark_prints_its_table(tmp_path: Path, modelled: Modelled) -> None:
    modelled(A10G)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    for row in (
        "device | A10G, 21.9 GiB, bfloat16",
        "engine busy at saturation",
        "one document of 128 tokens, engine",
        "batches that took more memory than predicted | 0 of 10",
    ):
        assert f"\n| {row}" in printed
    assert "failed: 0 |" in printed
