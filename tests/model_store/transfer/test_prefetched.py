"""What is baked into the image is taken from there, as far as it is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.local.store import Store
from model_store.local.verify import verify_store
from model_store.remote.folder import FolderRemote
from model_store.remote.keys import blob_key
from model_store.transfer.pull import sync
from tests.model_store.conftest import SHARDS, MakeModel, Upload


@pytest.mark.parametrize("form", ["model", "folder of models", "store"])
def test_what_is_baked_into_the_image_is_not_fetched(
    store: Store, remote: FolderRemote, upload: Upload, make_model: MakeModel, tmp_path: Path, form: str
) -> None:
    revision, _ = upload()
    make_model("baked", SHARDS)
    place = {"model": tmp_path / "baked", "folder of models": tmp_path, "store": tmp_path / "publisher"}[form]
    for file in revision.manifest.files:
        if file.path.endswith(".safetensors"):
            remote.delete(blob_key(file.sha256))
    synced = sync("documents", store, remote, baked=[tmp_path / "nothing", place])
    assert (synced.fetched_bytes, synced.kept_bytes) == (0, revision.manifest.size_bytes)
    assert verify_store(store).sound


def test_a_baked_file_with_other_bytes_is_fetched(
    store: Store, remote: FolderRemote, upload: Upload, make_model: MakeModel
) -> None:
    upload()
    folder = make_model("baked", {**SHARDS, "model-1.safetensors": b"!" * 20_000})
    synced = sync("documents", store, remote, baked=[folder])
    shard = next(file for file in synced.revision.manifest.files if file.path == "model-1.safetensors")
    assert synced.fetched_bytes == shard.size_bytes
    assert verify_store(store).sound
