"""Subject of a chaos run: a service with a store and a folder for uploads, and the requests of its callers. Seeded.

Requests are of every kind of input, with batches, bad files and bad names. Each has one right answer, which does not
depend on what else the service does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from loadtest.managed_service import ManagedService
from loadtest.scenario.document_files import make_docx, make_pdf
from loadtest.scenario.workload import DOCX, JSON, PDF, Job, paragraph, report
from loadtest.service_process import ServiceParts

LENGTHS = (1, 12, 40, 110, 300, 900, 2_400)
"""Words of the texts."""
BATCH = 12


def make_questions(seed: int, *, key: str = "") -> list[Job]:
    """Distinct requests, each named by its `kind`."""
    draw = Random(f"questions {seed}")
    texts = [paragraph(words, draw) if words < 300 else report(words, draw) for words in LENGTHS]
    jobs = [_json(f"text of {words} words", {"text": text}) for words, text in zip(LENGTHS, texts, strict=True)]
    jobs += [
        Job("pdf", make_pdf(texts[3]), PDF),
        Job("long pdf", make_pdf(texts[5]), PDF),
        Job("docx", make_docx(texts[4]), DOCX),
        Job("html", f"<h1>Report</h1><p>{texts[3]}</p>".encode(), "text/html"),
        _batch("batch", [*texts[:4], *(paragraph(draw.randint(5, 200), draw) for _ in range(BATCH))]),
        _json("text in utf-16 offsets", {"text": texts[3], "offsets": "utf16", "aggregation": "simple"}),
        _batch("batch with an empty text", ["", texts[2]]),
        Job("damaged pdf", make_pdf(texts[3])[:-300], PDF),
        Job("damaged docx", make_docx(texts[3])[:200], DOCX),
        Job("picture", b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png"),
        Job("broken json", b'{"text": "a', JSON),
        _json("unknown model", {"text": "a", "model": "nobody"}),
    ]
    headers = (("Authorization", f"Bearer {key}"),) if key else ()
    return [replace(job, headers=headers) for job in jobs]


def _json(kind: str, body: dict[str, object]) -> Job:
    return Job(kind, json.dumps(body).encode(), JSON)


def _batch(kind: str, texts: list[str]) -> Job:
    return _json(kind, {"documents": [{"id": f"{kind} {number}", "text": text} for number, text in enumerate(texts)]})


@dataclass(slots=True)
class Subject:
    """A running service, the questions that its callers ask, and the revision that it must serve in the end."""

    service: ManagedService
    questions: Sequence[Job]
    newest_revision: str = ""

    def publish(self) -> None:
        """Move the tag to a new revision of the same weights."""
        self.newest_revision = self.service.publish()

    @property
    def parts(self) -> ServiceParts:
        return ServiceParts(self.service.instance.process.pid)
