"""All tests here are marked `cuda_emulator`, and need that emulator (`make test-cuda-emulator`).

The emulator replaces CUDA's driver and libraries below an unmodified CUDA build of torch. All that torch does on the
host is real: dispatch by architecture, allocators, streams, events, memory limits, errors. Kernels compute nothing and
take modelled time. So tests here show which kernels are chosen, what is reserved, what waits for what, and what happens
when memory or the device is gone. They show no values, no speed, no cuDNN and no more than one GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cuda_emulator import environment
from tests.cuda_emulator.devices import Device, DeviceState

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.cuda_emulator)
            item.add_marker(pytest.mark.needs("cuda-emulator"))


Modelled = Callable[..., DeviceState]


@pytest.fixture
def modelled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Modelled:
    """Has the processes that the test starts from now on run on a device; returns that device's state."""

    def model(device: Device, *, nvml: bool = True) -> DeviceState:
        folder = tmp_path / "gpu"
        names = {**environment.ENGINE_VARIABLES, **environment.variables(device, folder, nvml=nvml)}
        for name, value in names.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "executable", str(environment.PYTHON))
        return DeviceState(device, folder)

    return model
