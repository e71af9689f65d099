"""Why an engine ends though nobody told it to, and the exit code by which its supervisor understands that."""

from __future__ import annotations

from dataclasses import dataclass

EXIT_BROKEN = 1
"""Any other death: the supervisor starts another engine, and workers submit again what was pending."""


@dataclass(frozen=True, slots=True)
class ExitReason:
    """`refuse`: whether what waits is refused, because no other engine will come."""

    exit_code: int
    reason: str
    refuse: bool
