"""Documents as files: reads a folder of files, each beside a JSON file of the same stem with its known fields.

    {"document": "a.pdf", "kind": "invoice", "currency": "EUR", "roles": {"total_amount": "119.00", "due_date": null}}

A value is one text, a list of accepted ones, or null: the document states none, so that an answer is an invention. A
role that is left out is not judged. Amounts are plain decimals, dates ISO 8601. `kind` may be a list; `none`: no bill.
The folder is one set, named as it; a folder of folders is one set for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from service.evaluation.labelled_documents import (
    BadRecords,
    LabelledDocument,
    LabelledSet,
    json_object,
    text_of_file,
)

NO_PAPER = "none"
"""Kind of a document without fields."""


def is_folder_of_files(path: Path) -> bool:
    """True for a folder without JSON lines, but with JSON files."""
    return path.is_dir() and not any(path.glob("*.jsonl")) and any(path.rglob("*.json"))


def read_document_files(folder: Path) -> list[LabelledSet]:
    """Read the sets of a folder.

    Raises:
        BadRecords: a JSON file is not as above, or its document is missing; names all problems.
    """
    problems: list[str] = []
    sets: dict[Path, list[LabelledDocument]] = {}
    for path in sorted(folder.rglob("*.json")):
        try:
            sets.setdefault(path.parent, []).extend(_documents(path))
        except BadRecords as error:
            problems += error.problems
    if problems:
        raise BadRecords(problems)
    return [LabelledSet(each.name, tuple(documents), frozenset()) for each, documents in sets.items() if documents]


def _documents(path: Path) -> Iterator[LabelledDocument]:
    """Yield the document that a JSON file describes; none for one of another kind."""
    truth = json_object(path.name, text_of_file(path))
    if "document" not in truth:
        return
    kinds, roles = _listed(truth.get("kind")), truth.get("roles", {})
    file = path.parent / str(truth["document"])
    if not isinstance(roles, dict) or not kinds:
        raise BadRecords([f"{path.name}: `kind` must be a text or a list, and `roles` an object."])
    if not file.is_file():
        raise BadRecords([f"{path.name}: there is no file {file.name}."])
    fields = {"kind": kinds, **{role: _listed(value) for role, value in roles.items()}}
    if currency := _listed(truth.get("currency")):
        fields["currency"] = currency
    yield LabelledDocument(path.stem, "", (), path.stem, kind=kinds[0], fields=fields, file=file)


def _listed(value: Any) -> tuple[str, ...]:
    """Make a tuple of one text or several; of null an empty one."""
    values = value if isinstance(value, list) else [value]
    return tuple(str(each) for each in values if each is not None)
