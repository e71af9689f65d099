"""No child outlives its parent, and no other process of the same user reads its memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from service.process import end_of
from tests.support.processes import lives
from tests.support.service import wait_until

CHILD = "import time; from service.process import die_with_parent; die_with_parent(); print('up'); time.sleep(600)"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-uc", {CHILD!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does it")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_dies_with_its_parent_however_that_dies(how: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert lives(child)
        os.kill(parent.pid, how)
        wait_until(lambda: not lives(child))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does it")
def test_memory_is_hidden_from_other_processes_of_the_same_user() -> None:
    """PR_GET_DUMPABLE is 3; what it says is what the kernel asks before it opens /proc/PID/mem or environ."""
    code = "import ctypes; from service.process import hide_memory; p = ctypes.CDLL(None).prctl;"
    code += "print(p(3, 0, 0, 0, 0)); hide_memory(); print(p(3, 0, 0, 0, 0))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["1", "0"]


def test_a_process_may_open_as_many_files_as_it_is_allowed_to() -> None:
    program = """
import resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
from service.process import raise_open_files
assert raise_open_files() == resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_left_after_a_collection_is_frozen() -> None:
    program = """
import gc, weakref
from service.process import collect_once
class Circle:
    def __init__(self): self.own = self
gc.disable()
garbage, loaded = weakref.ref(Circle()), Circle()
collect_once()
assert garbage() is None and gc.get_freeze_count() > 1_000 and len(gc.get_objects()) < 100
dropped, loaded = weakref.ref(loaded), None
gc.collect()
assert dropped() is not None
collect_once()
assert dropped() is None
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("exit_code", "words"),
    [
        (-9, "killed by SIGKILL; often the kernel's memory killer, see dmesg"),
        (-11, "killed by SIGSEGV"),
        (-64, "killed by SIGRTMAX"),
        (-200, "killed by signal 200"),
        (78, "exit code 78"),
    ],
)
def test_an_exit_code_is_put_into_words(exit_code: int, words: str) -> None:
    assert end_of(exit_code) == words
