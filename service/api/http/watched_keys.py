"""The keys of a running service: its keys file is read again when it changes, and a bad one leaves the last good keys.

The rules:
- Every worker looks each second, so an edit holds for every new request within two; requests under way are finished.
- A bad file ends nothing: the keys before it stay in force, also in a worker that is born meanwhile, because each good
  text is kept in the runtime folder. One line is logged, and `gleaner_keys_rejected` is 1, until the file is good.
- A service does not start with a bad file.
"""

from __future__ import annotations

import asyncio
import logging
import stat
import time
from collections.abc import Callable
from pathlib import Path

from service.api.http.api_keys import ApiKeys, BadKeysFile, parse_keys, read_text, replaced
from service.logs import LogEvent

POLL_SECONDS = 1.0
UNSETTLED_SECONDS = 2.0
"""A file that changed so lately is read again: a second change within the clock's grain would leave no trace."""

log = logging.getLogger(__name__)

Signature = tuple[int, int, int, int, int]


class WatchedKeys:
    """The keys in force in one process.

    Args:
        path: the keys file; None: only the keys of the setting, which never change.
        text: lines that stand in the setting itself.
        last_good: file that keeps the text of the last good keys file for all processes of the service.
        on_rejected: called with whether the file is bad now.
    """

    def __init__(
        self, path: Path | None, text: str, last_good: Path, on_rejected: Callable[[bool], None] = lambda _: None
    ) -> None:
        self._path = path
        self._text = text
        self._last_good = last_good
        self._on_rejected = on_rejected
        self._seen: Signature | None = None
        self._in_force: str | None = None
        self.keys = ApiKeys(None)

    def load(self, *, first: bool = False) -> None:
        """Read the keys, or those that were good last.

        Args:
            first: for the whole service, so that earlier keys are another service's.

        Raises:
            BadKeysFile: the keys are bad, and there are no good ones to fall back to.
        """
        if self._path is None:
            self.keys = parse_keys(None, "", self._text)
            return
        self._seen = _signature(self._path)
        try:
            self._take(read_text(self._path))
        except BadKeysFile as error:
            if first or not self._last_good.exists():
                raise
            self._in_force = read_text(self._last_good)
            self.keys = parse_keys(self._in_force, str(self._last_good), self._text)
            self._reject(error)

    def refresh(self) -> None:
        """Read the keys again if the file changed; a bad file leaves them as they are."""
        if self._path is None:
            return
        signature = _signature(self._path)
        if signature == self._seen and _is_settled(signature):
            return
        try:
            text = read_text(self._path)
            if text != self._in_force:
                self._take(text)
                log.info("new keys are in force", extra={"event": LogEvent.KEYS_RELOADED})
            self._on_rejected(False)
        except BadKeysFile as error:
            if signature != self._seen:
                self._reject(error)
        self._seen = signature

    async def follow(self) -> None:
        """Refresh again and again, until cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await asyncio.to_thread(self.refresh)
            except Exception:  # Whatever it was, the keys in force stay, and the next look is in a second.
                log.exception("the keys file was not looked at", extra={"event": LogEvent.KEYS_REJECTED})

    def _take(self, text: str) -> None:
        self.keys = parse_keys(text, str(self._path), self._text)
        self._in_force = text
        try:
            with replaced(self._last_good) as file:
                file.write(text)
        except OSError as error:
            log.warning("the keys cannot be kept for workers to come: %s", error)

    def _reject(self, error: BadKeysFile) -> None:
        self._on_rejected(True)
        log.error(
            "the keys file is bad; the keys before it stay in force",
            extra={"event": LogEvent.KEYS_REJECTED, "reason": error.detail},
        )


def warn_if_exposed(path: Path | None) -> None:
    """Log a warning when other users of the machine may read or write the keys file."""
    if path is not None and path.stat().st_mode & (stat.S_IRWXO | stat.S_IWGRP):
        fields = {"event": LogEvent.KEYS_EXPOSED, "mode": stat.filemode(path.stat().st_mode)}
        log.warning("other users may read or write the keys file; chmod 600 mends it", extra=fields)


def _signature(path: Path) -> Signature | None:
    """What changes with a file's content; None while it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _is_settled(signature: Signature | None) -> bool:
    return signature is None or not 0 <= time.time() - max(signature[3:]) / 1e9 < UNSETTLED_SECONDS
