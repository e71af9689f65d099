"""Rollback of tags, in the local and in the remote store."""

from __future__ import annotations

import pytest

from model_store.errors import MissingFile, NothingEarlier, TagMoved, UnknownModel
from model_store.local.store import Store
from model_store.local.tags import read_tag
from model_store.reference import Reference, hex_digits
from model_store.remote.folder import FolderRemote
from model_store.remote.keys import manifest_key
from model_store.remote.tags import read_remote_tag
from model_store.tag import Tag
from model_store.transfer.publish import publish
from model_store.transfer.pull import pull
from model_store.transfer.rollback import roll_back, rolled_back
from tests.support.stores import SHARDS, MakeModel, Upload

ONE, TWO, THREE = (f"sha256:{number:064x}" for number in (1, 2, 3))
TAGGED = Reference("documents", "stable", None)


def test_two_rollbacks_go_back_two_steps() -> None:
    once = rolled_back(Tag(THREE, 3.0, (TWO, ONE)), "m@stable", None, now_seconds=4.0)
    assert once == Tag(TWO, 4.0, (ONE,))
    assert rolled_back(once, "m@stable", None, now_seconds=5.0) == Tag(ONE, 5.0)


def test_a_rollback_to_a_revision_keeps_the_one_that_is_left() -> None:
    tag = rolled_back(Tag(TWO, 2.0, (ONE,)), "m@stable", THREE, now_seconds=3.0)
    assert tag == Tag(THREE, 3.0, (TWO, ONE))


def test_a_tag_without_history_cannot_be_rolled_back() -> None:
    with pytest.raises(NothingEarlier):
        rolled_back(Tag(ONE, 1.0), "m@stable", None, now_seconds=2.0)


def test_a_local_rollback_serves_the_earlier_revision(make_model: MakeModel, store: Store) -> None:
    one = publish(make_model("one"), "documents", store).revision.revision
    two = publish(make_model("two", {"model.safetensors": b"two"}), "documents", store).revision.revision
    done = roll_back(TAGGED, store, None)
    assert (done.revision, done.before) == (one, two)
    assert store.resolve("documents").revision == one


def test_a_local_rollback_to_an_evicted_revision_is_an_error(make_model: MakeModel, store: Store) -> None:
    one = publish(make_model("one"), "documents", store).revision.revision
    two = publish(make_model("two", {"model.safetensors": b"two"}), "documents", store).revision.revision
    store.layout.manifest(hex_digits(one)).unlink()
    with pytest.raises(MissingFile):
        roll_back(TAGGED, store, None)
    assert store.find(TAGGED) == two


def test_a_rollback_of_an_unknown_tag_is_an_error(store: Store, remote: FolderRemote, upload: Upload) -> None:
    upload()
    for where in (None, remote):
        with pytest.raises(UnknownModel):
            roll_back(Reference("documents", "candidate", None), store, where)


def test_a_remote_rollback_moves_both_tags(store: Store, remote: FolderRemote, upload: Upload) -> None:
    one, _ = upload("one")
    pull("documents", store, remote)
    upload("two", {**SHARDS, "model-1.safetensors": b"two"})
    pull("documents", store, remote)
    roll_back(TAGGED, store, remote)
    found, local = read_remote_tag(remote, "documents", "stable"), read_tag(store.layout, "documents", "stable")
    assert found is not None
    assert (found.number, found.revision, found.tag) == (3, one.revision, local)


def test_a_remote_rollback_needs_the_manifest(store: Store, remote: FolderRemote, upload: Upload) -> None:
    one, _ = upload("one")
    two, _ = upload("two", {**SHARDS, "model-1.safetensors": b"two"})
    remote.delete(manifest_key(hex_digits(one.revision)))
    with pytest.raises(MissingFile):
        roll_back(TAGGED, store, remote)
    found = read_remote_tag(remote, "documents", "stable")
    assert found is not None
    assert found.revision == two.revision


def test_a_concurrent_move_of_the_remote_tag_is_not_undone(store: Store, remote: FolderRemote, upload: Upload) -> None:
    upload("one")
    upload("two", {**SHARDS, "model-1.safetensors": b"two"})

    class Moving(FolderRemote):
        """Another publisher moves the tag between the rollback's reading and writing."""

        def read(self, key: str) -> bytes | None:
            data = super().read(key)
            if key.startswith("manifests/") and not moved:
                moved.append(upload("three", {**SHARDS, "model-1.safetensors": b"three"})[0].revision)
            return data

    moved: list[str] = []
    with pytest.raises(TagMoved):
        roll_back(TAGGED, store, Moving(remote.root))
    found = read_remote_tag(remote, "documents", "stable")
    assert found is not None
    assert [found.revision] == moved
