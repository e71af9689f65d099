"""Scans of folders and golden examples: what is found, and every problem."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model_store.contents.scan import read_golden, require_unchanged, scan_folder
from model_store.errors import InvalidGolden, RefusedFolder, SourceChanged
from model_store.manifest import GoldenEntity, GoldenExample
from tests.support.stores import MakeModel


def codes(folder: Path) -> list[str]:
    """The codes of the problems for which the folder is refused."""
    with pytest.raises(RefusedFolder) as refused:
        scan_folder(folder)
    return [problem.code for problem in refused.value.problems]


def test_files_are_listed_with_their_sizes_in_order(make_model: MakeModel) -> None:
    folder = make_model()
    scanned = scan_folder(folder)
    assert [entry.name for entry in scanned.files] == ["config.json", "model.safetensors", "tokenizer.json"]
    assert all(entry.size_bytes == (folder / entry.name).stat().st_size for entry in scanned.files)
    assert scanned.config.architecture == "BertForTokenClassification"


def test_safetensors_that_no_loader_would_read_are_left_out(make_model: MakeModel) -> None:
    folder = make_model()
    (folder / "adapter_model.safetensors").write_bytes(b"anything")
    scanned = scan_folder(folder)
    assert "adapter_model.safetensors" in scanned.left_out
    assert "adapter_model.safetensors" not in [entry.name for entry in scanned.files]


def test_what_a_model_asks_for_in_decoding_is_taken_and_checked(make_model: MakeModel) -> None:
    folder = make_model()
    (folder / "decoding.json").write_text("{}")
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "transitions.safetensors").write_bytes(weights)
    names = [entry.name for entry in scan_folder(folder).files]
    assert {"decoding.json", "transitions.safetensors"} <= set(names)
    (folder / "transitions.safetensors").write_bytes(weights[:-1])
    (folder / "decoding.json").write_text("[]")
    assert sorted(codes(folder)) == ["json", "truncated"]


def test_a_shard_of_the_index_that_is_missing_is_refused(make_model: MakeModel) -> None:
    folder = make_model(shards={"model-1.safetensors": b"one", "model-2.safetensors": b"two"})
    assert len(scan_folder(folder).files) == 5
    (folder / "model-2.safetensors").unlink()
    assert codes(folder) == ["no_shard"]


def test_an_index_that_names_a_tensor_of_another_shard_is_refused(tmp_path: Path, make_model: MakeModel) -> None:
    folder = make_model(shards={"model-1.safetensors": b"one", "model-2.safetensors": b"two"})
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    tensor, shard = next(iter(index["weight_map"].items()))
    other = ({"model-1.safetensors", "model-2.safetensors"} - {shard}).pop()
    index["weight_map"] |= {"lost": shard, tensor: other}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(RefusedFolder, match=r"names the wrong shards: .* is not in model-") as refused:
        scan_folder(folder)
    assert [problem.code for problem in refused.value.problems] == ["misplaced"]


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_pointer_of_git_lfs_is_named_as_such(make_model: MakeModel, name: str) -> None:
    folder = make_model()
    (folder / name).write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 433292294\n")
    with pytest.raises(RefusedFolder, match=f"{name} is a pointer of Git LFS.*git lfs pull") as refused:
        scan_folder(folder)
    assert {problem.code for problem in refused.value.problems} == {"lfs_pointer"}


def test_truncated_weights_are_refused(make_model: MakeModel) -> None:
    folder = make_model()
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert codes(folder) == ["truncated"]


def test_links_are_refused_wherever_they_point(make_model: MakeModel, tmp_path: Path) -> None:
    folder = make_model()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "vocab.txt").symlink_to(tmp_path / "secret.txt")
    assert codes(folder) == ["link"]


def test_every_problem_is_reported_at_once(make_model: MakeModel) -> None:
    folder = make_model(auto_map={"AutoModel": "evil.Model"}, architectures=["GPT2LMHeadModel"])
    (folder / "tokenizer.json").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80")
    (folder / "modeling.py").write_text("import os")
    assert codes(folder) == ["code", "pickle", "no_tokenizer", "remote_code", "architecture"]


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_config_that_is_not_a_json_object_is_refused(make_model: MakeModel, content: str) -> None:
    folder = make_model()
    (folder / "config.json").write_text(content)
    assert codes(folder) == ["json"]


def test_a_tokenizer_without_a_model_is_refused(make_model: MakeModel) -> None:
    folder = make_model()
    (folder / "tokenizer.json").write_text("{}")
    assert codes(folder) == ["tokenizer"]


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert codes(tmp_path / "nowhere")[0] == "unreadable"


def test_a_file_that_changes_after_the_scan_is_an_error(make_model: MakeModel) -> None:
    folder = make_model()
    scanned = scan_folder(folder)
    require_unchanged(scanned)
    text = (folder / "config.json").read_text()
    (folder / "config.json").write_text(json.dumps(json.loads(text)).replace("B-NAME", "B-GAME"))
    with pytest.raises(SourceChanged, match=r"config\.json changed"):
        require_unchanged(scanned)


GOOD = '{"text": "Ada writes", "entities": [{"label": "NAME", "start": 0, "end": 3}]}'


def test_each_line_is_an_example_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(f'{GOOD}\n\n{{"text": "nothing", "entities": []}}\n')
    assert read_golden(path) == (
        GoldenExample("Ada writes", (GoldenEntity("NAME", 0, 3),)),
        GoldenExample("nothing", ()),
    )


def test_byte_order_marks_are_no_part_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(f"\ufeff{GOOD}\r\n\ufeff\r\n\ufeff{GOOD}\r\n")
    assert read_golden(path) == (GoldenExample("Ada writes", (GoldenEntity("NAME", 0, 3),)),) * 2
    path.write_text(GOOD, encoding="utf-16")
    with pytest.raises(InvalidGolden, match="UTF-16"):
        read_golden(path)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{", ""),
        ('{"text": "Ada"}', "entities"),
        ('{"text": "Ada", "entities": [], "typo": 1}', "typo"),
        ('{"text": "Ada", "entities": [{"label": "NAME", "start": 0, "end": 4}]}', "0:4"),
        ('{"text": "Ada", "entities": [{"label": "NAME", "start": 2, "end": 2}]}', "2:2"),
    ],
)
def test_an_invalid_line_is_an_error_with_its_number(tmp_path: Path, line: str, named: str) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    with pytest.raises(InvalidGolden, match=rf"line 2.*{named}"):
        read_golden(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidGolden):
        read_golden(tmp_path / "golden.jsonl")
