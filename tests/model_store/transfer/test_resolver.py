"""Resolving references: remote first, then local, prefetched and built-in models; polling a tag."""

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
from model_store.transfer.resolver import ModelResolver, TagPoller
from tests.support.stores import MakeModel

UploadText = Callable[[str], Revision]


@pytest.fixture
def resolver(tmp_path: Path, make_model: MakeModel) -> ModelResolver:
    (tmp_path / "builtin").mkdir()
    (tmp_path / "remote").mkdir()
    make_model("builtin/documents")
    return ModelResolver(Catalog(tmp_path / "store", tmp_path / "builtin"), FolderRemote(tmp_path / "remote"))


@pytest.fixture
def upload(resolver: ModelResolver, tmp_path: Path, make_model: MakeModel) -> UploadText:
    def upload(text: str) -> Revision:
        publisher = Store(tmp_path / "publisher")
        folder = make_model(text, {"model.safetensors": text.encode() * 99})
        revision = publish(folder, "cv", publisher, tag=None).revision
        assert resolver.remote is not None
        push(revision, publisher, resolver.remote, tag="stable")
        return revision

    return upload


def disconnect(resolver: ModelResolver) -> None:
    assert isinstance(resolver.remote, FolderRemote)
    resolver.remote.root.rename(resolver.remote.root.parent / "disconnected")


def test_a_model_of_the_remote_store_is_downloaded(resolver: ModelResolver, upload: UploadText) -> None:
    revision = upload("one").revision
    assert resolver.obtain("cv").revision == revision


def test_a_model_on_this_machine_only_is_found_there(resolver: ModelResolver, make_model: MakeModel) -> None:
    kept: list[str] = []
    assert resolver.obtain("documents", on_revision=kept.append).built_in
    local = publish(make_model("mine"), "letters", resolver.catalog.store).revision
    assert resolver.obtain("letters", on_revision=kept.append) == local
    assert kept[1] == local.revision


def test_an_unknown_model_lists_the_references_of_this_machine(resolver: ModelResolver) -> None:
    with pytest.raises(UnknownModel) as unknown:
        resolver.obtain("cv")
    assert unknown.value.available == ("documents@stable",)


def test_an_unreachable_remote_store_falls_back_to_the_last_tag(resolver: ModelResolver, upload: UploadText) -> None:
    revision = upload("one")
    resolver.obtain("cv")
    disconnect(resolver)
    errors: list[StoreError] = []
    assert resolver.obtain("cv", on_fallback=errors.append).revision == revision.revision
    assert [type(error) for error in errors] == [RemoteRefused]
    with pytest.raises(RemoteRefused):
        resolver.obtain("cv")


def test_an_unreachable_remote_store_without_a_copy_is_an_error(resolver: ModelResolver, upload: UploadText) -> None:
    upload("one")
    disconnect(resolver)
    with pytest.raises(RemoteRefused):
        resolver.obtain("cv", on_fallback=lambda _: None)


def test_a_stored_revision_needs_no_remote_store(resolver: ModelResolver, upload: UploadText) -> None:
    revision = resolver.obtain(f"cv@{upload('one').revision}")
    disconnect(resolver)
    assert resolver.obtain(f"cv@{revision.revision}") == revision


def test_a_poll_sees_a_moved_tag_and_downloads_nothing(resolver: ModelResolver, upload: UploadText) -> None:
    one = upload("one")
    poller = TagPoller(resolver, parse_reference("cv"))
    assert poller.poll() == one.revision
    two = upload("two")
    assert poller.poll() == two.revision
    assert not resolver.catalog.store.layout.blobs.exists()
    assert TagPoller(resolver, parse_reference("documents")).poll() == resolver.obtain("documents").revision
    assert TagPoller(resolver, parse_reference(f"cv@{one.revision}")).poll() == one.revision
    with pytest.raises(UnknownModel):
        TagPoller(resolver, parse_reference("nobody")).poll()


@pytest.fixture
def image(resolver: ModelResolver, tmp_path: Path, make_model: MakeModel) -> tuple[ModelResolver, Revision]:
    """The same resolver in an image that holds a whole store with `cv` in it."""
    prefetched = publish(make_model("prefetched"), "cv", Store(tmp_path / "image")).revision
    return replace(resolver, prefetched=(tmp_path / "nothing", tmp_path / "image")), prefetched


@pytest.mark.parametrize("state", ["no remote store", "it has no such model", "disconnected"])
def test_a_prefetched_store_serves_without_the_remote_one(image: tuple[ModelResolver, Revision], state: str) -> None:
    resolver, prefetched = image
    errors: list[StoreError] = []
    if state == "disconnected":
        disconnect(resolver)
    if state == "no remote store":
        resolver = replace(resolver, remote=None)
    found = resolver.obtain("cv", on_fallback=errors.append)
    assert (found.revision, found.tag) == (prefetched.revision, "stable")
    assert found.folder.is_relative_to(resolver.catalog.store_root)
    assert TagPoller(replace(resolver, remote=None), parse_reference("cv")).poll() == prefetched.revision
    assert len(errors) == (state == "disconnected")
    assert resolver.obtain(f"cv@{prefetched.revision}").revision == prefetched.revision
    with pytest.raises(UnknownModel) as unknown:
        replace(resolver, remote=None).obtain("cv@candidate")
    assert unknown.value.available == ("cv@stable", "documents@stable")


def test_the_remote_store_precedes_a_prefetched_one(image: tuple[ModelResolver, Revision], upload: UploadText) -> None:
    resolver, _ = image
    newer = upload("newer")
    assert resolver.obtain("cv").revision == newer.revision
    disconnect(resolver)
    assert resolver.obtain("cv", on_fallback=lambda _: None).revision == newer.revision


def test_a_newer_image_serves_its_newer_model(
    image: tuple[ModelResolver, Revision], tmp_path: Path, make_model: MakeModel
) -> None:
    resolver = replace(image[0], remote=None)
    resolver.obtain("cv")
    weights = {"model.safetensors": b"newer" * 99}
    newer = publish(make_model("newer", weights), "cv", Store(tmp_path / "image")).revision
    assert resolver.obtain("cv").revision == newer.revision
