"""What a request is made of: texts or files, and options, as an HTTP request that can be sent again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class TextSource:
    """A text, with the id that its result has; without one it is the document's place in the request."""

    text: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file's bytes, with the name that its result has as id; `media_type` where the name's ending does not say it."""

    data: bytes
    name: str
    media_type: str | None = None

    @classmethod
    def read(cls, path: Path) -> FileSource:
        """A file of this machine."""
        return cls(path.read_bytes(), path.name)


Source = str | TextSource | Path | FileSource
"""One document: a text, or a file by its path or its bytes."""


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """One request, the same in every try."""

    path: str
    headers: dict[str, str]
    content: bytes = b""
    files: list[tuple[str, tuple[str, bytes, str]]] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)

    def arguments(self) -> dict[str, Any]:
        """The arguments of httpx's request."""
        if self.files:
            return {"files": self.files, "data": self.fields, "headers": self.headers}
        return {"content": self.content, "headers": self.headers}


def request_of(
    path: str, sources: Sequence[Source], options: Mapping[str, Any], *, batch: bool, in_lines: bool = False
) -> PreparedRequest:
    """The request for documents, all texts or all files.

    Raises:
        ValueError: none came, or some of each.
    """
    headers = {"Accept": LINES} if in_lines else {}
    chosen = {name: value for name, value in options.items() if value is not None}
    texts = [
        TextSource(each) if isinstance(each, str) else each for each in sources if isinstance(each, (str, TextSource))
    ]
    files = [
        FileSource.read(each) if isinstance(each, Path) else each
        for each in sources
        if isinstance(each, (Path, FileSource))
    ]
    if not sources or (texts and files):
        raise ValueError("one request holds texts or files, at least one")
    if files:
        parts = [("file", (each.name, each.data, each.media_type or "application/octet-stream")) for each in files]
        return PreparedRequest(
            path, headers, files=parts, fields={name: _written(value) for name, value in chosen.items()}
        )
    documents: dict[str, Any] = {"text": texts[0].text}
    if batch or texts[0].id is not None:
        documents = {
            "documents": [{"text": each.text, **({} if each.id is None else {"id": each.id})} for each in texts]
        }
    body = json.dumps({**documents, **chosen}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return PreparedRequest(path, {**headers, "Content-Type": "application/json"}, content=body)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) or not isinstance(value, Sequence) else ",".join(value) if value else ""
