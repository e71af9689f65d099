"""How an engine's process ends while other threads of it hang."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ENDING = """
import threading
from concurrent.futures import ThreadPoolExecutor
from service.engine.__main__ import end_process

hanging = ThreadPoolExecutor(1).submit(threading.Event().wait)  # An ordinary exit joins its thread.

def run():
    {work}

end_process(run)
"""


@pytest.mark.parametrize(("work", "code"), [("return 69", 69), ("raise RuntimeError('CUDA error')", 1)])
def test_a_process_ends_though_a_thread_hangs_in_a_driver(work: str, code: int) -> None:
    root = Path(__file__).parents[2]
    program = ENDING.format(work=work)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=root)
    assert done.returncode == code
    assert ("CUDA error" in done.stderr) == (code == 1)
