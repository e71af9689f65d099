"""NVML access: reads one GPU, and raises once it is lost. The only module that imports pynvml."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from ctypes import byref
from functools import partial
from typing import Any, TypeVar

import pynvml

from service.core.gpu_reading import THROTTLE_REASONS, GpuReading

Value = TypeVar("Value")

MILLI, MEGA = 1e-3, 1e6
MOST_EVENTS = 100

_LOST = (pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED, pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
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
    """NVML reports that the GPU or its driver is lost."""


class NvmlMissing(Exception):
    """This machine has no NVML, or NVML does not show the GPU."""


def describes_fabric() -> bool:
    """True when NVML answers torch's question about links between GPUs, for every GPU that it shows.

    With growing segments torch asks it at its first allocation (c10/cuda/PeerToPeerAccess.cpp). It does not look
    whether there is an NVML at all, which ends the process, and takes an error for an answer (some virtual GPUs, old
    drivers) as its own failure; only a driver too old to know the question is in order.
    """
    try:
        pynvml.nvmlInit()
        for index in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            with suppress(pynvml.NVMLError_FunctionNotFound):
                pynvml.nvmlDeviceGetGpuFabricInfoV(handle, byref(pynvml.c_nvmlGpuFabricInfo_v2_t()))
    except pynvml.NVMLError:
        return False
    return True


class Gpu:
    """One GPU, by its index (`0`) or UUID (`GPU-…`, or `MIG-…` for a part of one).

    For a part NVML reports only the memory; all else is read of the whole GPU, which fails as a whole.

    Raises:
        NvmlMissing: there is no such GPU, or no NVML.
    """

    def __init__(self, name: str) -> None:
        try:
            pynvml.nvmlInit()
            self._memory_of = _find(name)
            self._handle = _whole(self._memory_of)
        except pynvml.NVMLError as error:
            raise NvmlMissing(f"NVML does not show GPU {name}: {error}") from error
        self._events = self._query(self._register_events)

    def read(self) -> GpuReading:
        """Read the GPU.

        Raises:
            GpuLost: the GPU or its driver is lost.
        """
        handle, query = self._handle, self._query
        use = query(lambda: pynvml.nvmlDeviceGetUtilizationRates(handle))
        memory = query(lambda: pynvml.nvmlDeviceGetMemoryInfo(self._memory_of))
        return GpuReading(
            utilization_ratio=None if use is None else use.gpu / 100,
            memory_used_bytes=None if memory is None else int(memory.used),
            memory_total_bytes=None if memory is None else int(memory.total),
            temperature_celsius=query(
                lambda: float(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))
            ),
            power_watts=query(lambda: pynvml.nvmlDeviceGetPowerUsage(handle) * MILLI),
            power_limit_watts=query(lambda: pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) * MILLI),
            clocks_hertz=self._clocks(),
            throttled=self._throttled(),
            ecc_errors=self._ecc_errors(),
            recovery_action=self._recovery_action(),
            xids=self._xids(),
        )

    def _clocks(self) -> dict[str, float]:
        domains = {"sm": pynvml.NVML_CLOCK_SM, "memory": pynvml.NVML_CLOCK_MEM}
        query, clock = self._query, pynvml.nvmlDeviceGetClockInfo
        read = {name: query(partial(clock, self._handle, domain)) for name, domain in domains.items()}
        return {name: megahertz * MEGA for name, megahertz in read.items() if megahertz is not None}

    def _throttled(self) -> frozenset[str]:
        bits = self._query(lambda: int(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle))) or 0
        return frozenset(name for name, bit in _REASONS.items() if bits & bit)

    def _ecc_errors(self) -> dict[str, int]:
        kinds = {
            "corrected": pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED,
            "uncorrected": pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
        }
        query, errors, counter = self._query, pynvml.nvmlDeviceGetTotalEccErrors, pynvml.NVML_VOLATILE_ECC
        read = {name: query(partial(errors, self._handle, kind, counter)) for name, kind in kinds.items()}
        return {name: int(count) for name, count in read.items() if count is not None}

    def _recovery_action(self) -> int | None:
        field = pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
        values = self._query(lambda: pynvml.nvmlDeviceGetFieldValues(self._handle, [field]))
        if values is None or values[0].nvmlReturn != pynvml.NVML_SUCCESS:
            return None
        return int(values[0].value.uiVal)

    def _register_events(self) -> Any:
        events = pynvml.nvmlEventSetCreate()
        pynvml.nvmlDeviceRegisterEvents(self._handle, pynvml.nvmlEventTypeXidCriticalError, events)
        return events

    def _xids(self) -> tuple[int, ...]:
        found: list[int] = []
        while self._events is not None and len(found) < MOST_EVENTS:
            try:
                found.append(int(pynvml.nvmlEventSetWait(self._events, 0).eventData))
            except pynvml.NVMLError:  # A timeout: no more events. The other calls raise any other error.
                break
        return tuple(found)

    def _query(self, query: Callable[[], Value]) -> Value | None:
        """Ask NVML; None where this GPU or driver does not offer the value. Raises GpuLost."""
        try:
            return query()
        except pynvml.NVMLError as error:
            if error.value in _LOST:
                raise GpuLost(str(error)) from error
            return None  # Not supported, or "unknown", which a driver under load returns now and then.


def _find(name: str) -> Any:
    """Find a GPU or a part of one; torch names both by a UUID without its kind, here taken for `GPU-…`."""
    if name.isdecimal():
        return pynvml.nvmlDeviceGetHandleByIndex(int(name))
    try:
        return pynvml.nvmlDeviceGetHandleByUUID(name)
    except pynvml.NVMLError:
        if not name.startswith("GPU-"):
            raise
    return pynvml.nvmlDeviceGetHandleByUUID(f"MIG-{name.removeprefix('GPU-')}")


def _whole(handle: Any) -> Any:
    """Find the whole GPU of a part; a whole GPU is its own."""
    try:
        return pynvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle)
    except pynvml.NVMLError:
        return handle
