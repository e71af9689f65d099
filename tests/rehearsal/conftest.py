"""All tests here are marked `rehearsal`, and need its environment (`make rehearsal-gpu`)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rehearsal import environment
from tests.rehearsal.devices import Device
from tests.rehearsal.state import DeviceState

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.rehearsal)
            item.add_marker(pytest.mark.needs("rehearsal"))


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
