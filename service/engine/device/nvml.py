"""One GPU as NVML shows it: readings, and the error that says that it is gone. The only place that imports pynvml."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import pynvml

from service.core.gpu_reading import THROTTLE_REASONS, GpuReading

Value = TypeVar("Value")

MILLI, MEGA = 1e-3, 1e6
MOST_EVENTS = 100

_GONE = (pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED, pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
_REASONS = {
    "power_cap": pynvml.nvmlClocksThrottleReasonSwPowerCap,
    "hardware_slowdown": pynvml.nvmlClocksThrottleReasonHwSlowdown,
    "software_thermal": pynvml.nvmlClocksThrottleReasonSwThermalSlowdown,
    "hardware_thermal": pynvml.nvmlClocksThrottleReasonHwThermalSlowdown,
    "power_brake": pynvml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
    "sync_boost": pynvml.nvmlClocksThrottleReasonSyncBoost,
}
assert tuple(_REASONS) == THROTTLE_REASONS


class GpuLost(Exception):
    """The GPU does not answer any more, and says so."""


class NvmlMissing(Exception):
    """There is no NVML on this machine, or not this GPU."""


class Gpu:
    """One GPU, by its index (`0`) or UUID (`GPU-…`).

    Raises:
        NvmlMissing: there is no such GPU, or no NVML.
    """

    def __init__(self, name: str) -> None:
        try:
            pynvml.nvmlInit()
            by_index = name.isdecimal()
            find = pynvml.nvmlDeviceGetHandleByIndex if by_index else pynvml.nvmlDeviceGetHandleByUUID
            self._handle = find(int(name) if by_index else name)
        except pynvml.NVMLError as error:
            raise NvmlMissing(f"NVML does not show GPU {name}: {error}") from error
        self._events = self._ask(self._listen)

    def read(self) -> GpuReading:
        """What it says now.

        Raises:
            GpuLost: it is gone, or its driver is.
        """
        handle, ask = self._handle, self._ask
        use = ask(lambda: pynvml.nvmlDeviceGetUtilizationRates(handle))
        memory = ask(lambda: pynvml.nvmlDeviceGetMemoryInfo(handle))
        return GpuReading(
            utilization_ratio=None if use is None else use.gpu / 100,
            memory_used_bytes=None if memory is None else int(memory.used),
            memory_total_bytes=None if memory is None else int(memory.total),
            temperature_celsius=ask(
                lambda: float(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))
            ),
            power_watts=ask(lambda: pynvml.nvmlDeviceGetPowerUsage(handle) * MILLI),
            power_limit_watts=ask(lambda: pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) * MILLI),
            clocks_hertz=self._clocks(),
            throttled=self._throttled(),
            ecc_errors=self._ecc_errors(),
            xids=self._xids(),
        )

    def _clocks(self) -> dict[str, float]:
        domains = {"sm": pynvml.NVML_CLOCK_SM, "memory": pynvml.NVML_CLOCK_MEM}
        ask, clock = self._ask, pynvml.nvmlDeviceGetClockInfo
        read = {name: ask(partial(clock, self._handle, domain)) for name, domain in domains.items()}
        return {name: megahertz * MEGA for name, megahertz in read.items() if megahertz is not None}

    def _throttled(self) -> frozenset[str]:
        bits = self._ask(lambda: int(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle))) or 0
        return frozenset(name for name, bit in _REASONS.items() if bits & bit)

    def _ecc_errors(self) -> dict[str, int]:
        kinds = {
            "corrected": pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED,
            "uncorrected": pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
        }
        ask, errors, counter = self._ask, pynvml.nvmlDeviceGetTotalEccErrors, pynvml.NVML_VOLATILE_ECC
        read = {name: ask(partial(errors, self._handle, kind, counter)) for name, kind in kinds.items()}
        return {name: int(count) for name, count in read.items() if count is not None}

    def _listen(self) -> Any:
        events = pynvml.nvmlEventSetCreate()
        pynvml.nvmlDeviceRegisterEvents(self._handle, pynvml.nvmlEventTypeXidCriticalError, events)
        return events

    def _xids(self) -> tuple[int, ...]:
        found: list[int] = []
        while self._events is not None and len(found) < MOST_EVENTS:
            try:
                found.append(int(pynvml.nvmlEventSetWait(self._events, 0).eventData))
            except pynvml.NVMLError:  # A timeout: no more events. What else is wrong, the other calls say.
                break
        return tuple(found)

    def _ask(self, question: Callable[[], Value]) -> Value | None:
        """The answer, or None where this GPU or driver has none."""
        try:
            return question()
        except pynvml.NVMLError as error:
            if error.value in _GONE:
                raise GpuLost(str(error)) from error
            return None  # Not offered here; or "unknown", as a driver under load says now and then.
