"""API keys: the keys file's lines, and the tenant that a presented key stands for. Only SHA-256 digests are stored.

    # a comment
    alice 5e884898…                                            client and SHA-256 of its key, in hexadecimal
    bob   6b86b273… weight=2 documents_per_second=50           with limits, in any order
    bob   d4735e3a…                                            a second key of the same client, with the same limits
    nobody                                                     alone: no key is good, and one is still needed

Limits belong to the client: those of all its lines are taken together, and must not contradict each other.

The keys file of a running service is read again when it changes:
- Every worker looks each second, so an edit holds for every new request within two; requests under way are finished.
- A bad file ends nothing: the keys before it stay in force, also in a worker that is born meanwhile, because each good
  text is kept in the runtime folder. One line is logged, and `gleaner_keys_rejected` is 1, until the file is good.
- A service does not start with a bad file.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO

import msgspec

from service.core.errors import Forbidden, ModelError, Unauthenticated
from service.core.tenants import ANONYMOUS, ClientQuota, RateLimits, Tenant
from service.logs import LogEvent

log = logging.getLogger(__name__)

NOBODY = "nobody"
"""The line of a file that means to hold no key: an empty file may be a mistake."""
LIMITS: tuple[str, ...] = (*ClientQuota.__struct_fields__, *RateLimits.__struct_fields__)
"""Names of the limits that may follow a digest, as `name=value`."""
MOST_NAMES = 100
"""Most clients whose names are in metrics: those of the first keys."""
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")

Line = tuple[str, str]
"""Place of a line, in words, and the line."""


class BadKeysFile(ModelError):
    """The keys file cannot be read or has a bad line."""

    code = "bad_keys_file"


def read_text(path: Path) -> str:
    """The text of a keys file.

    Raises:
        BadKeysFile: it is no file, or cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadKeysFile(f"the keys file cannot be read: {path} is not a file")
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadKeysFile(f"the keys file cannot be read: {error}") from error


@contextmanager
def replaced(path: Path) -> Iterator[IO[str]]:
    """Write a file that takes the place of `path` as a whole when the context ends well; only its owner may read it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w") as file:
            yield file
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def entries(text: str, source: str) -> Iterator[Line]:
    """The lines of a text that are not empty and no comments, each with its place.

    Raises:
        BadKeysFile: there are none.
    """
    lines = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]
    if not lines:
        raise BadKeysFile(
            f"{source} has no keys; leave the setting away to need none, write `{NOBODY}` to let no one in"
        )
    for number, line in enumerate(lines, 1):
        yield f"{source}, entry {number}", line


def parse(lines: Iterable[Line]) -> dict[str, Tenant]:
    """Digest → tenant, of all lines together.

    Raises:
        BadKeysFile: a line is not as above; names its place, never the line.
    """
    clients: dict[str, str] = {}
    limits: dict[str, dict[str, str]] = {}
    for place, line in lines:
        client, *rest = line.split()
        if not rest and client == NOBODY:
            continue
        if not rest or not _DIGEST.fullmatch(rest[0]):
            raise BadKeysFile(f"{place}: not `client sha256-of-its-key`")
        digest = rest[0].lower()
        if clients.setdefault(digest, client) != client:
            raise BadKeysFile(f"{place}: this key belongs to another client already")
        _add_limits(limits.setdefault(client, {}), rest[1:], place)
    tenants = {client: _tenant(client, values) for client, values in limits.items()}
    return {digest: tenants[client] for digest, client in clients.items()}


def limits_of(tenant: Tenant) -> dict[str, str]:
    """The limits of a tenant as a line names them, without those that are as for everybody."""
    both = {**msgspec.to_builtins(tenant.quota), **msgspec.to_builtins(tenant.rates)}
    return {name: f"{value:.15g}" for name, value in both.items() if value is not None}


def _add_limits(known: dict[str, str], words: list[str], place: str) -> None:
    for word in words:
        name, separator, value = word.partition("=")
        if not separator or name not in LIMITS:
            raise BadKeysFile(f"{place}: after the digest come {', '.join(LIMITS)}, each as `name=value`")
        _check(name, value, place)
        if known.setdefault(name, value) != value:
            raise BadKeysFile(f"{place}: {name} is {known[name]} in an earlier line of this client")


def _check(name: str, value: str, place: str) -> None:
    try:
        _tenant("", {name: value})
    except msgspec.ValidationError:
        kind = "a whole number above 0" if name in ("documents_in_flight", "queued_tokens") else "a number above 0"
        raise BadKeysFile(f"{place}: {name} must be {kind}") from None


def _tenant(client: str, values: dict[str, str]) -> Tenant:
    quota = msgspec.convert(values, ClientQuota, strict=False)
    return Tenant(client, quota, msgspec.convert(values, RateLimits, strict=False))


class ApiKeys:
    """The known keys, as digest → tenant; None: no key is needed, and every request is let in."""

    def __init__(self, tenants: Mapping[str, Tenant] | None) -> None:
        self._tenants = None if tenants is None else dict(tenants)
        names = dict.fromkeys(tenant.name for tenant in (tenants or {}).values())
        self.first_names = frozenset(islice(names, MOST_NAMES))

    def tenant(self, key: str | None) -> Tenant:
        """The tenant whose key this is; `ANONYMOUS` where no keys are needed.

        Digests may be looked up as they are: how long that takes says something of a digest, and nothing of a key.

        Raises:
            Unauthenticated: a key is needed and none was sent.
            Forbidden: the key is unknown.
        """
        if self._tenants is None:
            return Tenant(ANONYMOUS)
        if not key:
            raise Unauthenticated("Send your key as `Authorization: Bearer KEY` or `X-API-Key: KEY`.")
        tenant = self._tenants.get(digest_of(key))
        if tenant is None:
            raise Forbidden("This API key is not known here.")
        return tenant


def digest_of(key: str) -> str:
    """A key as the keys file has it."""
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()


def sender_of(client: str, address: str | None) -> str:
    """Whose files may share a parser: the client's, or where no keys are needed those from one address."""
    return f"{ANONYMOUS} {address}" if client == ANONYMOUS and address else client


def read_keys(path: Path | None, text: str = "") -> ApiKeys:
    """The keys in a file and in a text of such lines; without both, no keys are needed.

    Raises:
        BadKeysFile: the file cannot be read, one of the two is empty, or a line is bad.
    """
    return parse_keys(None if path is None else read_text(path), str(path), text)


def parse_keys(file_text: str | None, source: str, text: str) -> ApiKeys:
    """The keys in the text of a file from this source, and in the text of the setting.

    Raises:
        BadKeysFile: one of the two is empty, or a line is bad.
    """
    if file_text is None and not text:
        return ApiKeys(None)
    lines = [*(entries(text, "GLEANER_API_KEYS") if text else ())]
    return ApiKeys(parse([*lines, *(entries(file_text, source) if file_text is not None else ())]))


def presented_key(headers: Mapping[str, str]) -> str | None:
    """The key in a request's `Authorization: Bearer` or `X-API-Key` header, if there is one."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else headers.get("x-api-key")


POLL_SECONDS = 1.0
UNSETTLED_SECONDS = 2.0
"""Seconds after a change in which a file is read again: a second change within the clock's grain leaves no trace."""


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
                log.info("the keys of the file are in force", extra={"event": LogEvent.KEYS_RELOADED})
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
        self._in_force = None  # The same keys as before are news too, after this.
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
