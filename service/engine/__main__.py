"""The engine process: `python -m service.engine`. Started by the supervisor; leaves with exit code 0 once drained."""

from __future__ import annotations

import logging
import os
import signal
import sys

from service.engine.device.gpu_monitor import GpuMonitor
from service.engine.execution.executor import DeviceExecutor
from service.engine.ipc.loop_calls import LoopCalls
from service.engine.ipc.server import EngineSocket, Waker
from service.engine.loop import EngineLoop
from service.engine.models.startup import start_loading
from service.engine.models.weight_mover import WeightMover
from service.logs import configure
from service.metrics.engine import EngineMetrics
from service.process import die_with_parent
from service.settings import read_settings

log = logging.getLogger(__name__)


def main() -> int:
    """Run one engine; returns the process's exit code."""
    settings = read_settings()
    configure(settings.log_level)
    die_with_parent()
    bell = Waker()
    stop = _StopSignal(bell)
    metrics = EngineMetrics()
    metrics.starts.inc()
    door = EngineSocket(settings.engine_address, bell)
    compute = DeviceExecutor()
    errands = LoopCalls(bell.ring)
    loading = start_loading(settings, compute, bell, errands, metrics)
    mover = WeightMover(compute, errands, metrics)
    gpu = GpuMonitor(bell.ring)
    if settings.gpu_watch not in ("auto", "none"):
        gpu.begin(settings.gpu_watch)
    loop = EngineLoop(str(os.getpid()), door, loading, mover, errands, settings, metrics, gpu=gpu)
    loop.run(stop.is_asked)
    door.close()
    if loop.ending is None:
        return 0
    log.error("the engine cannot go on", extra={"reason": loop.ending.reason})
    return loop.ending.exit_code


class _StopSignal:
    """Takes note of SIGTERM; the loop acts on it."""

    def __init__(self, bell: Waker) -> None:
        self._asked = False
        signal.signal(signal.SIGTERM, self._note)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(bell.hammer_fileno(), warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # The supervisor starts us with it blocked.

    def _note(self, _signal: int, _frame: object) -> None:
        self._asked = True

    def is_asked(self) -> bool:
        return self._asked


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # A loader's thread in the middle of an import would hold up an ordinary exit.
