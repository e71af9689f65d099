"""The end of a bulk job: its rows in the plan's order, their summary, and Parquet, one file, or one file an input.

Everything here follows from the plan and the parts, so that it can be made again, and is the same each time.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from service.bulk import job as jobs
from service.bulk.job import encoded
from service.bulk.storage import JobStorage, StorageError
from service.core.bulk import Item, NewestRows
from service.core.errors import InvalidOptions, ServiceError

SUMMARY, SUCCESS, FINISHED = "summary.json", "_SUCCESS", "finished/"
PARQUET, ENTITIES, LINES, FILES = "documents.parquet", "entities.parquet", "documents.jsonl", "documents/"
WRITTEN = (
    *(jobs.JOB, f"{jobs.PLAN}000001.jsonl", f"{jobs.PARTS}0.jsonl", f"{FINISHED}000001.json"),
    *(SUMMARY, SUCCESS, LINES, PARQUET, ENTITIES, f"{FILES}0.json"),
)
"""Documents of a job, one of each kind, by which an output is found that holds the job's own inputs."""
ROW_GROUP = 500
"""Rows that are written to Parquet together, and held in memory."""
_STEERING = re.compile(r"[\x01-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters of a name that a terminal would obey; what has one is named with a digest, as long names are."""
LONGEST_NAME = 240
"""Bytes of a name in a folder, of which file systems take 255."""
Row = dict[str, Any]


class PartsMissing(ServiceError):
    """A job is not done: chunks of its plan have no part yet."""

    code = "parts_missing"
    title = "The job is not done"


@dataclass(slots=True)
class Summary:
    """Counts of a finished job's rows, the newest of each key.

    Attributes:
        superseded: rows that do not count: of a file that changed, or that was tried again.
        size_bytes: of all files.
        pages, characters, tokens: of the documents that were answered.
        errors: code → rows.
    """

    model: str
    files: int = 0
    answered: int = 0
    superseded: int = 0
    size_bytes: int = 0
    pages: int = 0
    characters: int = 0
    tokens: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, row: Row) -> None:
        """Count a row."""
        self.files += 1
        self.size_bytes += row["bytes"]
        if row["error"] is not None:
            self.errors[row["error"]["code"]] += 1
            return
        self.answered += 1
        document = row["document"]
        self.pages += document.get("pages") or 0
        self.characters += document.get("characters") or 0
        self.tokens += document.get("tokens") or 0

    def to_json(self) -> bytes:
        """The content of `summary.json`."""
        shown = {name: getattr(self, name) for name in self.__slots__ if name != "errors"}
        return json.dumps(shown | {"errors": dict(sorted(self.errors.items()))}, indent=2).encode() + b"\n"


def rows(storage: JobStorage) -> Iterator[Row]:
    """The rows that count, in the plan's order, each key once; parts of the plan that are not written are left out.

    Memory: about 160 bytes for each key, and a part.
    """
    return (row for _, row in _rows(storage, NewestRows(each.chunk for each in jobs.planned(storage))))


def _rows(storage: JobStorage, newest: NewestRows) -> Iterator[tuple[Item, Row]]:
    number = 0
    for each in jobs.planned(storage):
        data = storage.read(jobs.part_file(each.part))
        lines = data.splitlines() if data is not None else []
        for at, item in enumerate(each.chunk.items):
            if lines and newest.counts(item, number + at):
                yield item, json.loads(lines[at])
        number += len(each.chunk.items)


def failed_items(storage: JobStorage, codes: frozenset[str]) -> Iterator[Item]:
    """The inputs whose rows are errors with one of these codes; all errors without any."""
    for item, row in _rows(storage, NewestRows(each.chunk for each in jobs.planned(storage))):
        if row["error"] is not None and (not codes or row["error"]["code"] in codes):
            yield item


def summarize(storage: JobStorage) -> Summary:
    """Count a job's rows.

    Raises:
        PartsMissing: it is not done.
    """
    counts, record = jobs.counts(storage), jobs.read_record(storage)
    if record is None:
        raise InvalidOptions("There is no job: it has no `job.json`.")
    if not counts.is_done:
        raise PartsMissing(f"{counts.files - counts.files_done:,} of {counts.files:,} files are not answered yet.")
    summary = Summary(record.job.model)
    for row in rows(storage):
        summary.add(row)
    summary.superseded = counts.files - summary.files
    return summary


def finish(storage: JobStorage) -> tuple[Summary, bool]:
    """Write `summary.json` and then `_SUCCESS`; the summary, and True for the one call that finishes this plan first.

    Raises:
        PartsMissing: the job is not done.
    """
    covered = _segments(storage)
    summary = summarize(storage)
    is_first = storage.put_once(f"{FINISHED}{covered:06}.json", summary.to_json())
    storage.put(SUMMARY, summary.to_json())
    storage.put(SUCCESS, json.dumps({"segments": covered}).encode() + b"\n")
    return summary, is_first


def is_finished(storage: JobStorage) -> bool:
    """True when `_SUCCESS` covers the whole plan."""
    data = storage.read(SUCCESS)
    return data is not None and json.loads(data)["segments"] == _segments(storage)


def _segments(storage: JobStorage) -> int:
    return sum(1 for _ in storage.names(jobs.PLAN))


