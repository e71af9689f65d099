"""All faults that a run may draw from on this machine."""

from __future__ import annotations

from pathlib import Path

from loadtest.chaos.client_faults import CLIENT_FAULTS
from loadtest.chaos.fault import ChaosFault
from loadtest.chaos.process_faults import PROCESS_FAULTS
from loadtest.chaos.remote_store import RemoteStore
from loadtest.chaos.resource_faults import RESOURCE_FAULTS, disk_fault


def all_faults(small_disk: Path | None = None, remote: RemoteStore | None = None) -> list[ChaosFault]:
    """Every fault; the uploads' disk and the remote store are only spoilt where they are the run's own."""
    own = [disk_fault(small_disk)] if small_disk else []
    return [*PROCESS_FAULTS, *CLIENT_FAULTS, *RESOURCE_FAULTS, *own, *([remote.fault()] if remote else [])]
