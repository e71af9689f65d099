"""Outputs of a finished job: the summary, the rows that count, and files of them, also Parquet."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pyarrow.parquet
import pytest

from service.bulk import finish as outputs
from service.bulk import job as jobs
from service.bulk.job import JobRecord
from service.bulk.storage import FolderStorage, StorageError
from service.core.bulk import BulkJob, Item, row

JOB = BulkJob("documents@sha256:ab", {})
DAMAGED = {"code": "unreadable_document", "detail": "Damaged."}


def _document(item: Item) -> dict[str, object]:
    return {"id": item.key, "pages": 2, "characters": 30, "tokens": 7, "error": None, "text": item.version}


def _work(storage: FolderStorage, *items: Item, failing: frozenset[str] = frozenset(), again: bool = False) -> None:
    """Plan items in chunks of two and write their parts."""
    how = jobs.plan_again if again else jobs.plan
    for segment in how(storage, JOB, items, files=2):
        for each in segment:
            rows = [
                row(item, model=JOB.model, error=DAMAGED)
                if item.key in failing
                else row(item, model=JOB.model, sha256="00", document=_document(item))
                for item in each.chunk.items
            ]
            jobs.put_part(storage, each.part, rows)


@pytest.fixture
def storage(tmp_path: Path) -> FolderStorage:
    """A job of three files, one of which failed."""
    storage = FolderStorage(tmp_path / "job")
    jobs.begin(storage, JobRecord(JOB, None, ("/in",)))
    _work(storage, *(Item(key, "v1", 5) for key in ("a.txt", "b/c.pdf", "d.txt")), failing=frozenset(["d.txt"]))
    return storage


def _rows(storage: FolderStorage) -> list[tuple[str, str, bool]]:
    return [(row["key"], row["version"], row["error"] is None) for row in outputs.rows(storage)]


def test_a_finished_job_has_a_summary_and_is_finished_once(storage: FolderStorage) -> None:
    assert not outputs.is_finished(storage)
    summary, is_first = outputs.finish(storage)
    assert is_first
    assert json.loads(storage.read("summary.json") or b"") == {
        "model": JOB.model,
        "files": 3,
        "answered": 2,
        "superseded": 0,
        "size_bytes": 15,
        "pages": 4,
        "characters": 60,
        "tokens": 14,
        "errors": {"unreadable_document": 1},
    }
    assert outputs.finish(storage) == (summary, False)
    assert outputs.is_finished(storage)


def test_a_job_without_all_parts_is_not_finished(storage: FolderStorage) -> None:
    list(jobs.plan(storage, JOB, [Item("new", "v1", 1)]))
    with pytest.raises(outputs.PartsMissing, match="1 of 4 files"):
        outputs.finish(storage)
    assert storage.read("_SUCCESS") is None


def test_a_changed_file_has_one_row_and_finishes_the_job_anew(storage: FolderStorage) -> None:
    outputs.finish(storage)
    _work(storage, Item("a.txt", "v2", 5), Item("e.txt", "v1", 5))
    assert not outputs.is_finished(storage)
    assert _rows(storage) == [
        ("b/c.pdf", "v1", True),
        ("d.txt", "v1", False),
        ("a.txt", "v2", True),
        ("e.txt", "v1", True),
    ]
    summary, is_first = outputs.finish(storage)
    assert (summary.files, summary.superseded, is_first) == (4, 1, True)


def test_a_file_that_changed_back_has_the_row_of_what_it_is_now(storage: FolderStorage) -> None:
    _work(storage, Item("d.txt", "v2", 5))
    _work(storage, Item("d.txt", "v1", 5), failing=frozenset(["d.txt"]))
    assert _rows(storage)[-1] == ("d.txt", "v1", False)
    assert len(_rows(storage)) == 3


def test_what_failed_is_found_and_its_new_row_counts(storage: FolderStorage) -> None:
    assert list(outputs.failed_items(storage, frozenset(["other"]))) == []
    (failed,) = outputs.failed_items(storage, frozenset(["unreadable_document"]))
    assert list(outputs.failed_items(storage, frozenset())) == [failed]
    _work(storage, failed, again=True)
    assert outputs.finish(storage)[0].errors == {}
    assert ("d.txt", "v1", True) in _rows(storage)


def test_rows_in_one_file_and_in_a_file_each(storage: FolderStorage, tmp_path: Path) -> None:
    _work(storage, Item("../x\udcff", "v1", 5))
    name = outputs.write_lines(storage)
    lines = [json.loads(line) for line in (storage.read(name) or b"").splitlines()]
    assert lines == list(outputs.rows(storage))
    folder = outputs.write_files(storage)
    files = [outputs.file_name(row["key"]) for row in lines]
    assert files == ["a.txt.json", "b/c.pdf.json", "d.txt.json", "%2E%2E/x\udcff.json"]
    assert [json.loads(storage.read(folder + file) or b"") for file in files] == lines
    assert [path.name for path in tmp_path.iterdir()] == ["job"]


def test_a_full_folder_of_temporary_files_is_a_sentence(
    storage: FolderStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(StorageError, match="cannot be written to this machine's folder of temporary"):
        outputs.write_lines(storage)


@pytest.mark.parametrize(
    ("key", "name"),
    [("/etc/passwd", "etc/passwd.json"), ("a/./b", "a/%2E/b.json"), ("a//b", "a/%2F/b.json"), ("x\0y", "x%00y.json")],
)
def test_a_keys_file_is_within_the_folder(key: str, name: str) -> None:
    assert outputs.file_name(key) == name


def test_no_keys_file_is_the_folder_of_another() -> None:
    keys = [
        "report",
        "report.json/page.txt",
        "report.json%/page.txt",
        "report.json/b.json/c",
        "b.json",
        "b.json/c",
        "b",
    ]
    names = [outputs.file_name(key) for key in keys]
    folders = {str(folder) for name in names for folder in Path(name).parents}
    assert len({*names}) == len(keys)
    assert not folders & {*names}
    assert outputs.file_name("json/a") == "json/a.json"


def test_a_long_keys_file_has_a_name_that_file_systems_take() -> None:
    first, second = (outputs.file_name("ü" * 300 + end) for end in "ab")
    assert first != second
    assert max(len(first.encode()), len(second.encode())) < 256


def test_each_entity_is_a_row_of_a_table(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    jobs.begin(storage, JobRecord(JOB, None, ("/in",)))
    place = {"label": "MONEY", "text": "EUR 2.00", "start": 5, "end": 13, "score": 0.9, "page": 2, "source": "model"}
    money = {**place, "kind": "money", "value": "2.00 EUR", "number": "2.00", "unit": "EUR", "boxes": [[1.0, 2, 3, 4]]}
    day = {
        **place,
        "kind": "date",
        "value": "\udcff",
        "ambiguous": ["2025-03", "2025-04"],
        "page": None,
        "boxes": [],
    }
    documents = {"a\udcff": [money, day], "b": [], "c": [money | {"valid": False, "new": 1}]}
    for segment in jobs.plan(storage, JOB, [Item(key, "v1", 3) for key in [*documents, "bad"]]):
        for each in segment:
            found = [
                row(item, model=JOB.model, document={"entities": documents[item.key]})
                if item.key in documents
                else row(item, model=JOB.model, error={"code": "unreadable_file", "detail": "Gone."})
                for item in each.chunk.items
            ]
            jobs.put_part(storage, each.part, found)
    table = pyarrow.parquet.read_table(tmp_path / outputs.write_entities(storage))
    names = (
        "key label text start end score kind value number unit valid ambiguous page boxes source ocr_confidence words"
    )
    assert table.column_names == names.split()
    nothing = dict.fromkeys(table.column_names)
    assert table.to_pylist() == [
        {**nothing, **money, "key": "a\\udcff"},
        {**nothing, **day, "key": "a\\udcff", "value": "\\udcff"},
        {**nothing, **money, "key": "c", "valid": False},
    ]


def test_a_job_without_entities_is_an_empty_table(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    jobs.begin(storage, JobRecord(JOB, None, ("/in",)))
    assert pyarrow.parquet.read_table(tmp_path / outputs.write_entities(storage)).num_rows == 0
    assert pyarrow.parquet.read_table(tmp_path / outputs.write_parquet(storage)).num_rows == 0


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


def test_a_name_that_a_terminal_would_obey_is_written_without() -> None:
    assert outputs.file_name("a/e\x1b[31m") == "a/e%[31m.fbc5c63eb302857b.json"
    names = {outputs.file_name(key) for key in ("e\x1b", "e\n", "e%", "e\x9b", "e\u202e", "e\r")}
    assert len(names) == 6
    assert all(name.isprintable() for name in names)
