"""A library that passes for NVML, compiled from `stub.c`; unmodified pynvml finds it through LD_LIBRARY_PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("stub.c")

HEALTHY = {
    "utilization": 73,
    "memory_total": 24_000_000_000,
    "memory_used": 5_000_000_000,
    "temperature": 61,
    "power": 187_500,
    "power_limit": 300_000,
    "clock_sm": 1_695,
    "clock_memory": 6_250,
    "throttled": 0x4 | 0x40,
    "ecc_corrected": 3,
    "ecc_uncorrected": 0,
}
"""A GPU that is busy, capped by its power limit and warm."""


class StubNvml:
    """The library in a folder, and the state of its one GPU."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        assert compiler is not None, "a C compiler is needed (Debian: apt install gcc libc6-dev)"
        folder.mkdir(parents=True, exist_ok=True)
        library = folder / "libnvidia-ml.so.1"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-o", str(library), str(SOURCE)], check=True)
        self._state = folder / "state"
        self.environment = {
            "LD_LIBRARY_PATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("LD_LIBRARY_PATH")))),
            "NVML_STUB_STATE": str(self._state),
        }
        self.set(**HEALTHY)

    def set(self, **numbers: int) -> None:
        """The GPU is like this from now on."""
        lines = "".join(f"{key} {number}\n" for key, number in numbers.items())
        fresh = self._state.with_suffix(".new")
        fresh.write_text(lines)
        fresh.replace(self._state)
