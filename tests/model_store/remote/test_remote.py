"""Remote stores: keys, the URL that opens one, and the list of all models."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.errors import InvalidRemote
from model_store.reference import hex_digits, moved
from model_store.remote.base import manifest_in, manifest_key, tag_in, tag_key
from model_store.remote.folder import FolderRemote
from model_store.remote.listing import list_remote
from model_store.remote.open import open_remote
from model_store.remote.s3 import S3Remote
from model_store.remote.tags import change_remote_tag
from tests.support.stores import SHARDS, Upload

DIGEST = "a" * 64


def test_keys_are_recognised_by_what_made_them() -> None:
    assert manifest_in(manifest_key(DIGEST)) == DIGEST
    assert tag_in(tag_key("cv", "stable", 12)) == ("cv", "stable", 12)


@pytest.mark.parametrize(
    "key",
    [
        "blobs/sha256/" + DIGEST,
        "manifests/sha256/short.json",
        "tags/cv/stable/1",
        "tags/cv/stable/0000000001/more",
        "claims/cv/stable/0000000001/0123456789abcdef",
        "",
    ],
)
def test_other_keys_are_neither_manifests_nor_tags(key: str) -> None:
    assert manifest_in(key) is None
    assert tag_in(key) is None


def test_a_file_url_opens_a_folder() -> None:
    assert open_remote("file:///srv/my%20models") == FolderRemote(Path("/srv/my models"))


@pytest.mark.parametrize(
    ("url", "bucket", "prefix", "addressing"),
    [
        ("s3://models", "models", "", None),
        ("s3://models/a/b/", "models", "a/b", None),
        ("s3://models/a?addressing=path", "models", "a", "path"),
    ],
)
def test_an_s3_url_opens_a_bucket(url: str, bucket: str, prefix: str, addressing: str | None) -> None:
    assert open_remote(url) == S3Remote(bucket, prefix, addressing)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "models",
        "/srv/models",
        "file://host/models",
        "file:///models?x=1",
        "s3://",
        "ftp://models",
        "s3://models?style=path",
        "s3://models?addressing=other",
        "s3://models?addressing=path&x=1",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(InvalidRemote):
        open_remote(url)


def test_every_revision_is_listed_with_its_tags(remote: FolderRemote, upload: Upload) -> None:
    first, _ = upload()
    second, _ = upload("second", {**SHARDS, "model-2.safetensors": b"new" * 7_000})
    change_remote_tag(remote, "documents", "next", lambda old: moved(old, second.revision, now_seconds=0.0))
    listed = {model.revision: model for model in list_remote(remote)}
    assert {revision: model.tags for revision, model in listed.items()} == {
        first.revision: (),
        second.revision: ("next", "stable"),
    }
    assert listed[first.revision].size_bytes == first.manifest.size_bytes
    assert 0 < listed[first.revision].shared_bytes < first.manifest.size_bytes


def test_damaged_and_missing_manifests_and_tags_are_listed(remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    (remote.root / manifest_key(hex_digits(revision.revision))).write_bytes(b"{}")
    missing = "sha256:" + "1" * 64
    change_remote_tag(remote, "cv", "stable", lambda old: moved(old, missing, now_seconds=0.0))
    remote.create(tag_key("torn", "stable", 1), b"{")
    listed = {model.name: model for model in list_remote(remote)}
    assert all(model.problem for model in listed.values())
    assert {name: (model.revision, model.tags) for name, model in listed.items()} == {
        "documents": (revision.revision, ("stable",)),
        "cv": (missing, ("stable",)),
        "torn": ("", ("stable",)),
    }
