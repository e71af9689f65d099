"""What the next engine should know if this one dies: what was served, and which revision was being tried out.

One small file beside the sockets, so it lasts as long as the service does. An engine that starts anew serves what the
one before served, so that requests that were tokenized for it are judged by it, even if tags have moved meanwhile; and
a revision over whose trial an engine died is not tried again.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

import msgspec

log = logging.getLogger(__name__)


class RolloutRecord(msgspec.Struct, frozen=True):
    """By reference: the revision that was `serving`, the one in trial, the one that may not be tried again."""

    serving: dict[str, str] = {}
    trying: dict[str, str] = {}
    deadly: dict[str, str] = {}


class RolloutJournal:
    """The file in the folder where the service's processes meet; without a folder nothing is noted."""

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / "revisions.json" if folder else None

    def recall(self) -> RolloutRecord:
        """What the engine before wrote; what it was trying out when it died counts as deadly."""
        if self._path is None:
            return RolloutRecord()
        try:
            found = msgspec.json.decode(self._path.read_bytes(), type=RolloutRecord)
        except (OSError, msgspec.DecodeError):
            return RolloutRecord()
        return RolloutRecord(found.serving, {}, {**found.deadly, **found.trying})

    def write(self, memory: RolloutRecord) -> None:
        """Replace the file; where that fails the engine goes on without."""
        if self._path is None:
            return
        temporary = self._path.with_suffix(".new")
        try:
            temporary.write_bytes(msgspec.json.encode(memory))
            os.replace(temporary, self._path)
        except OSError as error:
            log.warning("what is served could not be noted", extra={"error": str(error)})
