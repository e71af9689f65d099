"""Where requests go: a URL taken apart, and the bytes of one POST /extract to it. No socket."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from loadtest.errors import BadInput
from loadtest.workload.jobs import Job


@dataclass(frozen=True, slots=True)
class Target:
    """A service's address; `path` is what stands before /extract."""

    host: str
    port: int
    path: str = ""
    tls: bool = False

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}{self.path}"

    def tls_context(self) -> ssl.SSLContext | None:
        return ssl.create_default_context() if self.tls else None


def read_target(url: str) -> Target:
    """The target that a URL names.

    Raises:
        BadInput: it is no http or https URL.
    """
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"{url!r} is no http or https URL")
    tls = parts.scheme == "https"
    return Target(parts.hostname, parts.port or (443 if tls else 80), parts.path.rstrip("/"), tls)


def request_bytes(target: Target, job: Job) -> bytes:
    """A whole request, head and body."""
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in job.query)
    lines = (
        f"POST {target.path}/extract{'?' + query if query else ''} HTTP/1.1",
        f"Host: {target.host}:{target.port}",
        f"Content-Type: {job.content_type}",
        f"Content-Length: {len(job.body)}",
        *(f"{name}: {value}" for name, value in job.headers),
    )
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + job.body
