"""Prefetched files are copied instead of downloaded, if they have the right digest."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.local.store import Store
from model_store.local.verify import verify_store
from model_store.remote.folder import FolderRemote
from model_store.remote.keys import blob_key
from model_store.transfer.pull import pull
from tests.support.stores import SHARDS, MakeModel, Upload, file_of


@pytest.mark.parametrize("form", ["model", "folder of models", "store"])
def test_prefetched_files_are_not_downloaded(
    store: Store, remote: FolderRemote, upload: Upload, make_model: MakeModel, tmp_path: Path, form: str
) -> None:
    revision, _ = upload()
    make_model("prefetched", SHARDS)
    place = {"model": tmp_path / "prefetched", "folder of models": tmp_path, "store": tmp_path / "publisher"}[form]
    for file in revision.manifest.files:
        if file.path.endswith(".safetensors"):
            remote.delete(blob_key(file.sha256))
    pulled = pull("documents", store, remote, prefetched=[tmp_path / "nothing", place])
    assert (pulled.fetched_bytes, pulled.kept_bytes) == (0, revision.manifest.size_bytes)
    assert verify_store(store).intact


def test_a_prefetched_file_with_another_digest_is_downloaded(
    store: Store, remote: FolderRemote, upload: Upload, make_model: MakeModel
) -> None:
    upload()
    folder = make_model("prefetched", {**SHARDS, "model-1.safetensors": b"!" * 20_000})
    pulled = pull("documents", store, remote, prefetched=[folder])
    assert pulled.fetched_bytes == file_of(pulled.revision, "model-1.safetensors").size_bytes
    assert verify_store(store).intact
