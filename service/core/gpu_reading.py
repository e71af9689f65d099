"""GPU reading: what NVML reports of a GPU at one moment, as a value. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FATAL_XIDS: Mapping[int, str] = {
    46: "the GPU stopped processing",
    48: "an uncorrectable memory error",
    62: "the GPU's power management halted",
    79: "the GPU has fallen off the bus",
    95: "an uncontained memory error",
    109: "the GPU did not switch contexts",
    119: "the GPU's system processor does not answer",
    120: "the GPU's system processor failed",
    136: "a link could not be trained",
    140: "a memory error that was not recovered",
    143: "the GPU could not be initialized",
}
"""Driver errors (NVIDIA's XID catalog) that only a reset or another GPU repairs."""

CONTAINED_XIDS = frozenset({48})
"""Errors that a new process survives where the GPU contains memory errors (A100 and later): XID 94 beside them says so,
or the driver, which recommends no recovery action."""
CONTAINED = 94

FATAL_ACTIONS: Mapping[int, str] = {
    1: "the driver asks for a reset of the GPU",
    2: "the driver asks for a reboot of the node",
    6: "the driver asks for a reset of the bus",
    7: "the driver asks for a reboot of the system",
}
"""NVML's recovery actions without which the GPU is of no use. The others (0: none; 3, 4: to be done once it is drained;
5: of a link between nodes) leave it to its present user. XID 154 only says that the action has changed."""
NO_ACTION = 0

THROTTLE_REASONS = (
    "power_cap", "hardware_slowdown", "software_thermal", "hardware_thermal", "power_brake", "sync_boost"
)  # fmt: skip
"""Reasons for which a GPU's clocks may be below their highest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """One reading; None or absent where this GPU or its driver does not report a value.

    Attributes:
        utilization_ratio: share of the last second or so in which a kernel ran.
        memory_used_bytes: memory of all processes.
        clocks_hertz: clock by domain: `sm`, `memory`.
        throttled: reasons that hold clocks below their highest now.
        ecc_errors: errors since the driver was loaded, by kind: `corrected`, `uncorrected`.
        recovery_action: NVML's number of the recommended action; unknown before driver 570.
        xids: driver errors since the previous reading.
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
    recovery_action: int | None = None
    xids: tuple[int, ...] = ()

    @property
    def fatal(self) -> str | None:
        """The first fatal driver error, or the recovery action without which the GPU is lost, in words; else None."""
        contained = CONTAINED in self.xids or self.recovery_action == NO_ACTION
        spared = CONTAINED_XIDS if contained else frozenset()
        fatal = (f"{FATAL_XIDS[xid]} (XID {xid})" for xid in self.xids if xid in FATAL_XIDS and xid not in spared)
        action = None if self.recovery_action is None else FATAL_ACTIONS.get(self.recovery_action)
        return next(fatal, action)
