"""The benchmark that `make gpu` runs, with the engine's tools in it, from end to end on a modelled device."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rehearsal.conftest import Modelled
from tests.rehearsal.devices import A10G

PROGRAM = """
import sys
from pathlib import Path
from loadtest.bench import gpu
gpu._measure(Path(sys.argv[1]), "small", 3.0, 10)
"""


@pytest.mark.timeout(900)
def test_the_gpu_benchmark_prints_its_table(tmp_path: Path, modelled: Modelled) -> None:
    modelled(A10G)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    for row in (
        "device | A10G, 21.9 GiB, bfloat16",
        "engine busy at saturation",
        "one document of 128 tokens, engine",
        "memory function: below a measured peak | 0 of 10",
    ):
        assert f"\n| {row}" in printed
    assert "failed: 0 |" in printed
