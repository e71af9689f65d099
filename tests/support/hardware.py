"""What some tests need of the machine: `pytest.mark.needs("cuda")` skips a test where it is not there.

At the end of a run, what was not run is listed with what it needs, so that a loss is seen. Any other tool that is
missing fails its tests: `make test` and `make test-all` install what their tests use.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pytest

from tests.support.source_tree import ROOT

RECIPES = ROOT / "build/recipes"
"""The environments of `make recipes`."""
NOT_HERE = "Skipped: needs "


def _cuda() -> bool:
    import torch

    return torch.cuda.is_available()


def _cuda_emulator() -> bool:
    from tests.cuda_emulator import environment

    return environment.is_there()


def _bfloat16() -> bool:
    from service.engine.device.selection import onednn_has_bfloat16

    return onednn_has_bfloat16()


def _int8() -> bool:
    from service.engine.device.selection import FAST_INT8_FLAGS, cpu_has

    return cpu_has(FAST_INT8_FLAGS) and "AVX2" not in os.environ.get("ONEDNN_MAX_CPU_ISA", "")


def _mounts() -> bool:
    command = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True).returncode == 0


def _namespaces() -> bool:
    command = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc", "true"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True).returncode == 0


NEEDS: dict[str, tuple[Callable[[], bool], str]] = {
    "cuda": (_cuda, "a CUDA device"),
    "cuda-emulator": (_cuda_emulator, "a CUDA build of torch and the CUDA emulator (`make test-cuda-emulator`)"),
    "bfloat16": (_bfloat16, "a processor for which oneDNN has bfloat16 products (AVX-512 or AVX-NE-CONVERT)"),
    "int8": (_int8, "a processor with VNNI instructions"),
    "pid-namespaces": (_namespaces, "unshare, and a kernel that gives its user process ids of their own"),
    **{
        f"recipe-{name}": ((RECIPES / name / ".ready").exists, f"an environment with {name} (`make recipes`)")
        for name in ("airflow", "daft", "ray", "spark")
    },
    "mounts": (_mounts, "unshare, and a kernel that lets its user mount in a namespace"),
}
"""What can be needed → whether it is there, and what it is in words."""


@cache
def is_there(need: str) -> bool:
    return NEEDS[need][0]()


def check(item: pytest.Item) -> None:
    """Skip a test that needs what is not here, and one that would begin after the second `TESTS_UNTIL`."""
    if time.time() > float(os.environ.get("TESTS_UNTIL") or "inf"):
        pytest.skip("needs a faster machine, to begin in the time that there is")
    for marker in item.iter_markers("needs"):
        (need,) = marker.args
        if not is_there(need):
            pytest.skip(f"needs {NEEDS[need][1]}")


def not_run(skipped: Iterable[pytest.TestReport]) -> Iterator[str]:
    """Lines that say what was not run for want of something, most first."""
    lost: dict[str, Counter[str]] = {}
    for report in skipped:
        assert isinstance(report.longrepr, tuple)
        why = report.longrepr[2]
        if why.startswith(NOT_HERE):
            lost.setdefault(why.removeprefix(NOT_HERE), Counter())[report.nodeid.partition("::")[0]] += 1
    for need, files in sorted(lost.items(), key=lambda each: -each[1].total()):
        yield f"{files.total()} tests need {need}:"
        yield from (f"    {count:4} in {file}" for file, count in sorted(files.items()))
