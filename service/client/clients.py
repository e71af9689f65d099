"""Python clients of a service, blocking and for asyncio: one shared text of what is asked, two ways to wait for it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, Unpack

import httpx

from .answers import (
    ExtractedDocument,
    Extraction,
    Lines,
    RedactedDocument,
    RedactionAnswer,
    StreamedDocument,
    decoded,
    decoded_bytes,
)
from .errors import GleanerError
from .requests import (
    CONNECTION_ERRORS,
    LATE_SECONDS,
    ExtractOptions,
    PreparedRequest,
    RedactOptions,
    RetryBudget,
    Source,
    Timeouts,
    headers_of,
    raised,
    request_of,
    url_of,
)

_T = TypeVar("_T")
_MODELS = PreparedRequest("/models", {}, method="GET")


@dataclass(frozen=True, slots=True)
class _Call(Generic[_T]):
    """One request, and what its response is read as."""

    request: PreparedRequest
    read: Callable[[httpx.Response], _T]


def _extraction(sources: Sequence[Source], options: Mapping[str, Any], *, batch: bool = True) -> _Call[Extraction]:
    return _Call(request_of("/extract", sources, options, batch=batch), lambda found: decoded(found, Extraction))


def _redaction(sources: Sequence[Source], options: Mapping[str, Any], *, batch: bool = True) -> _Call[RedactionAnswer]:
    return _Call(request_of("/redact", sources, options, batch=batch), lambda found: decoded(found, RedactionAnswer))


def _stream(sources: Sequence[Source], options: Mapping[str, Any]) -> PreparedRequest:
    return request_of("/extract", sources, options, batch=True, in_lines=True)


def _members(request: PreparedRequest) -> _Call[dict[str, Any]]:
    return _Call(request, lambda found: decoded(found, dict[str, Any]))


class _Attempts:
    """The tries of one request within a budget of retries and the request's deadline."""

    def __init__(self, budget: RetryBudget, deadline_seconds: float | None) -> None:
        self._deadline_seconds = deadline_seconds
        self._budget = budget
        if deadline_seconds is not None:
            self._budget = replace(budget, seconds=min(budget.seconds, deadline_seconds))
        self._begun_seconds = time.monotonic()
        self._tries = 0

    def timeout(self, timeouts: Timeouts) -> httpx.Timeout:
        """The limits of the next try."""
        if self._deadline_seconds is None:
            return timeouts.of_httpx()
        left_seconds = self._deadline_seconds - (time.monotonic() - self._begun_seconds)
        return timeouts.of_httpx(max(left_seconds, 0.0) + LATE_SECONDS)

    def wait_seconds(self, error: Exception) -> float:
        """Compute the seconds to wait after a failed try.

        Raises:
            GleanerError: the failure, if there is no other try.
        """
        self._tries += 1
        refusal = error if isinstance(error, GleanerError) else None
        spent_seconds = time.monotonic() - self._begun_seconds
        wait = self._budget.wait_seconds(self._tries, spent_seconds, refusal, random.random())
        if wait is None:
            raise raised(error) from error
        return wait


