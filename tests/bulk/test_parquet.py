"""A job's rows in one Parquet file; needs the extra `parquet`."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet

from service.bulk import finish as outputs
from service.bulk import job as jobs
from service.bulk.job import JobRecord
from service.bulk.storage import FolderStorage
from service.core.bulk import BulkJob, Item, row

JOB = BulkJob("documents@sha256:ab", {})


def test_a_row_is_a_row_with_its_document_as_json(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    jobs.begin(storage, JobRecord(JOB, None, ("/in",)))
    documents = {f"ä{number}": {"id": str(number), "entities": []} for number in range(outputs.ROW_GROUP + 1)}
    items = [*(Item(key, "v1", 3) for key in documents), Item("bad\udcff", "v1", 3)]
    for segment in jobs.plan(storage, JOB, items):
        for each in segment:
            rows = [
                row(item, model=JOB.model, sha256="00", document=documents[item.key])
                if item.key in documents
                else row(item, model=JOB.model, error={"code": "unreadable_file", "detail": "Gone."})
                for item in each.chunk.items
            ]
            jobs.put_part(storage, each.part, rows)
    found = pyarrow.parquet.read_table(tmp_path / outputs.write_parquet(storage)).to_pylist()
    assert {each["key"]: json.loads(each["document"]) for each in found[:-1]} == documents
    assert found[-1] == {
        "key": "bad\\udcff",
        "version": "v1",
        "bytes": 3,
        "sha256": None,
        "model": JOB.model,
        "document": None,
        "error_code": "unreadable_file",
        "error_detail": "Gone.",
    }
