"""Instances: vCPUs and memory of the EC2 types that a task can have for its own, and the notice that one on Spot gets.

Each type has exactly one whole GPU. Types with several are missing on purpose: a task uses one, and the others would be
paid for. So are fractions of a GPU (g6f), of which ECS's agent sees none.
"""

from __future__ import annotations

from dataclasses import dataclass

_VCPUS = {"xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "16xlarge": 64}
_GIB_A_VCPU = {"g4dn": 4, "g5": 4, "g6": 4, "g6e": 8, "gr6": 8}
"""By family: T4, A10G, L4, L40S, L4 with more memory."""
_NOT_MADE = {"gr6.xlarge", "gr6.2xlarge", "gr6.16xlarge"}
SYSTEM_MIB = 3 * 1024
"""Of an instance's memory, for the system, Docker and ECS's agent; a sixteenth where that is more."""

SPOT_NOTICE_SECONDS = 120
SPOT_LOOK_SECONDS = 5
"""Between two looks of an instance on Spot for its notice."""
NOTICED_SECONDS = 15
"""From a task's first red /readyz until no request comes: three of the balancer's checks, five seconds apart."""


@dataclass(frozen=True, slots=True)
class InstanceSize:
    """One type's share of a quota and room for a task."""

    vcpus: int
    memory_mib: int

    @property
    def task_memory_mib(self) -> int:
        """The most that its one task may take."""
        return self.memory_mib - max(SYSTEM_MIB, self.memory_mib // 16)


INSTANCE_SIZES = {
    f"{family}.{size}": InstanceSize(vcpus, vcpus * gib * 1024)
    for family, gib in _GIB_A_VCPU.items()
    for size, vcpus in _VCPUS.items()
    if f"{family}.{size}" not in _NOT_MADE
}