class Client:
    """A client of one service; safe to share among threads.

    Args:
        url: where the service is, e.g. `http://127.0.0.1:8080`; of this machine, `localhost:8080` will do.
        key: the API key, where one is needed.
        retries: how long and how often a request is tried again.
        timeouts: of one try.
        transport: httpx's, for tests and proxies.

    Options are those of the routes (`labels`, `min_score`, `model`, `deadline_ms` …), by their names. All calls raise
    `GleanerError`: `RequestError`, `Overloaded` or `ServiceError`.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        retries: RetryBudget | None = None,
        timeouts: Timeouts | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._retries = retries or RetryBudget()
        self._timeouts = timeouts or Timeouts()
        self._http = httpx.Client(headers=headers_of(key), transport=transport)
        self._url = url_of(url)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def extract(self, source: Source, **options: Unpack[ExtractOptions]) -> ExtractedDocument:
        """One document's entities."""
        return self._ask(_extraction([source], options, batch=False)).documents[0].ok()

    def extract_batch(self, sources: Sequence[Source], **options: Unpack[ExtractOptions]) -> Extraction:
        """The entities of several documents in one request, in their order; each may have an `error` of its own."""
        return self._ask(_extraction(sources, options))

    def stream(self, sources: Sequence[Source], **options: Unpack[ExtractOptions]) -> Iterator[StreamedDocument]:
        """Several documents of one request, each as soon as it is finished; retried only until the first has come."""
        response = self._send(_stream(sources, options), stream=True)
        lines = Lines()
        try:
            for piece in response.iter_bytes():
                for line in lines.add(piece):
                    yield decoded_bytes(line, StreamedDocument, response)
        except CONNECTION_ERRORS as error:
            raise raised(error) from error
        finally:
            response.close()

    def redact(self, source: Source, **options: Unpack[RedactOptions]) -> RedactedDocument:
        """One document without the entities in it (`labels`, `mode`, `repeats`, `output` …)."""
        return self._ask(_redaction([source], options, batch=False)).documents[0].ok()

    def redact_batch(self, sources: Sequence[Source], **options: Unpack[RedactOptions]) -> RedactionAnswer:
        """Several documents without their entities; each may have an `error` of its own."""
        return self._ask(_redaction(sources, options))

    def models(self) -> dict[str, Any]:
        """The models that are served, as /models lists them."""
        return self._ask(_members(_MODELS))

    def ask(self, path: str, sources: Sequence[Source], **options: Any) -> dict[str, Any]:
        """The answer of a route to documents as the service wrote it, with members that this client does not know."""
        return self._ask(_members(request_of(path, sources, options, batch=len(sources) > 1)))

    def _ask(self, call: _Call[_T]) -> _T:
        return call.read(self._send(call.request))

    def _send(self, request: PreparedRequest, *, stream: bool = False) -> httpx.Response:
        """A response without an error, tried again within the budget; with `stream`, its body is not yet read."""
        attempts = _Attempts(self._retries, request.deadline_seconds)
        while True:
            try:
                built = self._http.build_request(
                    request.method,
                    self._url + request.path,
                    timeout=attempts.timeout(self._timeouts),
                    **request.arguments(),
                )
                response = self._http.send(built, stream=stream)
                if response.is_error:
                    response.read()
                    decoded(response, dict[str, Any])
                return response
            except (GleanerError, *CONNECTION_ERRORS) as error:
                wait_seconds = attempts.wait_seconds(error)
            time.sleep(wait_seconds)


class AsyncClient:
    """A client of one service, for one event loop; arguments and calls are those of `Client`."""

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
        self._timeouts = timeouts or Timeouts()
        self._http = httpx.AsyncClient(headers=headers_of(key), transport=transport)
        self._url = url_of(url)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def extract(self, source: Source, **options: Unpack[ExtractOptions]) -> ExtractedDocument:
        """As `Client.extract`."""
        return (await self._ask(_extraction([source], options, batch=False))).documents[0].ok()

    async def extract_batch(self, sources: Sequence[Source], **options: Unpack[ExtractOptions]) -> Extraction:
        """As `Client.extract_batch`."""
        return await self._ask(_extraction(sources, options))

    async def stream(
        self, sources: Sequence[Source], **options: Unpack[ExtractOptions]
    ) -> AsyncIterator[StreamedDocument]:
        """As `Client.stream`."""
        response = await self._send(_stream(sources, options), stream=True)
        lines = Lines()
        try:
            async for piece in response.aiter_bytes():
                for line in lines.add(piece):
                    yield decoded_bytes(line, StreamedDocument, response)
        except CONNECTION_ERRORS as error:
            raise raised(error) from error
        finally:
            await response.aclose()

    async def redact(self, source: Source, **options: Unpack[RedactOptions]) -> RedactedDocument:
        """As `Client.redact`."""
        return (await self._ask(_redaction([source], options, batch=False))).documents[0].ok()

    async def redact_batch(self, sources: Sequence[Source], **options: Unpack[RedactOptions]) -> RedactionAnswer:
        """As `Client.redact_batch`."""
        return await self._ask(_redaction(sources, options))

    async def models(self) -> dict[str, Any]:
        """As `Client.models`."""
        return await self._ask(_members(_MODELS))

    async def ask(self, path: str, sources: Sequence[Source], **options: Any) -> dict[str, Any]:
        """As `Client.ask`."""
        return await self._ask(_members(request_of(path, sources, options, batch=len(sources) > 1)))

    async def _ask(self, call: _Call[_T]) -> _T:
        return call.read(await self._send(call.request))

    async def _send(self, request: PreparedRequest, *, stream: bool = False) -> httpx.Response:
        """As `Client._send`."""
        attempts = _Attempts(self._retries, request.deadline_seconds)
        while True:
            try:
                built = self._http.build_request(
                    request.method,
                    self._url + request.path,
                    timeout=attempts.timeout(self._timeouts),
                    **request.arguments(),
                )
                response = await self._http.send(built, stream=stream)
                if response.is_error:
                    await response.aread()
                    decoded(response, dict[str, Any])
                return response
            except (GleanerError, *CONNECTION_ERRORS) as error:
                wait_seconds = attempts.wait_seconds(error)
            await asyncio.sleep(wait_seconds)
