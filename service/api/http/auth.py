"""API keys: which tenant a request comes from. Keys are compared by their SHA-256 and never stored."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from service.api.http.keys_file import entries, parse, read_text
from service.core.errors import Forbidden, Unauthenticated
from service.core.tenants import ANONYMOUS, Tenant


class ApiKeys:
    """The known keys, as digest → tenant; None: no key is needed, and every request is let in."""

    def __init__(self, tenants: Mapping[str, Tenant] | None) -> None:
        self._tenants = None if tenants is None else dict(tenants)

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
