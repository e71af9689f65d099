"""Readings of a GPU through unmodified pynvml over the stub library, each in a process that loads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.nvml.stub import HEALTHY, StubNvml

READ = """
import json, sys
from dataclasses import asdict
from service.engine.device.nvml import Gpu, GpuLost, NvmlMissing
try:
    gpu = Gpu(sys.argv[1])
    readings = []
    for _ in range(int(sys.argv[2])):
        reading = gpu.read()
        readings.append(asdict(reading) | {"throttled": sorted(reading.throttled), "fatal": reading.fatal})
    print(json.dumps(readings))
except (GpuLost, NvmlMissing) as error:
    print(json.dumps({type(error).__name__: str(error)}))
"""


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> StubNvml:
    return StubNvml(tmp_path_factory.mktemp("nvml"))


def _read(stub: StubNvml, name: str = "0", times: int = 1) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", READ, name, str(times)],
        env={**os.environ, **stub.environment},
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["0", "GPU-0001"])
def test_every_reading_is_in_its_unit(stub: StubNvml, name: str) -> None:
    stub.set(**HEALTHY)
    (reading,) = _read(stub, name)
    assert reading == {
        "utilization_ratio": 0.73,
        "memory_used_bytes": 5_000_000_000,
        "memory_total_bytes": 24_000_000_000,
        "temperature_celsius": 61.0,
        "power_watts": 187.5,
        "power_limit_watts": 300.0,
        "clocks_hertz": {"sm": 1.695e9, "memory": 6.25e9},
        "throttled": ["hardware_thermal", "power_cap"],
        "ecc_errors": {"corrected": 3, "uncorrected": 0},
        "recovery_action": 0,
        "xids": [],
        "fatal": None,
    }


def test_a_mig_part_has_its_own_memory_and_else_the_whole_gpu_s_readings(stub: StubNvml) -> None:
    stub.set(**HEALTHY, mig=1)
    for name in ("GPU-0001", "MIG-0001"):
        (reading,) = _read(stub, name)
        assert (reading["memory_total_bytes"], reading["utilization_ratio"]) == (24_000_000_000, 0.73)


def test_an_unsupported_reading_is_left_out(stub: StubNvml) -> None:
    missing = ("utilization", "power", "ecc_corrected", "ecc_uncorrected", "clock_memory", "throttled", "events")
    stub.set(**HEALTHY, **{f"no_{key}": 1 for key in missing})
    (reading,) = _read(stub)
    assert (reading["utilization_ratio"], reading["power_watts"], reading["ecc_errors"]) == (None, None, {})
    assert (reading["clocks_hertz"], reading["throttled"]) == ({"sm": 1.695e9}, [])
    assert reading["temperature_celsius"] == 61.0


@pytest.mark.parametrize(("xid", "fatal"), [(13, None), (79, "the GPU has fallen off the bus (XID 79)")])
def test_an_xid_is_read_once_and_may_be_fatal(stub: StubNvml, xid: int, fatal: str | None) -> None:
    stub.set(**HEALTHY, xid=xid, xid_serial=1)
    first, second = _read(stub, times=2)
    assert (first["xids"], first["fatal"]) == ([xid], fatal)
    assert second["xids"] == []


@pytest.mark.parametrize(
    ("action", "words"), [(1, "reset of the GPU"), (2, "reboot of the node"), (0, None), (4, None)]
)
def test_a_recovery_action_may_be_fatal(stub: StubNvml, action: int, words: str | None) -> None:
    stub.set(**HEALTHY, recovery=action)
    (reading,) = _read(stub)
    assert reading["recovery_action"] == action
    assert words in reading["fatal"] if words else reading["fatal"] is None


def test_a_driver_that_knows_no_recovery_actions_names_none(stub: StubNvml) -> None:
    stub.set(**HEALTHY, no_recovery=1)
    assert _read(stub)[0]["recovery_action"] is None


FABRIC = "from service.engine.device.nvml import describes_fabric; print(describes_fabric())"


@pytest.mark.parametrize(
    ("state", "answers"),
    [
        ({}, True),
        ({"fail_fabric": 3}, False),
        ({"fail_fabric": 15}, False),
        ({"fail_init": 9}, False),
        ({"count": 0}, True),
    ],
)
def test_torch_may_ask_for_links_only_where_nvml_answers(stub: StubNvml, state: dict[str, int], answers: bool) -> None:
    stub.set(**HEALTHY, **state)
    environment = {**os.environ, **stub.environment}
    done = subprocess.run([sys.executable, "-c", FABRIC], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(answers)


def test_without_an_nvml_torch_may_not_ask_for_links(tmp_path: Path) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", FABRIC], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(("code", "words"), [(15, "GPU is lost"), (16, "requires re")])
def test_a_lost_gpu_raises(stub: StubNvml, code: int, words: str) -> None:
    stub.set(fail=code)
    assert words in _read(stub)["GpuLost"]


@pytest.mark.parametrize("name", ["7", "GPU-9999"])
def test_an_unknown_gpu_raises_nvml_missing(stub: StubNvml, name: str) -> None:
    stub.set(**HEALTHY)
    assert name in _read(stub, name)["NvmlMissing"]


def test_without_a_driver_nvml_missing_is_raised(stub: StubNvml) -> None:
    stub.set(fail_init=9)
    assert "NvmlMissing" in _read(stub)
