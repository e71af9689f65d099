"""Folders of files beside their known fields, as sets of labelled documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.evaluation.document_files import is_folder_of_files, read_document_files
from service.evaluation.labelled_documents import BadRecords

TRUTH = {
    "document": "a.pdf",
    "kind": ["invoice", "receipt"],
    "currency": "EUR",
    "roles": {"total_amount": "9.00", "due_date": None, "supplier_name": ["Acme", "Acme GmbH"]},
    "line_items": [],
}


def folder_of(path: Path, truth: Any = TRUTH) -> Path:
    path.mkdir(exist_ok=True)
    (path / "a.pdf").write_bytes(b"%PDF")
    (path / "a.json").write_text(json.dumps(truth))
    return path


def test_a_file_has_the_fields_of_the_json_beside_it(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bills")
    (folder / "notes.json").write_text('{"other": 1}')
    ((document,),) = (each.documents for each in read_document_files(folder))
    assert (document.id, document.kind, document.file) == ("a", "invoice", folder / "a.pdf")
    assert document.fields == {
        "kind": ("invoice", "receipt"),
        "currency": ("EUR",),
        "total_amount": ("9.00",),
        "due_date": (),
        "supplier_name": ("Acme", "Acme GmbH"),
    }


def test_a_document_without_a_currency_is_not_judged_by_one(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bills", {"document": "a.pdf", "kind": "none"})
    assert read_document_files(folder)[0].documents[0].fields == {"kind": ("none",)}


def test_each_folder_is_a_set_of_its_name(tmp_path: Path) -> None:
    folder_of(tmp_path / "scans")
    folder_of(tmp_path / "bills")
    assert [each.name for each in read_document_files(tmp_path)] == ["bills", "scans"]


@pytest.mark.parametrize(
    ("truth", "problem"),
    [
        ({"document": "b.pdf", "kind": "invoice"}, "a.json: there is no file b.pdf."),
        ({"document": "a.pdf", "kind": None}, "a.json: `kind` must be a text or a list, and `roles` an object."),
        ({**TRUTH, "roles": []}, "a.json: `kind` must be a text or a list, and `roles` an object."),
        ([1], "a.json: a JSON object is wanted."),
    ],
)
def test_files_of_another_form_are_named(tmp_path: Path, truth: Any, problem: str) -> None:
    with pytest.raises(BadRecords) as error:
        read_document_files(folder_of(tmp_path / "bills", truth))
    assert error.value.problems == [problem]


def test_a_folder_with_json_lines_holds_texts(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bills")
    assert is_folder_of_files(folder)
    (folder / "texts.jsonl").write_text("")
    assert not is_folder_of_files(folder)
    assert not is_folder_of_files(folder / "a.json")
