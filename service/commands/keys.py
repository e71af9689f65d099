"""`gleaner keys`: adds, lists and revokes the API keys of a keys file. A running service follows within two seconds."""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import secrets
import sys
from collections.abc import Callable
from pathlib import Path

from rich.table import Table

from service.api.http.api_keys import LIMITS, NOBODY, digest_of, entries, limits_of, parse, read_text, replaced
from service.core.errors import GleanerError, InvalidOptions
from service.core.tenants import Tenant
from service.settings import read_settings
from service.terminal import draw

PREFIX = "gleaner_"
"""Prefix of every key made here, so that scanners for secrets find them."""
KEY_BYTES = 32
SHOWN_DIGITS = 12
LEAST_DIGITS = 8
"""Fewest digits of a digest that name its key."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    parser.description = __doc__
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    file = argparse.ArgumentParser(add_help=False)
    file.add_argument("--file", type=Path, help="instead of GLEANER_API_KEYS_FILE")
    add = actions.add_parser("add", parents=[file], help="make a key for a client, and print it once")
    add.add_argument("--client", required=True, help="whose key it is; one client may have several")
    for limit in LIMITS:
        add.add_argument(f"--{limit.replace('_', '-')}", metavar="N", help=HELP[limit])
    add.set_defaults(run=run_add)
    actions.add_parser("list", parents=[file], help="clients, digests and limits").set_defaults(run=run_list)
    revoke = actions.add_parser("revoke", parents=[file], help="remove a client's keys, or one key")
    revoke.add_argument("--client", help="all keys of this client")
    revoke.add_argument("--digest", help=f"the key whose digest begins like this; at least {LEAST_DIGITS} digits")
    revoke.set_defaults(run=run_revoke)


HELP = {
    "weight": "its share of device and queue among the clients that are there (1)",
    "documents_in_flight": "most documents that are admitted and not answered",
    "queued_tokens": "most tokens that wait",
    "documents_per_second": "on average; 10 s of it may come at once",
    "tokens_per_second": "on average, of what was answered; labels of a request that its model is given count",
    "bytes_per_second": "on average, of the bodies",
}


def run_add(chosen: argparse.Namespace) -> int:
    """Print only the new key on stdout, and a confirmation on stderr."""
    path, key = _path(chosen), PREFIX + secrets.token_urlsafe(KEY_BYTES)
    limits = {name: value for name in LIMITS if (value := getattr(chosen, name)) is not None}
    _edit(path, lambda text: with_key(text, str(path), chosen.client, digest_of(key), limits))
    print(key)
    print(f"The key of {chosen.client}, shown this once; {path} keeps its SHA-256.", file=sys.stderr)
    return 0


def run_list(chosen: argparse.Namespace) -> int:
    """Print a line for each key."""
    path = _path(chosen)
    table = Table(box=None, pad_edge=False)
    for column in ("client", "digest", "limits"):
        table.add_column(column, no_wrap=True)
    for digest, tenant in tenants_in(read_text(path), str(path)).items():
        limits = (f"{name}={value}" for name, value in limits_of(tenant).items())
        table.add_row(tenant.name, digest[:SHOWN_DIGITS], " ".join(limits))
    draw(table)
    return 0


def run_revoke(chosen: argparse.Namespace) -> int:
    """Remove the keys."""
    path, prefix = _path(chosen), (chosen.digest or "").lower()
    if not (chosen.client or prefix) or (prefix and len(prefix) < LEAST_DIGITS):
        raise InvalidOptions(f"name a --client, or at least {LEAST_DIGITS} digits of a --digest")
    revoked: set[str] = set()

    def change(text: str) -> str:
        known = tenants_in(text, str(path))
        revoked.update(
            digest
            for digest, tenant in known.items()
            if chosen.client in (None, tenant.name) and digest.startswith(prefix)
        )
        if not revoked:
            raise InvalidOptions("no such key; `gleaner keys list` shows them")
        return without_keys(text, str(path), revoked)

    _edit(path, change)
    print(f"{len(revoked)} revoked; requests under way are still answered.", file=sys.stderr)
    return 0


def _path(chosen: argparse.Namespace) -> Path:
    path: Path | None = chosen.file or read_settings().api_keys_file
    if path is None:
        raise InvalidOptions("name the keys file by --file or GLEANER_API_KEYS_FILE")
    return path


def _edit(path: Path, change: Callable[[str], str]) -> None:
    try:
        edit(path, change)
    except OSError as error:
        raise GleanerError(f"the keys file cannot be written: {error}") from error


HEAD = "# client, SHA-256 of its key, limits; written by `gleaner keys`\n"
_CLIENT = re.compile(r"[^\s#=]+")


def tenants_in(text: str, source: str) -> dict[str, Tenant]:
    """Map the digests in a keys file's text to tenants. Raises BadKeysFile."""
    return parse(entries(text, source))


def with_key(text: str, source: str, client: str, digest: str, limits: dict[str, str]) -> str:
    """Add a key to the text.

    Raises:
        InvalidOptions: the client's name is not allowed.
        BadKeysFile: the text or a limit is bad, or contradicts another line of the client.
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
    """Remove the lines of these digests from the text; a client that keeps other keys keeps its limits.

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
    """Replace a keys file by `change` of its text; a new file is only for its owner.

    Owner and mode of a file stay, because a service of another user may have to read it. Readers never see half a file.

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
