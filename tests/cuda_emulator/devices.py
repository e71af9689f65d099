"""The devices that can be emulated, as data; the state file that a test changes one by, and its reports.

Rates are what kernels are assumed to reach, not what a data sheet promises; they make the order of events plausible and
are no prediction.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

MEGA, GIGA, TERA = 10**6, 10**9, 10**12


@dataclass(frozen=True, slots=True)
class Device:
    """One kind of GPU.

    Attributes:
        sm: compute capability, ten times.
        context_bytes: device memory that the driver's context takes.
        half_flops, single_flops, byte_flops: a second, of matrix products in 16, 32 and 8 bits.
        memory_rate, bus_rate: bytes a second, of device memory and between it and the host.
        launch_ns: of the host's time, which the driver takes to queue one kernel.
        least_kernel_ns: of the device's time, for the smallest kernel.
    """

    name: str
    sm: int
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    half_flops: int
    single_flops: int
    byte_flops: int
    memory_rate: int
    bus_rate: int
    context_bytes: int = 350 * MEGA
    launch_ns: int = 2_200
    least_kernel_ns: int = 2_000

    def setting(self) -> str:
        """The value of the variable CUDA_EMULATOR."""
        return ";".join(f"{name}={value}" for name, value in asdict(self).items())

    @property
    def architecture(self) -> str:
        return f"sm_{self.sm}"


T4 = Device("T4", 75, 40, 15_843 * MEGA, 4 * MEGA, 25 * TERA, 6 * TERA, 25 * TERA, 250 * GIGA, 6 * GIGA)
A10G = Device("A10G", 86, 80, 23_500 * MEGA, 6 * MEGA, 60 * TERA, 25 * TERA, 60 * TERA, 500 * GIGA, 12 * GIGA)
L4 = Device("L4", 89, 58, 23_580 * MEGA, 48 * MEGA, 55 * TERA, 25 * TERA, 110 * TERA, 250 * GIGA, 12 * GIGA)
H100 = Device("H100", 90, 132, 85_000 * MEGA, 50 * MEGA, 550 * TERA, 50 * TERA, 1_000 * TERA, 2_600 * GIGA, 50 * GIGA)
H200 = Device("H200", 90, 132, 150_100 * MEGA, 50 * MEGA, 640 * TERA, 50 * TERA, 1_100 * TERA, 4_000 * GIGA, 50 * GIGA)

DEVICES = {device.name: device for device in (T4, A10G, L4, H100, H200)}

Report: TypeAlias = dict[str, Any]
LAUNCH_FAILED = 719
"""CUDA's number for `unspecified launch failure`."""
SERIAL_BYTES = 8
GPU_IS_LOST = 15
"""NVML's."""


class DeviceState:
    """The state file in a folder. Keys: `driver/state.h`, and those of NVML's stub."""

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
        """Read the reports of all processes that used the device, at most 0.2 s old."""
        return [json.loads(path.read_text()) for path in sorted((self._folder / "reports").glob("*.json"))]
