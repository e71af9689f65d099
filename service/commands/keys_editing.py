"""Edits of a keys file: a line added, lines removed, and the file replaced as a whole under a lock.

What is edited is checked before and after, so an edit never leaves a file that a service would reject. Comments stay.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from pathlib import Path

from service.api.http.api_keys import NOBODY, entries, limits_of, parse, read_text, replaced
from service.core.errors import InvalidOptions
from service.core.tenants import Tenant

HEAD = "# client, SHA-256 of its key, limits; written by `gleaner keys`\n"
_CLIENT = re.compile(r"[^\s#=]+")


def tenants_in(text: str, source: str) -> dict[str, Tenant]:
    """Digest → tenant of a keys file's text. Raises BadKeysFile."""
    return parse(entries(text, source))


def with_key(text: str, source: str, client: str, digest: str, limits: dict[str, str]) -> str:
    """The text with one more key.

    Raises:
        InvalidOptions: no name for a client.
        BadKeysFile: the text is bad, or a limit is, or contradicts another line of the client.
    """
    if client == NOBODY or not _CLIENT.fullmatch(client):
        raise InvalidOptions(
            f"{client!r} is no name for a client: it has no spaces, no # and no =, and is not {NOBODY}"
        )
    if text:
        tenants_in(text, source)
    kept = "".join(f"{line}\n" for line in (text or HEAD).splitlines() if line.strip() != NOBODY)
    added = kept + " ".join([client, digest, *(f"{name}={value}" for name, value in limits.items())]) + "\n"
    tenants_in(added, source)
    return added


def without_keys(text: str, source: str, revoked: set[str]) -> str:
    """The text without the lines of these digests; the limits of a client that keeps other keys stay.

    Raises:
        BadKeysFile: the text is bad.
    """
    before = tenants_in(text, source)
    kept = [line for line in text.splitlines() if _digest_in(line) not in revoked]
    clients = {before[digest].name for digest in revoked}
    for number, line in enumerate(kept):
        tenant = before.get(_digest_in(line))
        if tenant is not None and tenant.name in clients:
            clients.discard(tenant.name)
            limits = (f"{name}={value}" for name, value in limits_of(tenant).items())
            kept[number] = " ".join([*line.split()[:2], *limits])
    if before.keys() <= revoked:
        kept.append(NOBODY)
    return "".join(f"{line}\n" for line in kept)


def edit(path: Path, change: Callable[[str], str]) -> None:
    """Replace a keys file by `change` of its text; one that is not there yet is made, for its owner alone.

    Owner and mode of a file stay, because a service of another user may have to read it. Nobody reads half a file.

    Raises:
        OSError: the file cannot be written.
    """
    path = path.resolve()
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        exists = path.exists()
        text = change(read_text(path) if exists else "")
        with replaced(path) as file:
            file.write(text)
            if exists:
                _keep_owner_and_mode(path.stat(), file.fileno())
            file.flush()
            os.fsync(file.fileno())
        os.fsync(folder)
    finally:
        os.close(folder)


def _keep_owner_and_mode(before: os.stat_result, handle: int) -> None:
    made = os.fstat(handle)
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        os.fchown(handle, before.st_uid, before.st_gid)
    os.fchmod(handle, before.st_mode & 0o7777)


def _digest_in(line: str) -> str:
    words = line.split()
    return words[1].lower() if len(words) > 1 and not line.strip().startswith("#") else ""
