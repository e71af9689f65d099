"""A client of a running service, for `gleaner extract --url`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from service.core.errors import BY_CODE, GleanerError, InternalError, InvalidOptions

TIMEOUT_SECONDS = 3_600.0


def key_in(file: Path | None) -> str | None:
    """The API key in a file, if one is named.

    Raises:
        InvalidOptions: it cannot be read.
    """
    try:
        return file.read_text().strip() if file else None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidOptions(f"The key in {file} cannot be read: {error}.") from error


class RemoteService:
    """An HTTP client of one service, as long as the context lasts; `key`: the API key that it sends."""

    def __init__(self, url: str, options: dict[str, Any], key: str | None = None) -> None:
        self._url = url.rstrip("/") + "/extract"
        self._options = {name: str(value).lower() if value is True else str(value) for name, value in options.items()}
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(TIMEOUT_SECONDS, connect=10.0),
        )

    async def __aenter__(self) -> RemoteService:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def extract(self, path: Path, data: bytes) -> dict[str, Any]:
        """The result of one file.

        Raises:
            GleanerError: the service's error, or InternalError if it cannot be reached.
        """
        try:
            answer = await self._client.post(self._url, files={"file": (path.name, data)}, data=self._options)
            body = answer.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise InternalError(f"The service does not answer: {str(error) or type(error).__name__}.") from error
        if not isinstance(body, dict) or not body.keys() & {"code", "documents"}:
            raise InternalError(f"What answers at {self._url} is another service (status {answer.status_code}).")
        if answer.is_error:
            kind: type[GleanerError] = BY_CODE.get(body.get("code", ""), InternalError)
            raise kind(body.get("detail", answer.reason_phrase))
        document: dict[str, Any] = body["documents"][0]
        return document
