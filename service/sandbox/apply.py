"""Applies the sandbox of parsers in the order in which its parts can be had, and reports which were given.

    zygote   namespaces → (imports) → empty root → nobody, no capabilities, no new privileges → Landlock
    parser   limits → filter of system calls

The zygote reads no file; what it gave up, the parsers that it forks never had. Each part may be missing: an
unprivileged container often denies namespaces, an old kernel has no Landlock. The report says so.
"""

from __future__ import annotations

import math
import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from service.sandbox import kernel
from service.sandbox.kernel import ParserFilter


class SandboxPart(StrEnum):
    """The parts of a sandbox that a platform may deny; limits of processor and memory are always there."""

    NAMESPACES = "namespaces"
    EMPTY_ROOT = "empty_root"
    NO_PRIVILEGES = "no_privileges"
    LANDLOCK = "landlock"
    SECCOMP = "seccomp"


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """The parts that were given, and of the others the reason; a part that is in neither was not tried."""

    given: tuple[SandboxPart, ...] = ()
    missing: Mapping[SandboxPart, str] = field(default_factory=dict)

    def has(self, part: SandboxPart) -> bool:
        return part in self.given

    def with_part(self, part: SandboxPart) -> SandboxReport:
        return replace(self, given=(*self.given, part))

    def without(self, part: SandboxPart, reason: str) -> SandboxReport:
        given = tuple(each for each in self.given if each is not part)
        return SandboxReport(given, {**self.missing, part: reason})

    @property
    def holds(self) -> bool:
        """True if a parser that was taken over can call the kernel for nothing but memory and its answer.

        The filter alone keeps it from files, sockets and processes; the other parts are there should it have a hole.
        """
        return self.has(SandboxPart.SECCOMP) and self.has(SandboxPart.NO_PRIVILEGES)


SPARE_CPU_SECONDS = 12
"""Processor seconds beyond a file's limit, which is watched from outside: for earlier files of the same parser."""
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


class SandboxMode(StrEnum):
    """The wanted strength of the sandbox: all that there is, all or nothing, or only the limits."""

    AUTO = "auto"
    REQUIRE = "require"
    OFF = "off"


class ParserSandbox:
    """The sandbox that one zygote sets up for its parsers; each step notes in `report` whether it was given."""

    def __init__(self, mode: SandboxMode, limits: ProcessLimits) -> None:
        self._off = mode is SandboxMode.OFF
        self._limits = limits
        self._filter: ParserFilter | None = None
        self._own_user = False
        self.report = SandboxReport()

    def enter_namespaces(self) -> bool:
        """Enter namespaces; True if they were given, and the next child must be the zygote."""
        return self._attempt(SandboxPart.NAMESPACES, self._enter)

    def close(self) -> None:
        """Give up files, privileges and the view of other processes. Afterwards nothing can be imported any more."""
        if self.report.has(SandboxPart.NAMESPACES):
            self._attempt(SandboxPart.EMPTY_ROOT, kernel.empty_root)
        self._attempt(SandboxPart.NO_PRIVILEGES, self._drop_privileges)
        self._attempt(SandboxPart.LANDLOCK, kernel.deny_files_and_network)
        self._attempt(SandboxPart.SECCOMP, self._make_filter)

    def restrict(self) -> None:
        """Limit and filter this process, which is a parser that has everything open that it needs.

        Raises:
            OSError: a part that the report promises was not given.
        """
        self._limits.apply()
        if self._filter is not None:
            self._filter.install()

    def withdraw(self, part: SandboxPart, reason: str) -> None:
        """Do without a part that a trial has shown not to work here."""
        self.report = self.report.without(part, reason)
        if part is SandboxPart.SECCOMP:
            self._filter = None

    def _enter(self) -> None:
        self._own_user = kernel.enter_namespaces()

    def _drop_privileges(self) -> None:
        if not self._own_user:
            kernel.become_nobody()
        kernel.gain_no_privileges()
        kernel.drop_capabilities()

    def _make_filter(self) -> None:
        self._filter = ParserFilter()

    def _attempt(self, part: SandboxPart, step: Callable[[], None]) -> bool:
        if self._off:
            self.report = self.report.without(part, "switched off")
            return False
        try:
            step()
        except OSError as error:
            self.report = self.report.without(part, str(error))
            return False
        self.report = self.report.with_part(part)
        return True
