"""Limits of what one parser may take: processor, memory, files, processes, descriptors (setrlimit(2))."""

from __future__ import annotations

import math
import resource
from dataclasses import dataclass

SPARE_CPU_SECONDS = 12
"""Beyond a file's time limit, which is watched from outside: for the files before it, should a parser read several."""
_NONE = ("RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_CORE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE")


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Bytes of address space and seconds of processor that a process may take."""

    memory_bytes: int
    cpu_seconds: float

    def apply(self) -> None:
        """Limit this process, for good: memory and processor to these; none of files, processes, descriptors, dumps."""
        seconds = math.ceil(self.cpu_seconds) + SPARE_CPU_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (self.memory_bytes, self.memory_bytes))
        for name in _NONE:
            if (which := getattr(resource, name, None)) is not None:
                resource.setrlimit(which, (0, 0))
