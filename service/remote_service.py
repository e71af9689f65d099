"""A running service, for `gleaner extract --url` and `gleaner redact --url`: the client that anybody may import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from service import client
from service.core.errors import BY_CODE, InternalError, ServiceError


class NoAnswer(ServiceError):
    """No service answers at an address."""

    code = "unreachable"


class RemoteService:
    """One service, as long as the context lasts; `key`: the API key that it is sent."""

    def __init__(self, url: str, options: dict[str, Any], key: str | None = None) -> None:
        self._url = url
        self._options = options
        self._client = client.AsyncClient(url, key=key)

    async def __aenter__(self) -> RemoteService:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def extract(self, path: Path, data: bytes) -> dict[str, Any]:
        """The result of one file, as the service wrote it.

        Raises:
            GleanerError: the service's error, or NoAnswer if it cannot be reached.
        """
        return await self._document("/extract", path, data)

    async def redact(self, path: Path, data: bytes) -> dict[str, Any]:
        """The redacted file; raises as `extract`."""
        return await self._document("/redact", path, data)

    async def _document(self, route: str, path: Path, data: bytes) -> dict[str, Any]:
        try:
            answer = await self._client.ask(route, [client.FileSource(data, path.name)], **self._options)
        except client.GleanerError as error:
            kind = NoAnswer if isinstance(error, client.Unreachable) else BY_CODE.get(error.code, InternalError)
            raise kind(error.detail, retry_after_seconds=error.retry_after_seconds) from error
        match answer:
            case {"documents": [dict(document)]}:
                return document
        raise InternalError(f"What answers at {self._url} is another service.")
