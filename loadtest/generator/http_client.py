"""The HTTP client of a generator process: aiohttp, with a limit on requests under way and a reply for every ending.

Connections are kept while idle and opened when none is free, so that no request waits for another's answer. A server
may close an idle connection at the moment of the next write to it; such a request is sent once more, and counted.
"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from urllib.parse import quote, urlsplit

import aiohttp
from yarl import URL

from loadtest.errors import BadInput
from loadtest.generator.records import Reply
from loadtest.scenario.workload import Job, Pairs

CONNECT_SECONDS = 10.0
IDLE_SECONDS = 3600.0
"""Seconds for which an idle connection is kept: in practice until the server closes it."""
LEFT_OUT_HEADERS = ("Accept", "Accept-Encoding", "User-Agent")
"""Headers that aiohttp would add to each request."""


class HttpClient:
    """Posts jobs to a service. It is made and used inside an event loop; `most` requests may be under way at once."""

    def __init__(self, url: str, *, most: int, timeout_seconds: float) -> None:
        self._most = most
        self._timeout_seconds = timeout_seconds
        self._session = _session()
        self._urls: dict[Pairs, URL] = {}
        self._base = service_url(url)
        self.under_way = 0
        self.most_under_way = 0
        self.resent = 0
        self.exhausted = 0

    async def __aenter__(self) -> HttpClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    def redirect(self, url: str) -> None:
        """Send new requests to this service; requests under way end where they began, as behind a load balancer."""
        self._base = service_url(url)
        self._urls.clear()

    async def post(self, job: Job) -> Reply:
        """Send a job now, whatever else is under way; a failure is a reply with status 0."""
        if self.under_way >= self._most:
            self.exhausted += 1
            return Reply(0, "", b"", "no_connection_left")
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            async with asyncio.timeout(self._timeout_seconds), await self._send(job) as response:
                body = await response.read()
            return Reply(response.status, response.headers.get("Retry-After", ""), body)
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError.
            return Reply(0, "", b"", failure(error))
        finally:
            self.under_way -= 1

    async def _send(self, job: Job) -> aiohttp.ClientResponse:
        """The head of the response to a job; sent again where a kept connection was closed before any response."""
        while True:
            attempt = SimpleNamespace(reused=False)
            try:
                return await self._session.post(
                    self._url(job),
                    data=job.body,
                    headers={"Content-Type": job.content_type, **dict(job.headers)},
                    allow_redirects=False,
                    trace_request_ctx=attempt,
                )
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if not attempt.reused:
                    raise
                self.resent += 1

    def _url(self, job: Job) -> URL:
        found = self._urls.get(job.query)
        if found is None:
            query = "&".join(f"{name}={quote(value, safe='')}" for name, value in job.query)
            found = self._urls[job.query] = URL(f"{self._base}/extract{'?' + query if query else ''}", encoded=True)
        return found


def service_url(url: str) -> str:
    """The URL before `/extract`, with a scheme and without a slash at its end.

    Raises:
        BadInput: it is no http or https URL.
    """
    whole = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(whole)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise BadInput(f"{url!r} is no http or https URL")
    return whole.rstrip("/")


def failure(error: Exception) -> str:
    """The code of a request without a whole response, by the place where it failed."""
    match error:
        case aiohttp.ServerTimeoutError():  # Of the connection: no other timeout is left to aiohttp.
            return "connect_timeout"
        case TimeoutError():
            return "timeout"
        case aiohttp.ClientConnectorError(os_error=ConnectionRefusedError()):
            return "connection_refused"
        case aiohttp.ClientConnectorError():
            return "connect_failed"
        case aiohttp.ClientResponseError():
            return f"bad_http ({error.message})"
        case _:
            return "connection_lost"


def _session() -> aiohttp.ClientSession:
    tracing = aiohttp.TraceConfig()
    tracing.on_connection_reuseconn.append(_note_reuse)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        skip_auto_headers=LEFT_OUT_HEADERS,
        trace_configs=[tracing],
    )


async def _note_reuse(_session: aiohttp.ClientSession, context: SimpleNamespace, _parameters: object) -> None:
    context.trace_request_ctx.reused = True
