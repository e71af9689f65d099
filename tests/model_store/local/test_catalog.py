"""The catalog: the store, the built-in models, and which hides which."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.errors import CorruptFile, InvalidGolden, InvalidManifest, RefusedFolder, UnknownModel
from model_store.local.catalog import BUILTIN_ROOT, Catalog, builtin_names, builtin_revision
from model_store.local.layout import Layout
from model_store.reference import hex_digits
from model_store.transfer.publish import publish
from tests.support.stores import MakeModel


@pytest.fixture
def catalog(make_model: MakeModel, tmp_path: Path) -> Catalog:
    """An empty store, and one built-in model, `documents`, beside a folder that is not a model."""
    (tmp_path / "builtin" / "training").mkdir(parents=True)
    make_model("builtin/documents")
    return Catalog(tmp_path / "store", tmp_path / "builtin")


def test_a_built_in_model_is_found_by_tag_and_digest(catalog: Catalog) -> None:
    revision = catalog.resolve("documents")
    assert revision.folder == catalog.builtin_root / "documents"
    assert (revision.name, revision.tag, revision.built_in) == ("documents", "stable", True)
    assert catalog.resolve(f"documents@{revision.revision}").manifest == revision.manifest


def test_a_published_model_hides_the_built_in_one_of_its_name(catalog: Catalog, make_model: MakeModel) -> None:
    built_in = catalog.resolve("documents")
    done = publish(make_model("mine", {"model.safetensors": b"mine"}), "documents", catalog.store)
    assert catalog.resolve("documents") == done.revision
    assert catalog.resolve(f"documents@{built_in.revision}").built_in


def test_a_damaged_revision_is_not_replaced_by_a_built_in_model(catalog: Catalog, make_model: MakeModel) -> None:
    folder = publish(make_model("mine", {"model.safetensors": b"mine"}), "documents", catalog.store).revision.folder
    weights = folder / "model.safetensors"
    weights.chmod(0o644)
    weights.write_bytes(b"?")
    with pytest.raises(CorruptFile):
        catalog.resolve("documents")


def test_an_unknown_reference_lists_everything_that_exists(catalog: Catalog, make_model: MakeModel) -> None:
    publish(make_model("mine"), "invoices", catalog.store, tag="candidate")
    for reference in ("letters", "documents@candidate", "documents@sha256:" + "0" * 64, "invoices"):
        with pytest.raises(UnknownModel) as unknown:
            catalog.resolve(reference)
        assert unknown.value.available == ("documents@stable", "invoices@candidate")


def test_the_list_has_every_revision_with_sizes_own_and_shared(catalog: Catalog, make_model: MakeModel) -> None:
    one = publish(make_model("one", {"model.safetensors": b"one" * 9}), "invoices", catalog.store).revision
    two = publish(make_model("two", {"model.safetensors": b"second" * 9}), "invoices", catalog.store).revision
    publish(make_model("three", {"model.safetensors": b"second" * 9}), "invoices", catalog.store, tag="candidate")
    listed = {model.revision: model for model in catalog.list()}
    assert [model.name for model in catalog.list()] == ["documents", "invoices", "invoices"]
    assert listed[two.revision].tags == ("candidate", "stable")
    assert listed[one.revision].tags == ()
    small = sum(file.size_bytes for file in one.manifest.files if file.path != "model.safetensors")
    assert listed[one.revision].shared_bytes == small
    assert listed[one.revision].size_bytes == one.manifest.size_bytes
    assert [model.built_in for model in catalog.list()] == [True, False, False]


def test_damaged_revisions_and_tags_are_listed_with_problems(catalog: Catalog, make_model: MakeModel) -> None:
    revision = publish(make_model("mine"), "invoices", catalog.store).revision.revision
    catalog.store.layout.manifest(hex_digits(revision)).write_bytes(b"{}")
    torn = catalog.store.layout.tag("letters", "stable")
    torn.parent.mkdir()
    torn.write_bytes(b"{")
    listed = {model.name: model for model in catalog.list()}
    assert {name for name, model in listed.items() if model.problem} == {"invoices", "letters"}
    assert (listed["invoices"].revision, listed["invoices"].tags) == (revision, ("stable",))
    assert (listed["letters"].revision, listed["letters"].tags) == ("", ("stable",))


@pytest.fixture
def root(make_model: MakeModel, tmp_path: Path) -> Path:
    """Built-in models: `documents`, beside a folder that is not a model."""
    (tmp_path / "builtin" / "training").mkdir(parents=True)
    make_model("builtin/documents")
    return tmp_path / "builtin"


def test_folders_with_a_config_are_the_built_in_models(root: Path) -> None:
    assert builtin_names(root) == ("documents",)
    assert builtin_names(BUILTIN_ROOT) == ("documents",)


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


def test_a_folder_that_could_not_be_published_is_refused(root: Path, tmp_path: Path) -> None:
    (root / "documents" / "modeling.py").write_text("import os")
    with pytest.raises(RefusedFolder):
        builtin_revision(root, "documents", Layout(tmp_path / "store"))


def test_golden_examples_and_origin_are_in_the_manifest(root: Path, tmp_path: Path) -> None:
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
