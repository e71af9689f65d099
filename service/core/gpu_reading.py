"""GPU reading: what NVML reports of a GPU at one moment, as a value. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FATAL_XIDS: Mapping[int, str] = {
    48: "an uncorrectable memory error",
    79: "the GPU has fallen off the bus",
    95: "an uncontained memory error",
    119: "the GPU's system processor does not answer",
    120: "the GPU's system processor failed",
}
"""Driver errors (NVIDIA's XID numbers) that only a reset or another GPU repairs."""

THROTTLE_REASONS = (
    "power_cap", "hardware_slowdown", "software_thermal", "hardware_thermal", "power_brake", "sync_boost"
)  # fmt: skip
"""Why a GPU's clocks may be below their highest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """One reading; None or absent where this GPU or its driver does not report a value.

    Attributes:
        utilization_ratio: share of the last second or so in which a kernel ran.
        memory_used_bytes: by all processes.
        clocks_hertz: by domain: `sm`, `memory`.
        throttled: why clocks are below their highest, by reason; only reasons that hold.
        ecc_errors: since the driver was loaded, by kind: `corrected`, `uncorrected`.
        xids: driver errors since the reading before.
    """

    utilization_ratio: float | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    temperature_celsius: float | None = None
    power_watts: float | None = None
    power_limit_watts: float | None = None
    clocks_hertz: Mapping[str, float] = field(default_factory=dict)
    throttled: frozenset[str] = frozenset()
    ecc_errors: Mapping[str, int] = field(default_factory=dict)
    xids: tuple[int, ...] = ()

    @property
    def fatal(self) -> str | None:
        """The first fatal driver error, in words; None if there is none."""
        return next((f"{FATAL_XIDS[xid]} (XID {xid})" for xid in self.xids if xid in FATAL_XIDS), None)
