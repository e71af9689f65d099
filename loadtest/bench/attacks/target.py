"""The service that an attack is on: started for it alone, with a key for the attacker and one for another client."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from loadtest.bench.fixtures import service
from loadtest.service_process.parts import ServiceParts
from loadtest.service_process.service import ServiceProcess
from loadtest.service_process.small_disk import small_disk
from loadtest.workload.mix import Job, Pairs

ATTACKER, NEIGHBOUR = "attacker", "neighbour"
DISK_MEGABYTES = 64


@dataclass(frozen=True, slots=True)
class Target:
    """A running service, its keys file, its small disk if it has one, and what the attacker was answered."""

    service: ServiceProcess
    keys: Path
    disk: Path | None = None
    answers: Counter[str] = field(default_factory=Counter)

    @property
    def url(self) -> str:
        return self.service.url

    @property
    def parts(self) -> ServiceParts:
        """Its processes."""
        return ServiceParts(self.service.process.pid)

    @property
    def has_ended(self) -> bool:
        """True if the attack has ended the whole service."""
        return self.service.process.poll() is not None

    def write_keys(self, *clients: str) -> None:
        """Let in these clients and nobody else."""
        write_keys(self.keys, clients)


@contextmanager
def attacked(home: Path, settings: Mapping[str, object], disk_variables: Sequence[str] = ()) -> Iterator[Target]:
    """A ready service with the built-in model; `disk_variables` name folders on a disk of `DISK_MEGABYTES`.

    Raises:
        OSError: a small disk is needed, and may not be mounted.
        Unreachable: the service did not start.
    """
    home.mkdir()
    keys = home / "keys"
    write_keys(keys, (ATTACKER, NEIGHBOUR))
    with ExitStack() as stack:
        if disk_variables and not stack.enter_context(small_disk(home / "disk", DISK_MEGABYTES)):
            raise PermissionError("a small disk may be mounted by root alone")
        folders = {variable: home / "disk" / variable.lower() for variable in disk_variables}
        for folder in folders.values():
            folder.mkdir()
        variables = {variable: str(folder) for variable, folder in folders.items()}
        with service(home, None, variables, API_KEYS_FILE=keys, **settings) as running:
            yield Target(running, keys, home / "disk" if disk_variables else None)


def write_keys(file: Path, clients: Sequence[str]) -> None:
    """Write a keys file that lets in these clients; with none of them, nobody."""
    lines = [f"{client} {hashlib.sha256(key_of(client).encode()).hexdigest()}" for client in clients]
    file.touch(mode=0o600)
    file.write_text("\n".join(lines or ["nobody"]) + "\n")


def key_of(client: str) -> str:
    """A client's key."""
    return f"{client}-key"


def authorization(client: str) -> Pairs:
    """The headers of a client's requests."""
    return (("Authorization", f"Bearer {key_of(client)}"),)


def attackers_job(body: bytes, content_type: str, query: Pairs = ()) -> Job:
    """A request of the attacker."""
    return Job("attack", body, content_type, query, authorization(ATTACKER))
