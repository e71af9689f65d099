"""Promotions and rollbacks of tags, local and remote."""

from __future__ import annotations

import pytest

from model_store.errors import MissingFile, NoEarlierRevision, TagMoved, UnknownModel
from model_store.local.store import Store
from model_store.local.tags import read_tag
from model_store.reference import Reference, Tag, hex_digits
from model_store.remote.base import manifest_key
from model_store.remote.folder import FolderRemote
from model_store.remote.tags import read_remote_tag
from model_store.transfer.publish import publish
from model_store.transfer.pull import pull
from model_store.transfer.push import push
from model_store.transfer.tag_moves import promote, roll_back, rolled_back
from tests.support.stores import SHARDS, MakeModel, Upload

OTHER = {**SHARDS, "model-1.safetensors": b"two"}


def test_a_candidate_becomes_what_is_served_and_a_rollback_leads_back(make_model: MakeModel, store: Store) -> None:
    one = publish(make_model("one"), "documents", store).revision.revision
    two = publish(make_model("two", OTHER), "documents", store, tag="candidate").revision.revision
    done = promote("documents", store, None, source="candidate", target="stable")
    assert (done.revision, done.changed) == (two, True)
    assert store.resolve("documents").revision == two
    assert "rollback documents@stable" in str(done)
    assert roll_back(Reference("documents", "stable", None), store, None).revision == one


def test_a_withdrawn_candidate_is_what_is_served(make_model: MakeModel, store: Store) -> None:
    one = publish(make_model("one"), "documents", store).revision.revision
    publish(make_model("two", OTHER), "documents", store, tag="candidate")
    promote("documents", store, None, source="stable", target="candidate")
    assert store.resolve("documents@candidate").revision == one
    again = promote("documents", store, None, source="stable", target="candidate")
    assert not again.changed
    assert "was already" in str(again)


def test_the_remote_tag_moves_and_the_local_one_where_the_revision_is(
    make_model: MakeModel, store: Store, remote: FolderRemote, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = Store(tmp_path_factory.mktemp("elsewhere"))
    for name, shards, tag in (("one", SHARDS, "stable"), ("two", OTHER, "candidate")):
        revision = publish(make_model(name, shards), "documents", elsewhere, tag=None).revision
        push(revision, elsewhere, remote, tag=tag)
    pull("documents@candidate", store, remote)
    done = promote("documents", store, remote, source="candidate", target="stable")
    found, local = read_remote_tag(remote, "documents", "stable"), read_tag(store.layout, "documents", "stable")
    assert found is not None
    assert (found.number, found.revision, found.tag) == (2, done.revision, local)


def test_a_tag_that_is_not_there_is_an_error(make_model: MakeModel, store: Store, remote: FolderRemote) -> None:
    push(publish(make_model("one"), "documents", store).revision, store, remote, tag="stable")
    for where in (None, remote):
        with pytest.raises(UnknownModel, match="candidate"):
            promote("documents", store, where, source="candidate", target="stable")


ONE, TWO, THREE = (f"sha256:{number:064x}" for number in (1, 2, 3))
TAGGED = Reference("documents", "stable", None)


def test_a_rollback_to_a_revision_keeps_the_one_that_is_left() -> None:
    tag = rolled_back(Tag(TWO, 2.0, (ONE,)), "m@stable", THREE, now_seconds=3.0)
    assert tag == Tag(THREE, 3.0, (TWO, ONE))


def test_what_a_rollback_says_is_true_in_every_state(make_model: MakeModel, store: Store) -> None:
    """After two rollbacks it said that the tag never pointed anywhere else; of other tags it named `stable`'s way."""
    reference = Reference("documents", "candidate", None)
    revisions = []
    for name in ("one", "two", "three"):
        folder = make_model(name, {"model.safetensors": name.encode()})
        revisions.append(publish(folder, "documents", store, tag="candidate").revision.revision)
        if name == "one":
            with pytest.raises(NoEarlierRevision, match="the only one"):
                roll_back(reference, store, None)
    one, two, three = revisions
    assert f"rollback documents@candidate --to {three}" in str(roll_back(reference, store, None))
    assert roll_back(reference, store, None).revision == one
    with pytest.raises(NoEarlierRevision, match=f"left {two}.*--to {two}"):
        roll_back(reference, store, None)
    assert "nothing was moved" in str(roll_back(reference, store, None, one))
    assert roll_back(reference, store, None, two).before == one
    store.layout.manifest(hex_digits(one)).unlink()
    with pytest.raises(MissingFile, match="not in the store"):
        roll_back(reference, store, None)
    roll_back(reference, store, None, three)
    store.layout.manifest(hex_digits(two)).unlink()
    with pytest.raises(MissingFile, match="stays where it is"):
        roll_back(reference, store, None)


def test_what_is_left_of_the_history_is_named(make_model: MakeModel, store: Store) -> None:
    one, two = (
        publish(make_model(name, {"model.safetensors": name.encode()}), "documents", store).revision.revision
        for name in ("one", "two")
    )
    publish(make_model("three", {"model.safetensors": b"three"}), "documents", store)
    store.layout.manifest(hex_digits(two)).unlink()
    with pytest.raises(MissingFile, match=f"Still here: {one}"):
        roll_back(TAGGED, store, None)


def test_a_first_promotion_does_not_promise_a_way_back(make_model: MakeModel, store: Store) -> None:
    publish(make_model("one"), "documents", store, tag="candidate")
    assert "leads back" not in str(promote("documents", store, None, source="candidate", target="stable"))


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
