"""Instances: the EC2 types that a task can have for its own, the notice that one on Spot gets, and their machine image.

Each type has exactly one whole GPU. Types with several are missing on purpose: a task uses one, and the others would be
paid for. So are fractions of a GPU (g6f), of which ECS's agent sees none.
"""

from __future__ import annotations

from dataclasses import dataclass

_VCPUS = {"xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "16xlarge": 64}
_GIB_A_VCPU = {"g4dn": 4, "g5": 4, "g6": 4, "g6e": 8, "gr6": 8}
"""GiB of memory per vCPU by family: T4, A10G, L4, L40S, L4 with more memory."""
_NOT_MADE = {"gr6.xlarge", "gr6.2xlarge", "gr6.16xlarge"}
SYSTEM_MIB = 3 * 1024
"""MiB of an instance's memory for the system, Docker and ECS's agent; a sixteenth if that is more."""

SPOT_NOTICE_SECONDS = 120
SPOT_LOOK_SECONDS = 5
"""Seconds between two looks of an instance on Spot for its notice."""
NOTICED_SECONDS = 15
"""Seconds from a task's first red /readyz to its last request: three of the balancer's checks, five apart."""


@dataclass(frozen=True, slots=True)
class InstanceSize:
    """One type's share of a quota and room for a task."""

    vcpus: int
    memory_mib: int

    @property
    def task_memory_mib(self) -> int:
        return self.memory_mib - max(SYSTEM_MIB, self.memory_mib // 16)


INSTANCE_SIZES = {
    f"{family}.{size}": InstanceSize(vcpus, vcpus * gib * 1024)
    for family, gib in _GIB_A_VCPU.items()
    for size, vcpus in _VCPUS.items()
    if f"{family}.{size}" not in _NOT_MADE
}

GPU_IMAGE = "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id"
"""SSM parameter of AWS's own image: driver, container toolkit, Docker and the ECS agent."""
