"""The engine process: `python -m service.engine`. Started by the supervisor; exits with code 0 once drained."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NoReturn

from service.engine.assembly import make_loop
from service.engine.device.gpu_monitor import GpuMonitor
from service.engine.device.watch import DeviceHealth
from service.engine.engine_socket import EngineSocket, Waker
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.startup import MakeFactory, Startup, model_factory
from service.environment import heartbeat_pipe
from service.host_memory import peak_switch
from service.logs import configure
from service.metrics.engine import EngineMetrics
from service.process import EXIT_BROKEN, die_with_parent, exit_now, hide_memory, send_heartbeat
from service.settings import read_settings

log = logging.getLogger(__name__)


def main(make_factory: MakeFactory = model_factory) -> int:
    """Run one engine with the models of `make_factory`; returns the process's exit code."""
    settings = read_settings()
    configure(settings.log_level)
    die_with_parent()
    with suppress(OSError):
        peak_switch()
    hide_memory()
    waker = Waker()
    stop = _StopSignal(waker)
    metrics = EngineMetrics()
    metrics.starts.inc()
    ipc = EngineSocket(settings.engine_address, waker)
    executor = DeviceExecutor(DeviceHealth(waker.wake))
    startup = Startup(settings, executor, ipc.calls, metrics, make_factory)
    gpu = GpuMonitor(waker.wake)
    if settings.gpu_watch not in ("auto", "none"):
        gpu.begin(settings.gpu_watch)
    loop = make_loop(str(os.getpid()), ipc, executor, startup.state, settings, metrics, gpu=gpu)
    startup.begin(loop.models, loop.open)
    loop.run(stop.received, partial(send_heartbeat, heartbeat_pipe()))
    ipc.close()
    if loop.exit_reason is None:
        return 0
    log.error("the engine cannot go on", extra={"reason": loop.exit_reason.reason})
    return loop.exit_reason.exit_code


class _StopSignal:
    """Records SIGTERM, and wakes the loop, which acts on it."""

    def __init__(self, waker: Waker) -> None:
        self._received = False
        signal.signal(signal.SIGTERM, self._record)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(waker.writer_fileno(), warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # The supervisor starts us with it blocked.

    def _record(self, _signal: int, _frame: object) -> None:
        self._received = True

    def received(self) -> bool:
        return self._received


def end_process(run: Callable[[], int]) -> NoReturn:
    """End this process with `run`'s exit code, without waiting for other threads."""
    code = EXIT_BROKEN
    try:
        code = run()
    except BaseException:
        log.exception("the engine failed")
    finally:
        exit_now(code)


if __name__ == "__main__":
    end_process(main)
