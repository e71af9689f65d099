"""API keys: which client a request comes from. Read from lines `client sha256-of-its-key`; keys are never stored."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from pathlib import Path

from service.core.errors import Forbidden, ModelError, Unauthenticated

ANONYMOUS = "anonymous"
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")


class BadKeysFile(ModelError):
    """The keys file cannot be read or has a bad line."""

    code = "bad_keys_file"


class ApiKeys:
    """The known keys, as digest → client; a client may have several. Without any key, all requests are let in."""

    def __init__(self, clients: Mapping[str, str]) -> None:
        self._clients = dict(clients)

    def client(self, key: str | None) -> str:
        """The client whose key this is; `ANONYMOUS` where no keys are needed.

        Raises:
            Unauthenticated: a key is needed and none was sent.
            Forbidden: the key is unknown.
        """
        if not self._clients:
            return ANONYMOUS
        if not key:
            raise Unauthenticated("Send your key as `Authorization: Bearer KEY` or `X-API-Key: KEY`.")
        digest = hashlib.sha256(key.encode()).hexdigest()
        for known, client in self._clients.items():
            if hmac.compare_digest(digest, known):
                return client
        raise Forbidden("This API key is not known here.")


def sender_of(client: str, address: str | None) -> str:
    """Whose files may share a parser: the client's, or where no keys are needed those from one address."""
    return f"{ANONYMOUS} {address}" if client == ANONYMOUS and address else client


def read_keys(path: Path | None, text: str = "") -> ApiKeys:
    """The keys in a file and in a text of such lines; without both, no keys are needed.

    Raises:
        BadKeysFile: the file cannot be read, one of the two is empty, or a line is not `client sha256`.
    """
    known = _keys(text, "GLEANER_API_KEYS") if text else {}
    if path is None:
        return ApiKeys(known)
    try:
        found = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadKeysFile(f"the keys file cannot be read: {error}") from error
    return ApiKeys({**known, **_keys(found, str(path))})


def _keys(text: str, source: str) -> dict[str, str]:
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for number, line in enumerate(lines, 1):
        if len(line) != 2 or not _DIGEST.fullmatch(line[1]):
            raise BadKeysFile(f"{source}, entry {number}: not `client sha256-of-its-key`")
    if not lines:
        raise BadKeysFile(f"{source} has no keys; leave the setting away to need none")
    return {digest.lower(): client for client, digest in lines}


def presented_key(headers: Mapping[str, str]) -> str | None:
    """The key in a request's `Authorization: Bearer` or `X-API-Key` header, if there is one."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else headers.get("x-api-key")
