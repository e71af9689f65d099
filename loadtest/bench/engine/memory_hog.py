"""`python -m loadtest.bench.engine.memory_hog FOLDER LEAVE_BYTES`: takes and frees memory beside a service, until it is
ended.

Takes what a control group has left but for LEAVE_BYTES, holds it for some seconds, frees it, and begins anew. The
folder is the group's; without one, the host's memory is taken up to `MOST_BYTES`.
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
    """Take and free."""
    folder, leave_bytes = sys.argv[1], int(sys.argv[2])
    box = MemoryCgroup(Path(folder)) if folder else None
    draw = random.Random(0)
    while True:
        taken: list[bytearray] = []
        while len(taken) * STEP_BYTES < MOST_BYTES and (box is None or box.left_bytes() > leave_bytes + STEP_BYTES):
            taken.append(bytearray(b"\1") * STEP_BYTES)
            time.sleep(0.002)
        print(len(taken) * STEP_BYTES, flush=True)
        time.sleep(draw.uniform(*PAUSE_SECONDS))
        taken.clear()
        time.sleep(draw.uniform(*PAUSE_SECONDS))


if __name__ == "__main__":
    main()
