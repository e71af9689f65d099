"""The client that waits for its answers."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
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


class Client:
    """A client of one service; safe to share among threads.

    Args:
        url: where the service is, e.g. `http://127.0.0.1:8080`.
        key: the API key, where one is needed.
        retries: how long and how often a request is tried again.
        timeouts: of one try.
        transport: httpx's, for tests and proxies.

    Options are those of the routes (`labels`, `min_score`, `model`, `deadline_ms` …), by their names. All calls raise
    the service's own errors (`GleanerError`: `RequestError`, `Overloaded`, `ServiceError`).
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
        self._url = url.rstrip("/")
        self._http = httpx.Client(
            headers=headers_of(key),
            timeout=(timeouts or Timeouts()).of_httpx(),
            transport=transport,
        )

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def extract(self, source: Source, **options: Any) -> ExtractedDocument:
        """One document's entities."""
        return self._ask(request_of("/extract", [source], options, batch=False), Extraction).documents[0].ok()

    def extract_batch(self, sources: Sequence[Source], **options: Any) -> Extraction:
        """The entities of several documents in one request, in their order; each may have an `error` of its own."""
        return self._ask(request_of("/extract", sources, options, batch=True), Extraction)

    def stream(self, sources: Sequence[Source], **options: Any) -> Iterator[StreamedDocument]:
        """Several documents of one request, each as soon as it is finished; retried only until the first has come."""
        request = request_of("/extract", sources, options, batch=True, in_lines=True)
        response = self._retried(lambda: self._begin(request))
        try:
            for line in response.iter_lines():
                yield decoded_bytes(line.encode(), StreamedDocument, response)
        except CONNECTION_ERRORS as error:
            raise raised(error) from error
        finally:
            response.close()

    def redact(self, source: Source, **options: Any) -> RedactedDocument:
        """One document without the entities in it (`labels`, `mode`, `repeats`, `output` …)."""
        return self._ask(request_of("/redact", [source], options, batch=False), RedactionAnswer).documents[0].ok()

    def redact_batch(self, sources: Sequence[Source], **options: Any) -> RedactionAnswer:
        """Several documents without their entities; each may have an `error` of its own."""
        return self._ask(request_of("/redact", sources, options, batch=True), RedactionAnswer)

    def models(self) -> dict[str, Any]:
        """The models that are served, as /models lists them."""
        return self._retried(lambda: decoded(self._http.get(self._url + "/models"), dict[str, Any]))

    def ask(self, path: str, sources: Sequence[Source], **options: Any) -> dict[str, Any]:
        """The answer of a route to documents as the service wrote it, with members that this client does not know."""
        return self._ask(request_of(path, sources, options, batch=len(sources) > 1), dict[str, Any])

    def _ask(self, request: PreparedRequest, kind: type[_T]) -> _T:
        return self._retried(lambda: decoded(self._http.post(self._url + request.path, **request.arguments()), kind))

    def _begin(self, request: PreparedRequest) -> httpx.Response:
        built = self._http.build_request("POST", self._url + request.path, **request.arguments())
        response = self._http.send(built, stream=True)
        if response.is_error:
            response.read()
            decoded(response, dict[str, Any])
        return response

    def _retried(self, attempt: Callable[[], _T]) -> _T:
        begun, tries = time.monotonic(), 0
        while True:
            tries += 1
            try:
                return attempt()
            except (GleanerError, *CONNECTION_ERRORS) as error:
                refusal = error if isinstance(error, GleanerError) else None
                wait = self._retries.wait_seconds(tries, time.monotonic() - begun, refusal, random.random())
                if wait is None:
                    raise raised(error) from error
            time.sleep(wait)
