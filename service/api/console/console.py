"""Console of one worker: its page files, its access policy, and the parts that its routes share.

Who may see more than the empty page is decided by the settings and the Host header:

    keys are configured                    every request with a valid key, as for /extract
    no keys, `on`                          everybody
    no keys, `auto`, on a loopback address everybody whom `OwnNames` lets pass (service/api/middleware.py)
    no keys, `auto`, on any other address  nobody

Nothing of the page is inline, and it may load from here only, so whatever a document says stays text.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from starlette.responses import Response

from service.api.console.live import LiveFeed
from service.api.console.requests import RequestFinder
from service.api.middleware import is_loopback
from service.api.worker import Worker, ocr_folder
from service.core.errors import Unauthenticated, UnknownRoute
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class ConsoleAccessPolicy:
    """The access rule's inputs: the setting, whether the service has keys, and the address that it listens on."""

    mode: Literal["auto", "on"]
    keyed: bool
    address: str

    def check(self) -> None:
        """Let a request pass on to its key.

        Raises:
            Unauthenticated: there is no key that could be sent.
        """
        if self.keyed or self.mode == "on":
            return
        if not is_loopback(self.address):
            raise Unauthenticated(
                "The console is closed: the service listens to other machines and has no API keys. Give it keys, or "
                "set GLEANER_CONSOLE=on to open the console to everybody."
            )


_HERE = Path(__file__).parent
PAGE = "index.html"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
"""`blob:` are pictures of pages, which come with a key and so cannot be loaded by their address. Trusted types without
a policy: the browser refuses to make markup or code of any text."""
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file and what its answer says of it."""

    content: bytes
    media_type: str
    tag: str

    def response(self, known_tag: str | None) -> Response:
        """The file, or 304 for a browser that has it under this entity tag."""
        headers = {
            "ETag": self.tag,
            "Cache-Control": "no-cache",
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
            "Cross-Origin-Opener-Policy": "same-origin",
        }
        if known_tag == self.tag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, headers=headers, media_type=self.media_type)


class PageFiles:
    """The files by their names, `samples/…` among them."""

    def __init__(self) -> None:
        self._files: dict[str, PageFile] = {}
        for folder, prefix in ((_HERE / "static", ""), (_HERE / "samples", "samples/")):
            for path in sorted(folder.iterdir()):
                if path.suffix in MEDIA_TYPES:
                    self._files[prefix + path.name] = _read(path)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._files)

    def response(self, name: str, known_tag: str | None = None) -> Response:
        """The answer to a request for a file; `known_tag`: its `If-None-Match`.

        Raises:
            UnknownRoute: there is none of this name.
        """
        file = self._files.get(name)
        if file is None:
            raise UnknownRoute("The console has no such file.")
        return file.response(known_tag)


def _read(path: Path) -> PageFile:
    content = path.read_bytes()
    return PageFile(content, MEDIA_TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')


@dataclass(frozen=True, slots=True)
class Console:
    """State that the console's routes share: `request.state.console`.

    Attributes:
        limits: most bytes, pages and characters of a document, as the empty page says them.
        ocr: text in pictures is recognized.
    """

    files: PageFiles
    access: ConsoleAccessPolicy
    limits: dict[str, int]
    ocr: bool
    on_internal_port: bool
    requests: RequestFinder
    live: LiveFeed


@asynccontextmanager
async def open_console(settings: Settings, worker: Worker) -> AsyncIterator[Console | None]:
    """The console of a worker, while the context is open; None where the settings ask for none."""
    if settings.console == "off":
        yield None
        return
    keyed = settings.api_keys_file is not None or bool(settings.api_keys)
    finder = RequestFinder(worker.traces, worker.engine, settings.sockets)
    await finder.peers.open()
    try:
        yield Console(
            files=PageFiles(),
            access=ConsoleAccessPolicy(settings.console, keyed, settings.host),
            limits={
                "bytes": settings.max_document_bytes,
                "pages": settings.max_document_pages,
                "characters": settings.max_document_characters,
            },
            ocr=ocr_folder(settings) is not None,
            on_internal_port=bool(settings.internal_port),
            requests=finder,
            live=LiveFeed(worker.engine, settings.queue_limit_tokens),
        )
    finally:
        await finder.peers.close()
