"""Request generator: kinds and lengths of documents, models, priorities and tenants. Seeded.

The same mix and seed give the same requests, byte for byte, in every generator process. A pool of distinct requests is
made before the run, so that making documents costs nothing while requests are sent. The prose has entities in it, and
common words, so that a real vocabulary splits them as it splits real documents (about 1.4 tokens per word).
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
from loadtest.scenario.document_files import make_docx, make_pdf

WORDS = """
the of and to in a is that for it as was with be by on not he this are or his from at which but have an they you were
their one all we can more will if no other about new some could time these two may then do first any such like over
our now under also after most many before must through back years where much your way well down should because each
those people how too little state good very make world still own see work long get here between both life being
order payment delivery invoice contract service customer supplier amount total account number date office project
report manager team price goods terms notice party agreement product quality material shipment warehouse request
offer review market plan budget quarter period result figure change support system process company department
""".split()
FIRST = "Anna Maria Jane Clara Olivia Emma Peter Thomas John Lucas Martin David Paul Sarah Laura Daniel".split()
LAST = "Weber Rossi Martin Keller Novak Silva Jensen Moreau Fischer Brown Taylor Costa Meyer Lind Ortega Walsh".split()
FIRMS = "Northwind Harbour Castell Lindenau Meridian Oakfield Bluestone Riverton Alder Summit Corvus Halden".split()
FORMS = ("GmbH", "Ltd", "Inc.", "S.A.", "B.V.", "AG")
MONTHS = "January February March April May June July August September October November December".split()
SENTENCE_WORDS = (6, 18)
FACT_SHARE = 0.3


def paragraph(words: int, draw: Random) -> str:
    """Sentences with this number of words in all; three in ten sentences have an entity."""
    found: list[str] = []
    while len(found) < words:
        sentence = (
            _fact(draw).split() if draw.random() < FACT_SHARE else draw.choices(WORDS, k=draw.randint(*SENTENCE_WORDS))
        )
        sentence = sentence[: max(words - len(found), 1)]
        found += (
            [sentence[0].capitalize(), *sentence[1:-1], sentence[-1].rstrip(".") + "."]
            if len(sentence) > 1
            else sentence
        )
    return " ".join(found)


def report(words: int, draw: Random) -> str:
    """A long document of headings and paragraphs."""
    parts, left, number = [], words, 1
    while left > 0:
        size = min(left, draw.randint(60, 160))
        heading = " ".join(draw.choices(WORDS, k=3)).title()
        parts.append(f"{number}. {heading}\n\n{paragraph(size, draw)}")
        left, number = left - size, number + 1
    return "\n\n".join(parts)


def _fact(draw: Random) -> str:
    person = f"{draw.choice(FIRST)} {draw.choice(LAST)}"
    firm = f"{draw.choice(FIRMS)} {draw.choice(FORMS)}"
    amount = f"EUR {draw.randint(1, 99)},{draw.randint(0, 999):03d}.{draw.randint(0, 99):02d}"
    day = f"{draw.randint(1, 28)} {draw.choice(MONTHS)} {draw.randint(2019, 2027)}"
    return draw.choice(
        (
            f"invoice INV-{draw.randint(10_000, 99_999)} from {firm} dated {day} comes to a total of {amount}",
            f"the agreement between {firm} and {person} begins on {day}",
            f"please contact {person} of {firm} at {person.split()[0].lower()}@{firm.split()[0].lower()}.example",
            f"purchase order PO-{draw.randint(1_000, 9_999)} over {amount} is due on {day}",
        )
    )


JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
LONGEST_JSON_BYTES = 1024 * 1024
"""Bytes of JSON above which a text is sent as plain text: a service takes 16 MiB of JSON, and more of a text."""
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

    `text` is sent as JSON (over 1 MiB as plain text), and so is `report`, a long text with headings; `pdf` and `docx`
    are files with such prose; `folder` sends the files of `path` unchanged.
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
    """The distributions that a request is drawn from; an empty one leaves the choice to the service.

    `labels`: what each request asks a model with free labels for, with commas between.
    """

    documents: tuple[Documents, ...] = (Documents(),)
    models: tuple[Share, ...] = ()
    priorities: tuple[Share, ...] = ()
    tenants: tuple[Share, ...] = ()
    deadline_ms: int = 0
    labels: str = ""
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
    wanted = {"model": model, "priority": priority, "deadline_ms": str(mix.deadline_ms or ""), "labels": mix.labels}
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
    body = json.dumps({"text": text}).encode()
    return (body, JSON) if len(body) <= LONGEST_JSON_BYTES else (text.encode(), TEXT)


def _files(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in MEDIA_TYPES and path.is_file())
    if not files:
        raise BadInput(f"{folder} has no documents ({', '.join(MEDIA_TYPES)})")
    return files


def _pick(shares: tuple[Share, ...], draw: Random) -> str:
    return draw.choices([each.name for each in shares], [each.weight for each in shares])[0] if shares else ""
