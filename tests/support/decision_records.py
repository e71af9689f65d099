"""Decision records: reads `decisions/NNN-title.md` beside the packages and tabulates them for DECISIONS.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from posixpath import relpath

FOLDERS = ("service", "model_store", "infra", "loadtest", "tests")
HEADINGS = ("Context", "Decision", "Consequences", "Measured by")
HEAD = "| number | date | status | decision | in one sentence |"
STATUS = re.compile(r"accepted|experiment|(?:superseded|parked) by \[(\d{3})\]\(([^)]+)\)")
FORM = re.compile(
    r"# (?P<number>\d{3}) (?P<title>.+)\n\n"
    r"(?P<date>\d{4}-\d\d-\d\d) · (?P<status>.+)\n\n"
    r"(?P<sentence>.+)\n\n"
    r"(?P<body>## [\s\S]+)"
)


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """One record as its file states it. `path` is relative to the repository."""

    path: str
    number: int
    title: str
    date: str
    status: str
    sentence: str
    headings: tuple[str, ...]

    @property
    def successor(self) -> int | None:
        """The number of the record that supersedes or parks this one."""
        match = STATUS.fullmatch(self.status)
        return int(match[1]) if match and match[1] else None


def read_record(path: str, text: str) -> DecisionRecord:
    """Parse one record; a ValueError names a file that has another form."""
    match = FORM.fullmatch(text)
    if match is None or not STATUS.fullmatch(match["status"]):
        raise ValueError(f"{path}: not a title, date and status, one sentence, and headings")
    sections = re.split(r"^## (.+)$", match["body"], flags=re.MULTILINE)[1:]
    headings = tuple(name for name, content in zip(sections[::2], sections[1::2], strict=True) if content.strip())
    return DecisionRecord(
        path, int(match["number"]), match["title"], match["date"], match["status"], match["sentence"], headings
    )


def read_records(root: Path) -> list[DecisionRecord]:
    """Every record of the repository, by number."""
    paths = [path for folder in FOLDERS for path in (root / folder).glob("**/decisions/*.md")]
    records = [read_record(path.relative_to(root).as_posix(), path.read_text()) for path in paths]
    return sorted(records, key=lambda record: (record.number, record.path))


def index_table(records: list[DecisionRecord]) -> str:
    """The table of DECISIONS.md: one row for each record."""
    return "\n".join((HEAD, "|---|---|---|---|---|", *map(_row, records)))


def _row(record: DecisionRecord) -> str:
    number = f"[{record.number:03d}]({record.path})"
    return f"| {number} | {record.date} | {_status_from_root(record)} | {record.title} | {record.sentence} |"


def _status_from_root(record: DecisionRecord) -> str:
    """The record's status with its link seen from the repository's root."""
    match = STATUS.fullmatch(record.status)
    if match is None or not match[2]:
        return record.status
    folder = record.path.rpartition("/")[0]
    # relpath of a path that begins at an assumed root: folds the link's `..` away.
    target = relpath(f"/{folder}/{match[2]}", "/")
    return record.status.replace(match[2], target)
