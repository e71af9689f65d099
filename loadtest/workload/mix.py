"""Which documents are asked about, how long they are, for which models, priorities and tenants; seeded.

The same mix and seed give the same requests, byte for byte, in every generator process. A pool of distinct requests is
made ahead and drawn from, so that making documents costs nothing while requests are sent.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Literal

import msgspec

from loadtest.errors import BadInput
from loadtest.workload.docx import make_docx
from loadtest.workload.jobs import Job
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


class Documents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sort of document. Its length in words is log-normal: `median_words`, `spread` (sigma), cut at `most_words`.

    `text` travels as JSON; `report` is a long one with headings; `pdf` and `docx` are files with the same prose;
    `folder` takes the files of `path` as they are.
    """

    kind: Literal["text", "report", "pdf", "docx", "folder"] = "text"
    weight: float = 1.0
    median_words: int = 110
    spread: float = 0.55
    most_words: int = 5_000
    path: str = ""


class Share(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name and how often it is drawn."""

    name: str
    weight: float = 1.0


class Mix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is drawn for a request; what is empty is left to the service."""

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
    sort = draw.choices(mix.documents, [each.weight for each in mix.documents])[0]
    model, priority, tenant = (_pick(shares, draw) for shares in (mix.models, mix.priorities, mix.tenants))
    wanted = {"model": model, "priority": priority, "deadline_ms": str(mix.deadline_ms or "")}
    options = tuple((name, value) for name, value in wanted.items() if value)
    body, content_type = _body(sort, folders, draw)
    headers = (("Authorization", f"Bearer {keys[tenant]}"),) if tenant in keys else ()
    return Job(sort.kind, body, content_type, options, headers, model, priority or "interactive", tenant)


def _body(sort: Documents, folders: dict[str, list[Path]], draw: Random) -> tuple[bytes, str]:
    if sort.kind == "folder":
        path = draw.choice(folders[sort.path])
        return path.read_bytes(), MEDIA_TYPES[path.suffix.lower()]
    words = max(1, min(round(draw.lognormvariate(math.log(sort.median_words), sort.spread)), sort.most_words))
    text = report(words, draw) if sort.kind == "report" else paragraph(words, draw)
    if sort.kind == "pdf":
        return make_pdf(text), PDF
    if sort.kind == "docx":
        return make_docx(text), DOCX
    return json.dumps({"text": text}).encode(), JSON


def _files(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in MEDIA_TYPES and path.is_file())
    if not files:
        raise BadInput(f"{folder} has no documents ({', '.join(MEDIA_TYPES)})")
    return files


def _pick(shares: tuple[Share, ...], draw: Random) -> str:
    return draw.choices([each.name for each in shares], [each.weight for each in shares])[0] if shares else ""
