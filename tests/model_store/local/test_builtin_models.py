"""Built-in models: revisions of plain folders, whose digests are remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.errors import InvalidGolden, InvalidManifest, RefusedFolder
from model_store.local.builtin_models import BUILTIN_ROOT, builtin_names, builtin_revision
from model_store.local.layout import Layout
from tests.support.stores import MakeModel


@pytest.fixture
def root(make_model: MakeModel, tmp_path: Path) -> Path:
    """Built-in models: `documents`, beside a folder that is not a model."""
    (tmp_path / "builtin" / "training").mkdir(parents=True)
    make_model("builtin/documents")
    return tmp_path / "builtin"


def test_folders_with_a_config_are_the_built_in_models(root: Path) -> None:
    assert builtin_names(root) == ("documents",)
    assert builtin_names(BUILTIN_ROOT) == ("documents",)


def test_a_built_in_model_is_served_in_place(root: Path, tmp_path: Path) -> None:
    revision = builtin_revision(root, "documents", Layout(tmp_path / "store"))
    assert revision.folder == root / "documents"
    assert (revision.name, revision.tag, revision.built_in) == ("documents", "stable", True)


def test_digests_are_remembered_until_a_file_changes(root: Path, tmp_path: Path) -> None:
    layout = Layout(tmp_path / "store")
    first = builtin_revision(root, "documents", layout)
    (receipt,) = (layout.root / "receipts" / "folders").iterdir()
    written = receipt.stat().st_mtime_ns
    assert builtin_revision(root, "documents", layout) == first
    assert receipt.stat().st_mtime_ns == written
    config = first.folder / "config.json"
    config.write_text(config.read_text().replace("B-NAME", "B-GAME"))
    assert builtin_revision(root, "documents", layout).revision != first.revision


def test_a_receipt_that_cannot_be_written_is_not_needed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    revision = builtin_revision(root, "documents", Layout(tmp_path / "file" / "store"))
    assert revision == builtin_revision(root, "documents", Layout(tmp_path / "store"))


def test_a_folder_that_could_not_be_published_is_refused(root: Path, tmp_path: Path) -> None:
    (root / "documents" / "modeling.py").write_text("import os")
    with pytest.raises(RefusedFolder):
        builtin_revision(root, "documents", Layout(tmp_path / "store"))


def test_golden_examples_and_origin_are_read_from_the_folder_into_the_manifest(root: Path, tmp_path: Path) -> None:
    plain = builtin_revision(root, "documents", Layout(tmp_path / "store"))
    example = '{"text": "Jane", "entities": [{"label": "NAME", "start": 0, "end": 4}]}'
    (root / "documents" / "golden.jsonl").write_text(example + "\n")
    (root / "documents" / "provenance.json").write_text('{"base_model": "a base"}')
    revision = builtin_revision(root, "documents", Layout(tmp_path / "store"))
    assert revision.manifest.golden[0].text == "Jane"
    assert revision.manifest.provenance.base_model == "a base"
    assert revision.revision != plain.revision
    assert revision.manifest.files == plain.manifest.files


@pytest.mark.parametrize(("name", "error"), [("golden.jsonl", InvalidGolden), ("provenance.json", InvalidManifest)])
def test_what_cannot_be_read_beside_the_files_is_refused(
    root: Path, tmp_path: Path, name: str, error: type[Exception]
) -> None:
    (root / "documents" / name).write_text("{\n")
    with pytest.raises(error):
        builtin_revision(root, "documents", Layout(tmp_path / "store"))
