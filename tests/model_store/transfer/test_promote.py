"""A tag moves to the revision of another: a candidate is promoted, or withdrawn."""

from __future__ import annotations

import pytest

from model_store.errors import UnknownModel
from model_store.local.store import Store
from model_store.local.tags import read_tag
from model_store.reference import Reference
from model_store.remote.folder import FolderRemote
from model_store.remote.tags import read_remote_tag
from model_store.transfer.promote import promote
from model_store.transfer.publish import publish
from model_store.transfer.pull import pull
from model_store.transfer.push import push
from model_store.transfer.rollback import roll_back
from tests.support.stores import SHARDS, MakeModel

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
