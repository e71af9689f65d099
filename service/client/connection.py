"""What both clients share of their connections: headers, time limits, and what a broken one is raised as."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from service.core.errors import GleanerError, InternalError

CONNECTION_ERRORS = (httpx.HTTPError, httpx.InvalidURL)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds of one try: to connect, and without a byte of the answer; a document may take long."""

    connect: float = 10.0
    read: float = 3_600.0

    def of_httpx(self) -> httpx.Timeout:
        """The same for httpx."""
        return httpx.Timeout(self.read, connect=self.connect)


def headers_of(key: str | None) -> dict[str, str]:
    """The headers of every request."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def raised(error: Exception) -> GleanerError:
    """An error as a client raises it: the service's own, or that it does not answer."""
    if isinstance(error, GleanerError):
        return error
    return InternalError(f"The service does not answer: {str(error) or type(error).__name__}.")
