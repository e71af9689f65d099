"""A memory hog: `python -m loadtest.bench.engine.memory_hog FOLDER LEAVE_BYTES` takes and frees memory until killed.

It takes what the control group in FOLDER has left except LEAVE_BYTES, holds it for some seconds, frees it, and repeats.
Where FOLDER is empty it takes up to `MOST_BYTES` of the host's memory.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from loadtest.bench.engine.cgroup import MemoryCgroup

STEP_BYTES = 16 << 20
MOST_BYTES = 2 << 30
PAUSE_SECONDS = (1.0, 6.0)


def main() -> None:
    """Take and free memory, again and again."""
    folder, leave_bytes = sys.argv[1], int(sys.argv[2])
    group = MemoryCgroup(Path(folder)) if folder else None
    draw = random.Random(0)
    while True:
        taken: list[bytearray] = []
        while len(taken) * STEP_BYTES < MOST_BYTES and (group is None or group.left_bytes() > leave_bytes + STEP_BYTES):
            taken.append(bytearray(b"\1") * STEP_BYTES)
            time.sleep(0.002)
        print(len(taken) * STEP_BYTES, flush=True)
        time.sleep(draw.uniform(*PAUSE_SECONDS))
        taken.clear()
        time.sleep(draw.uniform(*PAUSE_SECONDS))


if __name__ == "__main__":
    main()
