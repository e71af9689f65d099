"""Runs a function on an emulated device, in a process of its own that is forked before CUDA is initialised.

A server that has imported torch and transformers forks the processes, so that a run costs a second and not ten; each
has a device and a CUDA context of its own, and may break both.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.cuda_emulator import environment
from tests.cuda_emulator.devices import Device, DeviceState, Report
from tests.cuda_emulator.libraries import DRIVER

LIMIT_SECONDS = 280.0
PRELOADED = [
    "torch.utils.flop_counter",
    "transformers",
    "tests.cuda_emulator.engine_parts",
    "service.engine.encoder.encoder",
]
Function = Callable[..., Any]


class Gpu(DeviceState):
    """The device of this process."""

    def __init__(self, device: Device, folder: Path) -> None:
        super().__init__(device, folder)
        self.folder = folder
        self.device = device
        self._emulator = ctypes.CDLL(DRIVER)
        self._emulator.emulator_report.restype = ctypes.c_char_p

    def report(self) -> Report:
        """What was counted so far."""
        found: Report = json.loads(self._emulator.emulator_report())
        return found

    @contextmanager
    def kernels(self) -> Iterator[Counter[str]]:
        """The kernels launched in the context, by (mangled) name; filled when it ends."""
        found: Counter[str] = Counter()
        before = self._launched()
        yield found
        found.update(self._launched() - before)

    def _launched(self) -> Counter[str]:
        return Counter(self.report()["kernels"])


class EmulatedRunFailed(AssertionError):
    """The function raised an error, or its process ended without a result."""


def emulate(function: Function, device: Device, folder: Path, *arguments: object, nvml: bool = True) -> Any:
    """Run `function(gpu, *arguments)` in a process of its own and return its value.

    Raises:
        EmulatedRunFailed: with the function's traceback, or the exit code of its process.
    """
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe(duplex=False)
    names = environment.variables(device, folder, nvml=nvml)
    process = context.Process(target=_run, args=(theirs, function, device, folder, names, arguments))
    with _server_environment(names):
        process.start()
    theirs.close()
    try:
        if not ours.poll(LIMIT_SECONDS):
            raise EmulatedRunFailed(f"no result after {LIMIT_SECONDS:.0f} s")
        succeeded, value = ours.recv()
    except EOFError:
        process.join()
        raise EmulatedRunFailed(f"the emulated process ended with code {process.exitcode}") from None
    finally:
        process.kill()
        process.join()
    if not succeeded:
        raise EmulatedRunFailed(value)
    return value


@contextmanager
def _server_environment(names: dict[str, str]) -> Iterator[None]:
    """The server is started with the first run, and needs what is read when libraries are loaded."""
    kept = dict(os.environ)
    os.environ.update({**environment.ENGINE_VARIABLES, **names})
    multiprocessing.set_executable(str(environment.PYTHON))
    multiprocessing.set_forkserver_preload(PRELOADED)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _run(
    result: Connection,
    function: Function,
    device: Device,
    folder: Path,
    names: dict[str, str],
    arguments: tuple[object, ...],
) -> None:
    os.environ.update(names)
    try:
        value = function(Gpu(device, folder), *arguments)
    except BaseException:
        result.send((False, traceback.format_exc()))
    else:
        result.send((True, value))
    result.close()
    os._exit(0)  # A device that hangs would hold up an ordinary exit.
