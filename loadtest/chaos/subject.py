"""The subject of a chaos run: a service with a store and a folder for uploads of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadtest.service_process.managed_service import ManagedService
from loadtest.telemetry.process_usage import children_of, process_tree, processes_running
from loadtest.workload.mix import Job

ENGINE, WORKERS, PARSERS = "service.engine", "service.api", "service.api.parsers.zygote"


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
    def root(self) -> int:
        """The supervisor's process id."""
        return self.service.instance.process.pid

    def engines(self) -> list[int]:
        """The engine's process, if it runs."""
        return [process.pid for process in processes_running(ENGINE, self.root)]

    def workers(self) -> list[int]:
        """The front workers, without the process that started them."""
        found = processes_running(WORKERS, self.root)
        ids = {process.pid for process in found}
        return [child.pid for process in found for child in children_of(process) if child.pid in ids]

    def parsers(self) -> list[int]:
        """The processes that read files."""
        return [process.pid for process in processes_running(PARSERS, self.root)]

    def all(self) -> list[int]:
        """Every process of the service."""
        return [process.pid for process in process_tree(self.root)]
