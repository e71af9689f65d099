"""The subject of a chaos run: a service with a store and a folder for uploads of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadtest.service_process.managed_service import ManagedService
from loadtest.service_process.parts import ServiceParts
from loadtest.workload.mix import Job


@dataclass(slots=True)
class Subject:
    """A running service, the questions that its callers ask, and the revision that it must serve in the end."""

    service: ManagedService
    questions: Sequence[Job]
    newest_revision: str = ""

    def publish(self) -> None:
        """Move the tag to a new revision of the same weights."""
        self.newest_revision = self.service.publish()

    @property
    def parts(self) -> ServiceParts:
        """Its processes."""
        return ServiceParts(self.service.instance.process.pid)
