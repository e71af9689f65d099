"""The report of a sandbox: which of its parts the platform gave, and why not the others. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


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
        """Whether a parser that was taken over can call the kernel for nothing but memory and its answer.

        The filter alone keeps it from files, sockets and processes; the other parts are there should it have a hole.
        """
        return self.has(SandboxPart.SECCOMP) and self.has(SandboxPart.NO_PRIVILEGES)
