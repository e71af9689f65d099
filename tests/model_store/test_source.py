"""Remote first, then local, then built in; and what a poll costs and says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from model_store.catalog import Catalog
from model_store.errors import RemoteRefused, StoreError, UnknownModel
from model_store.publish import publish
from model_store.push import push
from model_store.reference import parse_reference
from model_store.remote_folder import FolderRemote
from model_store.source import Source, TagWatch
from model_store.store import Revision, Store

MakeModel = Callable[..., Path]


@pytest.fixture
def source(tmp_path: Path, make_model: MakeModel) -> Source:
    (tmp_path / "builtin").mkdir()
    (tmp_path / "remote").mkdir()
    make_model("builtin/documents")
    return Source(Catalog(tmp_path / "store", tmp_path / "builtin"), FolderRemote(tmp_path / "remote"))


@pytest.fixture
def upload(source: Source, tmp_path: Path, make_model: MakeModel) -> Callable[[str], Revision]:
    def upload(text: str) -> Revision:
        publisher = Store(tmp_path / "publisher")
        folder = make_model(text, {"model.safetensors": text.encode() * 99})
        revision = publish(folder, "cv", publisher, tag=None).revision
        assert source.remote is not None
        push(revision, publisher, source.remote, tag="stable")
        return revision

    return upload


Upload = Callable[[str], Revision]


def unplug(source: Source) -> None:
    assert isinstance(source.remote, FolderRemote)
    source.remote.root.rename(source.remote.root.parent / "unplugged")


def test_a_model_of_the_remote_store_is_fetched(source: Source, upload: Upload) -> None:
    revision = upload("one").revision
    assert source.obtain("cv").revision == revision


def test_a_model_that_only_this_machine_has_needs_no_remote_store(source: Source, make_model: MakeModel) -> None:
    kept: list[str] = []
    assert source.obtain("documents", keep=kept.append).built_in
    local = publish(make_model("mine"), "letters", source.catalog.store).revision
    assert source.obtain("letters", keep=kept.append) == local
    assert kept[1] == local.revision


def test_a_model_that_nobody_has_is_said(source: Source) -> None:
    with pytest.raises(UnknownModel, match="documents@stable"):
        source.obtain("cv")


def test_without_the_remote_store_what_was_served_last_is_served_and_said(source: Source, upload: Upload) -> None:
    revision = upload("one")
    source.obtain("cv")
    unplug(source)
    doubts: list[StoreError] = []
    assert source.obtain("cv", on_doubt=doubts.append).revision == revision.revision
    assert [type(doubt) for doubt in doubts] == [RemoteRefused]
    with pytest.raises(RemoteRefused):
        source.obtain("cv")


def test_without_the_remote_store_what_was_never_here_is_a_failure(source: Source, upload: Upload) -> None:
    upload("one")
    unplug(source)
    with pytest.raises(RemoteRefused):
        source.obtain("cv", on_doubt=lambda _: None)


def test_a_revision_that_is_here_is_served_without_asking(source: Source, upload: Upload) -> None:
    revision = source.obtain(f"cv@{upload('one').revision}")
    unplug(source)
    assert source.obtain(f"cv@{revision.revision}") == revision


def test_a_watch_sees_a_moved_tag_and_fetches_nothing(source: Source, upload: Upload) -> None:
    one = upload("one")
    watch = TagWatch(source, parse_reference("cv"))
    assert watch.revision() == one.revision
    two = upload("two")
    assert watch.revision() == two.revision
    assert not source.catalog.store.layout.blobs.exists()
    assert TagWatch(source, parse_reference("documents")).revision() == source.obtain("documents").revision
    assert TagWatch(source, parse_reference(f"cv@{one.revision}")).revision() == one.revision
    with pytest.raises(UnknownModel):
        TagWatch(source, parse_reference("nobody")).revision()
