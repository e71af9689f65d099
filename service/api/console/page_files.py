"""The console's files, read once: the page, its styles and modules, and the sample documents.

The rule: nothing of the page is inline, and it may load from here only, so whatever a document says stays text.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response

from service.core.errors import UnknownRoute

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
        """The file, or 304 for whoever has it under this entity tag."""
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
        """All names."""
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
