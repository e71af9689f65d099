"""The parts of a running service by what they are: process ids below its supervisor."""

from __future__ import annotations

from dataclasses import dataclass

from loadtest.telemetry.process_usage import children_of, process_tree, processes_running

ENGINE, WORKERS, PARSERS = "service.engine", "service.api", "service.api.parsers.zygote"


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """The processes of the service whose supervisor is `root`, as they are now."""

    root: int

    def engines(self) -> list[int]:
        """The engine, if it runs."""
        return [process.pid for process in processes_running(ENGINE, self.root)]

    def workers(self) -> list[int]:
        """The front workers, without the process that started them."""
        found = processes_running(WORKERS, self.root)
        ids = {process.pid for process in found}
        return [child.pid for process in found for child in children_of(process) if child.pid in ids]

    def parsers(self) -> list[int]:
        """The processes that read files, and those that they are forked from."""
        return [process.pid for process in processes_running(PARSERS, self.root)]

    def all(self) -> list[int]:
        """Every process."""
        return [process.pid for process in process_tree(self.root)]
