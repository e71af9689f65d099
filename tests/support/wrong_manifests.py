"""Puts wrong contents into remote stores: manifests that do not match their files, tags that point to nothing."""

from __future__ import annotations

from model_store.manifest import Manifest, encode_manifest, revision_of
from model_store.reference import hex_digits, moved
from model_store.remote.base import Remote, manifest_key
from model_store.remote.tags import change_remote_tag

NO_REVISION = "sha256:" + "0" * 64


def put_manifest(remote: Remote, manifest: Manifest) -> str:
    """Store a manifest without comparing it with its files, and point `stable` to it; its revision."""
    data = encode_manifest(manifest)
    remote.create(manifest_key(hex_digits(revision_of(data))), data)
    point(remote, manifest.name, revision_of(data))
    return revision_of(data)


def point(remote: Remote, name: str, revision: str) -> None:
    """Move the tag `stable` to a revision that need not exist."""
    change_remote_tag(remote, name, "stable", lambda old: moved(old, revision, now_seconds=0.0))


def altered(manifest: Manifest, **changes: object) -> Manifest:
    """The manifest with other fields."""
    content = {name: getattr(manifest, name) for name in manifest.__struct_fields__}
    return Manifest(**{**content, **changes})
