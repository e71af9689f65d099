"""The sandbox of parsers, put together in the order in which its parts can be had, with a report of what was given.

    zygote   namespaces → (imports) → empty root → nobody, no capabilities, no new privileges → Landlock
    parser   limits → filter of system calls

The zygote reads no file; what it gave up, the parsers that it forks never had. Each part may be missing: an
unprivileged container often denies namespaces, an old kernel has no Landlock. The report says so.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from service.sandbox import landlock, namespaces, privileges
from service.sandbox.limits import ProcessLimits
from service.sandbox.report import SandboxPart, SandboxReport
from service.sandbox.seccomp import ParserFilter


class SandboxMode(StrEnum):
    """How much of the sandbox is wanted: all that there is, all or nothing, or only the limits."""

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
            self._attempt(SandboxPart.EMPTY_ROOT, namespaces.empty_root)
        self._attempt(SandboxPart.NO_PRIVILEGES, self._drop_privileges)
        self._attempt(SandboxPart.LANDLOCK, landlock.deny_everything)
        self._attempt(SandboxPart.SECCOMP, self._make_filter)

    def enclose(self) -> None:
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
        self._own_user = namespaces.enter()

    def _drop_privileges(self) -> None:
        if not self._own_user:
            privileges.become_nobody()
        privileges.gain_none()
        privileges.drop_capabilities()

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
