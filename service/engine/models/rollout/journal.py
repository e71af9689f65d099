"""Rollout journal: what the next engine must know if this one dies. One small file in the service's runtime folder.

An engine that starts again serves what its predecessor served, so that requests tokenized for those revisions are
answered by them, even if tags have moved meanwhile; and a revision during whose rollout an engine died is not tried
again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

log = logging.getLogger(__name__)


class RolloutRecord(msgspec.Struct, frozen=True):
    """By reference: the revision that was serving, the one in trial, and the one that may not be tried again."""

    serving: dict[str, str] = {}
    in_trial: dict[str, str] = {}
    crashed: dict[str, str] = {}


class RolloutJournal:
    """The journal of one service; without a folder nothing is kept.

    Attributes:
        before: what the previous engine left. What was in trial when it died counts as crashed.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / "revisions.json" if folder else None
        self.before = self._read()

    def write(self, serving: Mapping[str, str], in_trial: Mapping[str, str] | None = None) -> None:
        """Replace the record; where that fails the engine goes on without."""
        if self._path is None:
            return
        record = RolloutRecord(dict(serving), dict(in_trial or {}), self.before.crashed)
        temporary = self._path.with_suffix(".new")
        try:
            temporary.write_bytes(msgspec.json.encode(record))
            os.replace(temporary, self._path)
        except OSError as error:
            log.warning("what is served could not be noted", extra={"error": str(error)})

    def _read(self) -> RolloutRecord:
        if self._path is None:
            return RolloutRecord()
        try:
            found = msgspec.json.decode(self._path.read_bytes(), type=RolloutRecord)
        except (OSError, msgspec.DecodeError):
            return RolloutRecord()
        return RolloutRecord(found.serving, {}, {**found.crashed, **found.in_trial})
