"""Gathering a model's folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from model_store.contents.scan import gather, require_unchanged
from model_store.errors import RefusedFolder, SourceChanged

MakeModel = Callable[..., Path]


def test_files_are_gathered_with_their_sizes_in_order(make_model: MakeModel) -> None:
    folder = make_model()
    candidate = gather(folder)
    assert [entry.name for entry in candidate.files] == ["config.json", "model.safetensors", "tokenizer.json"]
    assert all(entry.size_bytes == (folder / entry.name).stat().st_size for entry in candidate.files)
    assert candidate.description.architecture == "BertForTokenClassification"


def test_safetensors_that_no_loader_would_read_are_left_out(make_model: MakeModel) -> None:
    folder = make_model()
    (folder / "adapter_model.safetensors").write_bytes(b"anything")
    candidate = gather(folder)
    assert "adapter_model.safetensors" in candidate.left_out
    assert "adapter_model.safetensors" not in [entry.name for entry in candidate.files]


def test_a_shard_that_the_index_names_must_be_there(make_model: MakeModel) -> None:
    folder = make_model(shards={"model-1.safetensors": b"one", "model-2.safetensors": b"two"})
    assert len(gather(folder).files) == 5
    (folder / "model-2.safetensors").unlink()
    with pytest.raises(RefusedFolder, match=r"names the shard model-2\.safetensors, which is not there"):
        gather(folder)


def test_a_shard_that_was_cut_off_is_refused(make_model: MakeModel) -> None:
    folder = make_model()
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(RefusedFolder, match="not written or copied to its end"):
        gather(folder)


def test_links_are_refused_wherever_they_point(make_model: MakeModel, tmp_path: Path) -> None:
    folder = make_model()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "vocab.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(RefusedFolder, match=r"'vocab\.txt' is a link"):
        gather(folder)


def test_every_reason_is_given_at_once(make_model: MakeModel) -> None:
    folder = make_model(auto_map={"AutoModel": "evil.Model"}, architectures=["GPT2LMHeadModel"])
    (folder / "tokenizer.json").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80")
    (folder / "modeling.py").write_text("import os")
    with pytest.raises(RefusedFolder) as refused:
        gather(folder)
    assert len(refused.value.problems) == 5


@pytest.mark.parametrize(("content", "sentence"), [("{", "cannot be read as JSON"), ("[]", "must be a JSON object")])
def test_a_config_that_is_no_object_is_refused(make_model: MakeModel, content: str, sentence: str) -> None:
    folder = make_model()
    (folder / "config.json").write_text(content)
    with pytest.raises(RefusedFolder, match=sentence):
        gather(folder)


def test_a_tokenizer_without_a_model_is_refused(make_model: MakeModel) -> None:
    folder = make_model()
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(RefusedFolder, match="is no tokenizer"):
        gather(folder)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedFolder, match="cannot be read"):
        gather(tmp_path / "nowhere")


def test_a_changed_file_is_noticed_although_its_size_is_the_same(make_model: MakeModel) -> None:
    folder = make_model()
    candidate = gather(folder)
    require_unchanged(candidate)
    text = (folder / "config.json").read_text()
    (folder / "config.json").write_text(json.dumps(json.loads(text)).replace("B-NAME", "B-GAME"))
    with pytest.raises(SourceChanged, match=r"config\.json changed"):
        require_unchanged(candidate)
