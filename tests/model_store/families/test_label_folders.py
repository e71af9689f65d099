from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model_store.contents.scan import license_of, scan_folder
from model_store.errors import InvalidManifest, RefusedFolder
from model_store.local.store import Store
from model_store.manifest import (
    LABEL_EXTRACTION,
    GoldenEntity,
    GoldenExample,
    decode_manifest,
    encode_manifest,
)
from model_store.transfer.publish import publish
from tests.support.label_models import HOME, NAMES

GLINER, GLINER2 = "uni-token-bert", "gliner25-boundary"


def copied(folder: Path, name: str) -> Path:
    for file in (HOME / name).rglob("*"):
        if file.is_file():
            target = folder / file.relative_to(HOME / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    return folder


def changed(file: Path, **options: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | options))


def codes(folder: Path) -> list[str]:
    with pytest.raises(RefusedFolder) as refused:
        scan_folder(folder)
    return [problem.code for problem in refused.value.problems]


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_folder_is_taken_with_its_subfolders(tmp_path: Path, name: str) -> None:
    example = GoldenExample("a b", (GoldenEntity("thing", 0, 1),), ("thing",), 0.7)
    published = publish(HOME / name, "free", Store(tmp_path), golden=[example])
    manifest = published.revision.manifest
    assert (manifest.task, manifest.labels, manifest.golden) == (LABEL_EXTRACTION, (), (example,))
    files = {file.relative_to(HOME / name).as_posix() for file in (HOME / name).rglob("*") if file.is_file()}
    assert {file.path for file in manifest.files} == files
    assert all((published.revision.folder / file).is_file() for file in files)
    assert decode_manifest(encode_manifest(manifest)) == manifest


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("span_mode", "conv"),
        ("fuse_layers", True),
        ("labels_decoder", "gpt2"),
        ("relations_layer", "x"),
        ("represent_spans", True),
        ("words_splitter_type", "spacy"),
        ("subtoken_pooling", "mean"),
        ("encoder_config", {"model_type": "t5"}),
    ],
)
def test_a_variant_of_gliner_that_is_not_served_is_refused_by_name(tmp_path: Path, option: str, value: object) -> None:
    folder = copied(tmp_path, GLINER)
    changed(folder / "gliner_config.json", **{option: value})
    with pytest.raises(RefusedFolder, match="t5" if option == "encoder_config" else option) as refused:
        scan_folder(folder)
    assert [problem.code for problem in refused.value.problems] == ["unserved_variant"]


@pytest.mark.parametrize(
    "options",
    [
        {"architecture": "pyramid"},
        {"token_pooling": "mean"},
        {"boundary_head": {"candidate_pool": "per_query"}},
        {"boundary_head": {"boundary_attention_layers": 2}},
        {"boundary_head": None},
        {"architecture": "span", "counting_layer": "count_gru"},
        {"architecture": None, "span_head": {"span_mode": "marker"}},
    ],
)
def test_a_variant_of_gliner2_that_is_not_served_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    folder = copied(tmp_path, GLINER2)
    changed(folder / "config.json", **options)
    assert codes(folder) == ["unserved_variant"]


def test_a_folder_of_gliner2_is_taken_as_its_first_version_wrote_it(tmp_path: Path) -> None:
    folder = copied(tmp_path, "gliner2-span")
    config = json.loads((folder / "config.json").read_text())
    old = {name: config[name] for name in ("model_type", "model_name", "max_width", "counting_layer", "token_pooling")}
    (folder / "config.json").write_text(json.dumps(old))
    assert scan_folder(folder).config.architecture == "GLiNER2"


@pytest.mark.parametrize("options", [{"max_width": 0}, {"span_head": {"max_width": "8"}}, {"max_len": -1}])
def test_a_size_that_is_none_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    folder = copied(tmp_path, "gliner2-span")
    changed(folder / "config.json", **{"span_head": None} | options)
    assert codes(folder) == ["config"]


def test_a_pickle_is_refused_with_the_line_that_converts_it(tmp_path: Path) -> None:
    folder = copied(tmp_path, GLINER)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(RefusedFolder, match=r"from_pretrained\(ID\)\.save_pretrained\(FOLDER") as refused:
        scan_folder(folder)
    assert [problem.code for problem in refused.value.problems] == ["pickle", "no_weights"]


def test_a_folder_without_tokenizer_or_encoder_is_refused_with_that_line(tmp_path: Path) -> None:
    folder = copied(tmp_path, GLINER)
    (folder / "tokenizer.json").unlink()
    changed(folder / "gliner_config.json", encoder_config=None)
    assert codes(folder) == ["no_tokenizer", "no_encoder_config"]


def test_a_folder_of_gliner2_without_its_encoder_is_refused(tmp_path: Path) -> None:
    folder = copied(tmp_path, GLINER2)
    (folder / "encoder_config" / "config.json").unlink()
    assert codes(folder) == ["no_encoder_config"]


@pytest.mark.parametrize("name", ["code.py", "x.bin"])
def test_what_may_run_code_is_refused_in_a_subfolder_too(tmp_path: Path, name: str) -> None:
    folder = copied(tmp_path, GLINER2)
    (folder / "encoder_config" / name).write_bytes(b"")
    assert codes(folder) == ["code" if name.endswith(".py") else "pickle"]


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("---\nlanguage: en\nlicense: cc-by-nc-4.0\n---\n# Model", "cc-by-nc-4.0"),
        ('---\nlicense: "mit"\n---', "mit"),
        ("# Model\nlicense: mit", ""),
        ("---\nlanguage: en\n---\nlicense: mit", ""),
        ("", ""),
    ],
)
def test_the_licence_is_what_the_model_card_says(tmp_path: Path, text: str, licence: str) -> None:
    assert license_of(tmp_path) == ""
    (tmp_path / "README.md").write_text(text)
    assert license_of(tmp_path) == licence


def test_golden_examples_have_labels_where_they_are_free_and_only_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidManifest, match="golden example 1 has 0 labels"):
        publish(HOME / GLINER, "free", Store(tmp_path), golden=[GoldenExample("a", ())])
