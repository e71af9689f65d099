"""`python -m tests.rehearsal A10G …`: runs Python with these arguments on a modelled device.

The device's state file and reports are in `--folder` (default: a new one, whose name is printed). Example:
`python -m tests.rehearsal H200 -m service.engine.tools.engine_benchmark documents`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.rehearsal import environment
from tests.rehearsal.devices import DEVICES
from tests.rehearsal.state import DeviceState


def main() -> int:
    """Become that process."""
    parser = argparse.ArgumentParser(prog="python -m tests.rehearsal", description=__doc__)
    parser.add_argument("--folder", type=Path, help="of the device's state file and reports")
    parser.add_argument("--no-nvml", action="store_true", help="as in a container without the driver's libnvidia-ml")
    parser.add_argument("device", choices=DEVICES)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of Python")
    chosen = parser.parse_args()
    if not environment.is_there():
        parser.error("there is no rehearsal's environment; run `make .venv/.rehearsal`")
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="gleaner-rehearsal-"))
    device = DEVICES[chosen.device]
    DeviceState(device, folder)
    print(f"the modelled {device.name}: {folder}/state, {folder}/reports", file=sys.stderr)
    names = {**environment.ENGINE_VARIABLES, **os.environ}
    names |= environment.variables(device, folder, nvml=not chosen.no_nvml)
    command = [str(environment.PYTHON), *chosen.arguments]
    os.execve(command[0], command, names)


if __name__ == "__main__":
    sys.exit(main())