def check_parquet() -> None:
    """Check before a job that Parquet can be written; raises InvalidOptions where its library is not installed."""
    if find_spec("pyarrow") is None:
        raise InvalidOptions("Parquet needs pyarrow: pip install 'gleaner-service[parquet]'.")


def write_lines(storage: JobStorage) -> str:
    """Write all rows into one file of JSON lines; returns its name."""
    return _uploaded(storage, LINES, lambda file: _write_lines(rows(storage), file))


def write_parquet(storage: JobStorage) -> str:
    """Write all rows into one Parquet file, documents as JSON; returns its name.

    Raises:
        InvalidOptions: pyarrow is not installed.
    """
    check_parquet()
    flat = map(flat_row, rows(storage))
    return _uploaded(storage, PARQUET, lambda file: _write_table(flat, _documents_schema(), file))


def write_entities(storage: JobStorage) -> str:
    """Write the entities of all documents into one Parquet file, a row each; returns its name; raises as above."""
    check_parquet()
    found = (entity for row in rows(storage) for entity in entity_rows(row))
    return _uploaded(storage, ENTITIES, lambda file: _write_table(found, _entities_schema(), file))


def write_files(storage: JobStorage) -> str:
    """Write a JSON file for each row under `documents/`, named as its key; returns that folder."""
    for row in rows(storage):
        storage.put(FILES + file_name(row["key"]), encoded(row))
    return FILES


def file_name(key: str) -> str:
    """The name of a key's file: below the output's folder, with `%2E` for dots that lead out of it, never too long.

    Keys of S3 differ by a `//` or a `./` that a folder does not keep apart. A folder whose name could be that of a
    file here, as in `report.json/page.txt` beside `report`, ends with `%`.
    """
    parts = key.lstrip("/").split("/")
    parts = [part.replace(".", "%2E") if part in (".", "..") else part or "%2F" for part in parts]
    names = [_shortened(part.replace("\0", "%00")) for part in parts]
    folders = [f"{name}%" if name.endswith((".json", "%")) else name for name in names[:-1]]
    return "/".join((*folders, f"{names[-1]}.json"))


def _shortened(name: str) -> str:
    data = name.encode("utf-8", "surrogateescape")
    shown = _STEERING.sub("%", name).encode("utf-8", "surrogateescape")
    if len(data) <= LONGEST_NAME and shown == data:
        return name
    digest, data = hashlib.sha256(data).hexdigest()[:16], shown
    return f"{data[: LONGEST_NAME - 20].decode('utf-8', 'ignore')}.{digest}"


def _uploaded(storage: JobStorage, name: str, write: Callable[[Path], None]) -> str:
    try:
        with tempfile.TemporaryDirectory(prefix="gleaner-bulk-") as folder:
            file = Path(folder) / "rows"
            write(file)
            storage.upload(name, file)
    except OSError as error:
        raise StorageError(f"{name} cannot be written to this machine's folder of temporary files: {error}.") from error
    return name


def _write_lines(rows: Iterable[Row], to: Path) -> None:
    with to.open("wb") as file:
        file.writelines(map(encoded, rows))


def _write_table(rows: Iterable[Row], schema: Any, to: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    left = iter(rows)
    with pyarrow.parquet.ParquetWriter(to, schema, compression="zstd") as writer:
        while group := list(islice(left, ROW_GROUP)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema))


def _documents_schema() -> Any:
    import pyarrow

    texts = ("key", "version", "sha256", "model", "document", "error_code", "error_detail")
    return pyarrow.schema([("bytes", pyarrow.int64()), *((name, pyarrow.string()) for name in texts)])


def _entities_schema() -> Any:
    """The columns of an entity: its members in the answer, beside the key of its document."""
    import pyarrow

    text, number = pyarrow.string(), pyarrow.float64()
    kinds = {
        **dict.fromkeys(("key", "label", "text"), text),
        **dict.fromkeys(("start", "end"), pyarrow.int64()),
        "score": number,
        **dict.fromkeys(("kind", "value", "number", "unit"), text),
        "valid": pyarrow.bool_(),
        "ambiguous": pyarrow.list_(text),
        "page": pyarrow.int32(),
        "boxes": pyarrow.list_(pyarrow.list_(number)),
        "source": text,
        "ocr_confidence": number,
        "words": pyarrow.list_(pyarrow.int32()),
    }
    return pyarrow.schema(list(kinds.items()))


def entity_rows(row: Row) -> Iterator[Row]:
    """The entities of a row as a table has them: `key` of the document, and the members of the answer."""
    for entity in (row["document"] or {}).get("entities", ()):
        texts = {name: _unicode(value) for name, value in entity.items() if isinstance(value, str)}
        yield {**entity, **texts, "key": _unicode(row["key"])}


def flat_row(row: Row) -> Row:
    """A row as a table has it: `document` as JSON, `error_code` and `error_detail`."""
    error = row["error"] or {"code": None, "detail": None}
    document = row["document"] and encoded(row["document"]).decode().rstrip("\n")
    texts = {name: row[name] for name in ("version", "sha256", "model")} | {"document": document}
    key = _unicode(row["key"])
    return {"key": key, "bytes": row["bytes"], "error_code": error["code"], "error_detail": error["detail"], **texts}


def _unicode(text: str) -> str:
    """A text with what is no Unicode in it, as in names of files, written as in JSON."""
    return text.encode("utf-8", "backslashreplace").decode()
