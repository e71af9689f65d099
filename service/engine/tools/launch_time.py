"""Launch time: the processor's time to queue a batch, by transformers' code and by fused layers.

`python -m service.engine.tools.launch_time FOLDER`; on a machine without a GPU by the stand-in, whose kernels cost the
host nothing: `python -m tests.rehearsal A10G -m service.engine.tools.launch_time FOLDER`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch

from service.engine.device.dtype import choose_dtype
from service.engine.device.selection import choose_device, use_threads
from service.engine.encoder.encoder import load_encoder
from service.engine.encoder.forward_path import PACKED
from service.engine.execution.packed_batch import pack
from service.process import exit_now

SEQUENCES, TOKENS = 20, 175
WARM_RUNS, RUNS = 5, 60


def launch_times(folder: Path, device_name: str) -> dict[str, float]:
    """Milliseconds for each path that the model can take."""
    device = choose_device(device_name)
    dtype = choose_dtype("auto", device)
    found = {}
    for known in (PACKED, None):
        encoder = load_encoder(folder, device, dtype, known=known)
        batch = pack([np.zeros(TOKENS, dtype=np.int32)] * SEQUENCES, device, encoder.first_position)
        with torch.inference_mode():
            milliseconds = _milliseconds(partial(encoder.compute, batch))
        found[encoder.path.path.value] = milliseconds
    return found


def _milliseconds(work: Callable[[], object]) -> float:
    """The mean of the faster half of many runs: other processes disturb the slower ones."""
    seconds = []
    for _ in range(WARM_RUNS + RUNS):
        begun = time.thread_time()
        work()
        seconds.append(time.thread_time() - begun)
    fast = sorted(seconds[WARM_RUNS:])[: RUNS // 2]
    return 1_000 * sum(fast) / len(fast)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m service.engine.tools.launch_time", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    options = parser.parse_args(arguments)
    use_threads(1)
    for path, milliseconds in launch_times(options.folder, options.device).items():
        print(f"{path}: {milliseconds:.2f} ms to queue {SEQUENCES} sequences of {TOKENS} tokens")
    return 0


if __name__ == "__main__":
    exit_now(main(sys.argv[1:]))
