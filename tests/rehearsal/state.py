"""The state file and the reports of a modelled device: what a test does to it, and what it says was done on it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, TypeAlias

from tests.rehearsal.devices import Device

Report: TypeAlias = dict[str, Any]
LAUNCH_FAILED = 719
"""CUDA's number for `unspecified launch failure`."""
SERIAL_BYTES = 8
GPU_IS_LOST = 15
"""NVML's."""


class DeviceState:
    """The state file in a folder. Keys: `standin/state.h`, and those of NVML's stub."""

    def __init__(self, device: Device, folder: Path) -> None:
        self._folder = folder
        self._always = {"memory_total": device.memory_bytes, "utilization": 50, "temperature": 60}
        self.set()

    def set(self, **numbers: int) -> None:
        """The device is like this from now on; what is not named is as it was at first."""
        self._folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{key} {value}\n" for key, value in {**self._always, **numbers}.items()]
        fresh = self._folder / "state.new"
        fresh.write_text("".join(lines))
        os.replace(fresh, self._folder / "state")
        self._count()

    def _count(self) -> None:
        """Tell processes on the device, which have this file in their memory, to read the state again."""
        file = os.open(self._folder / "state.serial", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            before = int.from_bytes(os.pread(file, SERIAL_BYTES, 0), sys.byteorder)
            os.pwrite(file, (before + 1).to_bytes(SERIAL_BYTES, sys.byteorder), 0)
        finally:
            os.close(file)

    def reports(self) -> list[Report]:
        """Of all processes that used the device, at most 0.2 s old."""
        return [json.loads(path.read_text()) for path in sorted((self._folder / "reports").glob("*.json"))]
