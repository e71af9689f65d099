"""The client for asyncio; its calls are those of the other."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

import httpx

from service.client.answers import (
    ExtractedDocument,
    Extraction,
    RedactedDocument,
    RedactionAnswer,
    StreamedDocument,
    decoded,
    decoded_bytes,
)
from service.client.connection import CONNECTION_ERRORS, Timeouts, headers_of, raised
from service.client.retries import RetryBudget
from service.client.sources import PreparedRequest, Source, request_of
from service.core.errors import GleanerError

_T = TypeVar("_T")


class AsyncClient:
    """A client of one service, for one event loop; the arguments are those of `Client`."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        retries: RetryBudget | None = None,
        timeouts: Timeouts | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._retries = retries or RetryBudget()
        self._url = url.rstrip("/")
        self._http = httpx.AsyncClient(
            headers=headers_of(key),
            timeout=(timeouts or Timeouts()).of_httpx(),
            transport=transport,
        )

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def extract(self, source: Source, **options: Any) -> ExtractedDocument:
        """One document's entities."""
        return (await self._ask(request_of("/extract", [source], options, batch=False), Extraction)).documents[0].ok()

    async def extract_batch(self, sources: Sequence[Source], **options: Any) -> Extraction:
        """The entities of several documents in one request, in their order; each may have an `error` of its own."""
        return await self._ask(request_of("/extract", sources, options, batch=True), Extraction)

    async def stream(self, sources: Sequence[Source], **options: Any) -> AsyncIterator[StreamedDocument]:
        """Several documents of one request, each as soon as it is finished; retried only until the first has come."""
        request = request_of("/extract", sources, options, batch=True, in_lines=True)
        response = await self._retried(lambda: self._begin(request))
        try:
            async for line in response.aiter_lines():
                yield decoded_bytes(line.encode(), StreamedDocument, response)
        except CONNECTION_ERRORS as error:
            raise raised(error) from error
        finally:
            await response.aclose()

    async def redact(self, source: Source, **options: Any) -> RedactedDocument:
        """One document without the entities in it (`labels`, `mode`, `repeats`, `output` …)."""
        answer = await self._ask(request_of("/redact", [source], options, batch=False), RedactionAnswer)
        return answer.documents[0].ok()

    async def redact_batch(self, sources: Sequence[Source], **options: Any) -> RedactionAnswer:
        """Several documents without their entities; each may have an `error` of its own."""
        return await self._ask(request_of("/redact", sources, options, batch=True), RedactionAnswer)

    async def models(self) -> dict[str, Any]:
        """The models that are served, as /models lists them."""

        async def attempt() -> dict[str, Any]:
            return decoded(await self._http.get(self._url + "/models"), dict[str, Any])

        return await self._retried(attempt)

    async def ask(self, path: str, sources: Sequence[Source], **options: Any) -> dict[str, Any]:
        """The answer of a route to documents as the service wrote it, with members that this client does not know."""
        return await self._ask(request_of(path, sources, options, batch=len(sources) > 1), dict[str, Any])

    async def _ask(self, request: PreparedRequest, kind: type[_T]) -> _T:
        async def attempt() -> _T:
            return decoded(await self._http.post(self._url + request.path, **request.arguments()), kind)

        return await self._retried(attempt)

    async def _begin(self, request: PreparedRequest) -> httpx.Response:
        built = self._http.build_request("POST", self._url + request.path, **request.arguments())
        response = await self._http.send(built, stream=True)
        if response.is_error:
            await response.aread()
            decoded(response, dict[str, Any])
        return response

    async def _retried(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        begun, tries = time.monotonic(), 0
        while True:
            tries += 1
            try:
                return await attempt()
            except (GleanerError, *CONNECTION_ERRORS) as error:
                refusal = error if isinstance(error, GleanerError) else None
                wait = self._retries.wait_seconds(tries, time.monotonic() - begun, refusal, random.random())
                if wait is None:
                    raise raised(error) from error
            await asyncio.sleep(wait)
