"""Remote first, then local, then built in; and what a poll costs and says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model_store.errors import RemoteRefused, StoreError, UnknownModel
from model_store.local.catalog import Catalog
from model_store.local.store import Revision, Store
from model_store.reference import parse_reference
from model_store.remote.folder import FolderRemote
from model_store.transfer.publish import publish
from model_store.transfer.push import push
from model_store.transfer.resolver import Source, TagWatch

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


@pytest.fixture
def image(source: Source, tmp_path: Path, make_model: MakeModel) -> tuple[Source, Revision]:
    """The same source in an image that has a whole store baked in, with `cv` in it."""
    baked = publish(make_model("baked"), "cv", Store(tmp_path / "image")).revision
    return replace(source, baked=(tmp_path / "nothing", tmp_path / "image")), baked


@pytest.mark.parametrize("state", ["no remote store", "it has no such model", "unplugged"])
def test_a_baked_store_is_enough_to_start_with(image: tuple[Source, Revision], state: str) -> None:
    source, baked = image
    doubts: list[StoreError] = []
    if state == "unplugged":
        unplug(source)
    if state == "no remote store":
        source = replace(source, remote=None)
    found = source.obtain("cv", on_doubt=doubts.append)
    assert (found.revision, found.tag) == (baked.revision, "stable")
    assert found.folder.is_relative_to(source.catalog.store_root)
    assert TagWatch(replace(source, remote=None), parse_reference("cv")).revision() == baked.revision
    assert len(doubts) == (state == "unplugged")
    assert source.obtain(f"cv@{baked.revision}").revision == baked.revision
    with pytest.raises(UnknownModel, match="cv@stable, documents@stable"):
        replace(source, remote=None).obtain("cv@candidate")


def test_what_the_remote_store_has_goes_before_what_is_baked_in(image: tuple[Source, Revision], upload: Upload) -> None:
    source, _ = image
    newer = upload("newer")
    assert source.obtain("cv").revision == newer.revision
    unplug(source)
    assert source.obtain("cv", on_doubt=lambda _: None).revision == newer.revision


def test_a_newer_image_brings_its_newer_model(
    image: tuple[Source, Revision], tmp_path: Path, make_model: MakeModel
) -> None:
    source = replace(image[0], remote=None)
    source.obtain("cv")
    weights = {"model.safetensors": b"newer" * 99}
    newer = publish(make_model("newer", weights), "cv", Store(tmp_path / "image")).revision
    assert source.obtain("cv").revision == newer.revision
