"""`python -m tests.cuda_emulator A10G …`: runs Python with these arguments on a modelled device.

The device's state file and reports are in `--folder` (default: a new one, whose name is printed). Example:
`python -m tests.cuda_emulator H200 -m service.engine.tools.engine_benchmark documents`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.cuda_emulator import environment
from tests.cuda_emulator.devices import DEVICES, DeviceState


def main() -> int:
    """Become that process."""
    parser = argparse.ArgumentParser(prog="python -m tests.cuda_emulator", description=__doc__)
    parser.add_argument("--folder", type=Path, help="of the device's state file and reports")
    parser.add_argument("--no-nvml", action="store_true", help="as in a container without the driver's libnvidia-ml")
    parser.add_argument("device", choices=DEVICES)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of Python")
    chosen = parser.parse_args()
    if not environment.is_there():
        parser.error("there is no CUDA emulator; run `make .venv/.cuda-emulator`")
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="gleaner-emulator-"))
    device = DEVICES[chosen.device]
    DeviceState(device, folder)
    print(f"the modelled {device.name}: {folder}/state, {folder}/reports", file=sys.stderr)
    names = {**environment.ENGINE_VARIABLES, **os.environ}
    names |= environment.variables(device, folder, nvml=not chosen.no_nvml)
    command = [str(environment.PYTHON), *chosen.arguments]
    os.execve(command[0], command, names)


if __name__ == "__main__":
    sys.exit(main())
