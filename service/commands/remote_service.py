"""A running service, for `gleaner extract --url` and `gleaner redact --url`: the client that anybody may import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from service.client.clients import AsyncClient
from service.client.requests import FileSource
from service.core.errors import InternalError


class RemoteService:
    """One service, as long as the context lasts; `key`: the API key that it is sent."""

    def __init__(self, url: str, options: dict[str, Any], key: str | None = None) -> None:
        self._url = url
        self._options = options
        self._client = AsyncClient(url, key=key)

    async def __aenter__(self) -> RemoteService:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def extract(self, path: Path, data: bytes) -> dict[str, Any]:
        """The result of one file, as the service wrote it.

        Raises:
            GleanerError: the service's error, or InternalError if it cannot be reached.
        """
        return await self._document("/extract", path, data)

    async def redact(self, path: Path, data: bytes) -> dict[str, Any]:
        """The redacted file; raises as `extract`."""
        return await self._document("/redact", path, data)

    async def _document(self, route: str, path: Path, data: bytes) -> dict[str, Any]:
        answer = await self._client.ask(route, [FileSource(data, path.name)], **self._options)
        match answer:
            case {"documents": [dict(document)]}:
                return document
        raise InternalError(f"What answers at {self._url} is another service.")
