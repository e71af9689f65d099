"""The mix of requests: kinds and lengths of documents, models, priorities and tenants. Seeded.

The same mix and seed give the same requests, byte for byte, in every generator process. A pool of distinct requests is
made before the run, so that making documents costs nothing while requests are sent.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

import msgspec

from loadtest.errors import BadInput
from loadtest.workload.docx import make_docx
from loadtest.workload.pdf import make_pdf
from loadtest.workload.prose import paragraph, report

JSON = "application/json"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MEDIA_TYPES = {
    ".pdf": PDF,
    ".docx": DOCX,
    ".html": "text/html",
    ".htm": "text/html",
    ".txt": "text/plain",
    ".md": "text/markdown",
}

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Job:
    """One request to be sent: a body, its media type, and the options of the request."""

    kind: str
    body: bytes
    content_type: str
    query: Pairs = ()
    headers: Pairs = ()
    model: str = ""
    priority: str = "interactive"
    tenant: str = ""


class Documents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of document. Its length in words is log-normal: `median_words`, `spread` (sigma), at most `most_words`.

    `text` is sent as JSON, and so is `report`, a long text with headings; `pdf` and `docx` are files with such prose;
    `folder` sends the files of `path` unchanged.
    """

    kind: Literal["text", "report", "pdf", "docx", "folder"] = "text"
    weight: float = 1.0
    median_words: int = 110
    spread: float = 0.55
    most_words: int = 5_000
    path: str = ""


class Share(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name and its weight in the draw."""

    name: str
    weight: float = 1.0


class Mix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The distributions that a request is drawn from; an empty one leaves the choice to the service."""

    documents: tuple[Documents, ...] = (Documents(),)
    models: tuple[Share, ...] = ()
    priorities: tuple[Share, ...] = ()
    tenants: tuple[Share, ...] = ()
    deadline_ms: int = 0
    distinct: int = 400
    seed: int = 1


def make_jobs(mix: Mix, keys: dict[str, str] | None = None) -> list[Job]:
    """The pool of requests; `keys` has the API key of each tenant.

    Raises:
        BadInput: a folder has no files, or a share has no weight.
    """
    draw = Random(f"jobs {mix.seed}")
    folders = {each.path: _files(Path(each.path)) for each in mix.documents if each.kind == "folder"}
    return [_job(mix, folders, keys or {}, draw) for _ in range(mix.distinct)]


def _job(mix: Mix, folders: dict[str, list[Path]], keys: dict[str, str], draw: Random) -> Job:
    documents = draw.choices(mix.documents, [each.weight for each in mix.documents])[0]
    model, priority, tenant = (_pick(shares, draw) for shares in (mix.models, mix.priorities, mix.tenants))
    wanted = {"model": model, "priority": priority, "deadline_ms": str(mix.deadline_ms or "")}
    options = tuple((name, value) for name, value in wanted.items() if value)
    body, content_type = _body(documents, folders, draw)
    headers = (("Authorization", f"Bearer {keys[tenant]}"),) if tenant in keys else ()
    return Job(documents.kind, body, content_type, options, headers, model, priority or "interactive", tenant)


def _body(documents: Documents, folders: dict[str, list[Path]], draw: Random) -> tuple[bytes, str]:
    if documents.kind == "folder":
        path = draw.choice(folders[documents.path])
        return path.read_bytes(), MEDIA_TYPES[path.suffix.lower()]
    words = max(
        1, min(round(draw.lognormvariate(math.log(documents.median_words), documents.spread)), documents.most_words)
    )
    text = report(words, draw) if documents.kind == "report" else paragraph(words, draw)
    if documents.kind == "pdf":
        return make_pdf(text), PDF
    if documents.kind == "docx":
        return make_docx(text), DOCX
    return json.dumps({"text": text}).encode(), JSON


def _files(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in MEDIA_TYPES and path.is_file())
    if not files:
        raise BadInput(f"{folder} has no documents ({', '.join(MEDIA_TYPES)})")
    return files


def _pick(shares: tuple[Share, ...], draw: Random) -> str:
    return draw.choices([each.name for each in shares], [each.weight for each in shares])[0] if shares else ""
