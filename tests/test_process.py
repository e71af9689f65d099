"""No child outlives its parent, and no other process of the same user reads its memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

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


def test_what_is_left_after_a_collection_is_never_looked_through_again_unless_asked_for() -> None:
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


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does it")
def test_a_thread_of_short_turns_keeps_its_priority_and_starts_ordinary_threads() -> None:
    """By what sched_getattr(2) says: flags and nice after size and policy, then a slice where the kernel gives one."""
    program = """
import ctypes, os, platform, struct, sys, threading
from service.process import SLICE_NANOSECONDS, SWITCH_SECONDS, take_short_turns
def asked():
    number, buffer = {"x86_64": 315, "aarch64": 275}[platform.machine()], ctypes.create_string_buffer(48)
    assert ctypes.CDLL(None).syscall(number, 0, buffer, 48, 0) == 0
    return struct.unpack("=IIQiIQQQ", buffer.raw)[1:6]
os.nice(3)
before = asked()
take_short_turns()
assert sys.getswitchinterval() == SWITCH_SECONDS
policy, flags, nice, _, slice = asked()
assert (policy, flags, nice) == (os.SCHED_OTHER, 1, 3)
assert slice in (before[4], SLICE_NANOSECONDS)
started = []
thread = threading.Thread(target=lambda: started.append(asked()))
thread.start()
thread.join()
assert started == [before]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the policy")
def test_a_policy_that_somebody_has_chosen_stays() -> None:
    program = """
import os
from service.process import take_short_turns
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
take_short_turns()
assert os.sched_getscheduler(0) == os.SCHED_BATCH
"""
    subprocess.run([sys.executable, "-c", program], check=True)
