"""Where the emulator's torch and its libraries are, and the environment in which they find each other.

`make .venv/.cuda-emulator` makes them. GLEANER_CUDA_EMULATOR names another folder than `.venv/cuda-emulator`, for a
checkout that borrows them.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.cuda_emulator.devices import Device
from tests.cuda_emulator.libraries import COMPLETE

FOLDER = Path(os.environ.get("GLEANER_CUDA_EMULATOR", Path(__file__).parents[2] / ".venv" / "cuda-emulator"))
PYTHON = FOLDER / "bin" / "python"
LIBRARIES = FOLDER / "cuda"
UUID = "GPU-01020304-0506-0708-090a-0b0c0d0e0f10"
"""What the emulator's device properties say, as NVML writes it."""

ENGINE_VARIABLES = {
    "PYTORCH_ALLOC_CONF": "expandable_segments:True",
    "GOMP_SPINCOUNT": "5000",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
}
"""As the service starts its engines."""


def is_there() -> bool:
    """True if the emulator is here."""
    return PYTHON.exists() and (LIBRARIES / COMPLETE).exists()


def variables(device: Device, folder: Path, *, nvml: bool = True) -> dict[str, str]:
    """Environment variables for a process on this device; `folder` gets its state file and its reports."""
    paths = [str(LIBRARIES), *([str(LIBRARIES / "nvml")] if nvml else [])]
    before = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path and path not in paths]
    reports = folder / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    state = str(folder / "state")
    return {
        "CUDA_HOME": str(LIBRARIES),  # Where kernels are compiled, torch wants to know of headers; none is read.
        "LD_LIBRARY_PATH": ":".join([*paths, *(path for path in before if not path.startswith(str(LIBRARIES)))]),
        "CUDA_EMULATOR": device.setting(),
        "CUDA_EMULATOR_STATE": state,
        "CUDA_EMULATOR_REPORTS": str(reports),
        "NVML_STUB_STATE": state,
        "NVML_STUB_UUID": UUID,
    }
