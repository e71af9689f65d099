"""Remote service for `gleaner extract --url` and `gleaner redact --url`: asks a service by the public client."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from service import client
from service.core.errors import (
    BY_CODE,
    DocumentTooLarge,
    GleanerError,
    InternalError,
    InvalidOptions,
    ServiceError,
    UnknownModel,
)

STABLE = "stable"
PROXY_TOO_LARGE = 413
_Source = client.TextSource | client.FileSource


class NoAnswer(ServiceError):
    """No service answers at an address."""

    code = "unreachable"


class RemoteService:
    """Client of one service, open as long as the context.

    Attributes:
        options: the options of the next documents.

    Args:
        key: the API key to send.
        asking: a client in place of an ordinary one with this key.
    """

    def __init__(
        self, url: str, options: dict[str, Any], key: str | None = None, asking: client.AsyncClient | None = None
    ) -> None:
        self._url = url
        self.options = options
        try:
            self._client = asking or client.AsyncClient(url, key=key)
        except ValueError as error:
            raise InvalidOptions(f"{error}.") from None

    async def __aenter__(self) -> RemoteService:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def extract(self, path: Path, data: bytes | str) -> dict[str, Any]:
        """Extract from one file or text; returns the service's answer.

        Raises:
            GleanerError: the service's error, or NoAnswer if it cannot be reached; DocumentTooLarge, also for a proxy.
        """
        return await self._document("/extract", path, data)

    async def redact(self, path: Path, data: bytes) -> dict[str, Any]:
        """Redact one file; raises as `extract`."""
        return await self._document("/redact", path, data)

    async def revision(self) -> str:
        """Name the model that answers these options, as `name@sha256:…`; a candidate only if they name it.

        Raises:
            UnknownModel: it is not served.
            GleanerError: as `extract`.
        """
        asked = self.options.get("model")
        found = await self._revision(asked)
        if asked and "@" in asked:
            return found
        with suppress(UnknownModel):
            return await self._revision(f"{found.partition('@')[0]}@{STABLE}")
        return found

    def pin(self, revision: str) -> None:
        self.options = self.options | {"model": revision}

    async def _revision(self, asked: str | None) -> str:
        both = [client.TextSource("-")] * 2  # A document of a batch may fail alone, as for a model that needs pages.
        answer = await self.ask("/extract", both, self.options | {"model": asked})
        match answer:
            case {"model": {"name": str(name), "revision": str(revision)}}:
                return f"{name}@{revision}"
        raise self._not_our_service()

    async def _document(self, route: str, path: Path, data: bytes | str) -> dict[str, Any]:
        source: _Source
        source = client.TextSource(data, path.name) if isinstance(data, str) else client.FileSource(data, path.name)
        match await self.ask(route, [source], self.options):
            case {"documents": [dict(document)]}:
                return document
        raise self._not_our_service()

    async def ask(self, route: str, sources: Sequence[_Source], options: dict[str, Any]) -> dict[str, Any]:
        """Ask a route about documents; returns the whole answer and raises as `extract`."""
        try:
            return await self._client.ask(route, sources, **options)
        except client.GleanerError as error:
            if error.code in ("unreachable", "unexpected_answer"):  # Also a proxy's.
                kind: type[GleanerError] = DocumentTooLarge if error.status == PROXY_TOO_LARGE else NoAnswer
            else:
                kind = BY_CODE.get(error.code, InternalError)
            raise kind(error.detail, retry_after_seconds=error.retry_after_seconds) from error

    def _not_our_service(self) -> InternalError:
        return InternalError(f"What answers at {self._url} is another service.")
