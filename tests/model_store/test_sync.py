"""From a remote store to a verified folder: what travels, what stays, what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from model_store.bucket import blob_key, manifest_key
from model_store.errors import (
    CorruptObject,
    InvalidManifest,
    MissingFile,
    RemoteRefused,
    StoreFull,
    StoreUnwritable,
    UnknownModel,
)
from model_store.fetch import Pace
from model_store.manifest import File, Manifest, revision_of
from model_store.publish import publish
from model_store.push import Pushed, push
from model_store.reference import hex_digits
from model_store.remote_folder import FolderRemote
from model_store.retry import Patience
from model_store.store import Revision, Store
from model_store.sync import sync
from model_store.tags import read_tag
from model_store.verify import verify_store
from tests.model_store.conftest import read_only
from tests.model_store.lies import altered, lie

MakeModel = Callable[..., Path]
ROOT = Path(__file__).parents[2]
SHARDS = {f"model-{number}.safetensors": bytes([number]) * 20_000 for number in range(4)}
BRIEF = Pace(range_bytes=7_000, patience=Patience(limit_seconds=0.5, first_wait_seconds=0.01))


@pytest.fixture
def remote(public_folder: Path) -> FolderRemote:
    return FolderRemote(public_folder / "remote")


@pytest.fixture
def upload(make_model: MakeModel, tmp_path: Path, remote: FolderRemote) -> Callable[..., tuple[Revision, Pushed]]:
    """Publish a model into the remote store, by way of a store that nobody else uses."""

    def upload(name: str = "model", shards: dict[str, bytes] = SHARDS, **config: object) -> tuple[Revision, Pushed]:
        publisher = Store(tmp_path / "publisher")
        revision = publish(make_model(name, shards, **config), "documents", publisher, tag=None).revision
        return revision, push(revision, publisher, remote, tag="stable")

    return upload


Upload = Callable[..., tuple[Revision, Pushed]]


def test_what_was_published_arrives_whole_under_the_same_tag(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, pushed = upload()
    assert pushed.uploaded_bytes == revision.manifest.size_bytes
    seen: list[tuple[int, int]] = []
    synced = sync("documents", store, remote, pace=BRIEF, progress=lambda done, total: seen.append((done, total)))
    assert synced.revision.revision == revision.revision
    assert synced.revision.tag == "stable"
    assert synced.fetched_bytes == revision.manifest.size_bytes
    assert seen[-1] == (synced.fetched_bytes, synced.fetched_bytes)
    assert verify_store(store).sound
    assert store.resolve("documents") == synced.revision
    assert list(store.layout.partial.iterdir()) == []


def test_a_revision_that_shares_all_but_one_shard_costs_one_shard(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    first, _ = upload()
    sync("documents", store, remote)
    second, pushed = upload("second", {**SHARDS, "model-2.safetensors": b"new" * 7_000})
    shard = next(file for file in second.manifest.files if file.path == "model-2.safetensors")
    assert pushed.uploaded_bytes == shard.size_bytes
    synced = sync("documents", store, remote)
    assert synced.fetched_bytes == shard.size_bytes
    assert synced.kept_bytes == second.manifest.size_bytes - shard.size_bytes
    tag = read_tag(store.layout, "documents", "stable")
    assert tag is not None
    assert (tag.revision, tag.earlier) == (second.revision, (first.revision,))
    assert store.resolve(f"documents@{first.revision}").revision == first.revision


def test_a_second_sync_and_a_second_push_move_nothing(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    sync("documents", store, remote)
    synced = sync("documents", store, remote)
    assert (synced.fetched_bytes, synced.kept_bytes) == (0, revision.manifest.size_bytes)
    _, pushed = upload("again")
    assert (pushed.uploaded_bytes, pushed.tag_moved) == (0, False)


def test_a_revision_is_pulled_by_its_digest_without_a_tag(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    synced = sync(f"documents@{revision.revision}", store, remote)
    assert synced.revision.tag is None
    assert read_tag(store.layout, "documents", "stable") is None


def test_the_caller_hears_the_revision_before_anything_is_fetched(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, _ = upload()
    kept: list[tuple[str, bool]] = []
    sync("documents", store, remote, keep=lambda each: kept.append((each, store.root.exists())))
    assert kept == [(revision.revision, False)]


def test_what_the_remote_store_does_not_have_is_said(store: Store, remote: FolderRemote, upload: Upload) -> None:
    with pytest.raises(RemoteRefused, match="is not there"):
        sync("documents", store, remote)
    upload()
    with pytest.raises(UnknownModel, match="invoices@stable in file:"):
        sync("invoices", store, remote)


def test_a_tag_that_points_to_nothing_is_explained(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    remote.delete(manifest_key(hex_digits(revision.revision)))
    with pytest.raises(MissingFile, match=r"manifest .* of documents is not there"):
        sync("documents", store, remote)
    assert not store.layout.blobs.exists()


def test_a_missing_object_is_named(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    file = revision.manifest.files[-1]
    remote.delete(blob_key(file.sha256))
    with pytest.raises(MissingFile, match=rf"{file.sha256} \({file.path}\) is not there"):
        sync("documents", store, remote)


def test_an_object_with_other_bytes_is_quarantined_and_named(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, _ = upload()
    file = next(file for file in revision.manifest.files if file.path == "model-3.safetensors")
    path = remote.root / blob_key(file.sha256)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(CorruptObject) as corrupt:
        sync("documents", store, remote, pace=BRIEF)
    assert corrupt.value.wanted == file.sha256
    assert corrupt.value.found in corrupt.value.detail
    assert file.sha256 in corrupt.value.url
    assert not store.layout.blob(file.sha256).exists()
    assert (store.layout.quarantine / file.sha256).read_bytes() == path.read_bytes()
    assert store.revisions() == ()


def renamed(manifest: Manifest, old: str, new: str) -> tuple[File, ...]:
    return tuple(File(new if file.path == old else file.path, file.size_bytes, file.sha256) for file in manifest.files)


@pytest.mark.parametrize("new", ["modeling.py", "pytorch_model.bin", "folder/config.json", "notes.json"])
def test_a_manifest_with_a_file_that_is_never_taken_is_refused_before_anything_is_fetched(
    store: Store, remote: FolderRemote, upload: Upload, new: str
) -> None:
    revision, _ = upload()
    lie(remote, altered(revision.manifest, files=renamed(revision.manifest, "model-1.safetensors", new)))
    with pytest.raises(InvalidManifest, match=new):
        sync("documents", store, remote)
    assert not store.layout.blobs.exists()


def test_a_manifest_that_lies_about_labels_never_gets_its_name(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, _ = upload()
    lie(remote, altered(revision.manifest, labels=("O", "B-GAME", "I-GAME")))
    with pytest.raises(InvalidManifest, match="does not tell the truth"):
        sync("documents", store, remote)
    assert store.revisions() == ()


def test_a_manifest_that_lies_about_a_size_is_refused(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    first, *others = revision.manifest.files
    lie(remote, altered(revision.manifest, files=(File(first.path, first.size_bytes + 1, first.sha256), *others)))
    with pytest.raises(InvalidManifest, match="Publish the model again"):
        sync("documents", store, remote)


def test_remote_code_asked_for_by_a_pulled_configuration_is_refused(
    store: Store, remote: FolderRemote, upload: Upload, tmp_path: Path
) -> None:
    revision, _ = upload()
    config = next(file for file in revision.manifest.files if file.path == "config.json")
    content = json.loads((remote.root / blob_key(config.sha256)).read_text())
    evil = tmp_path / "evil.json"
    evil.write_text(json.dumps({**content, "auto_map": {"AutoModel": "evil.Model"}}))
    digest = revision_of(evil.read_bytes()).removeprefix("sha256:")
    remote.upload(blob_key(digest), evil, lambda _: None)
    others = tuple(file for file in revision.manifest.files if file.path != "config.json")
    files = (File("config.json", evil.stat().st_size, digest), *others)
    lie(remote, altered(revision.manifest, files=files))
    with pytest.raises(InvalidManifest, match="auto_map"):
        sync("documents", store, remote)
    assert store.revisions() == ()


def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(
    tmp_path: Path, remote: FolderRemote, upload: Upload
) -> None:
    upload()
    store = Store(tmp_path / "store", free_bytes=lambda _: 50_000)
    with pytest.raises(StoreFull, match="needs"):
        sync("documents", store, remote)
    assert not store.layout.blobs.exists()


def test_an_unused_revision_makes_room_and_a_tagged_one_does_not(
    store: Store, tmp_path: Path, remote: FolderRemote, upload: Upload
) -> None:
    first, _ = upload()
    sync("documents", store, remote)
    second, _ = upload("second", {name: data[:-1] for name, data in SHARDS.items()})
    sync("documents", store, remote)
    upload("third", {name: data[:-2] for name, data in SHARDS.items()})
    tight = Store(store.root, free_bytes=lambda _: 16 * 2**20 + 20_000)
    synced = sync("documents", tight, remote)
    assert synced.evicted == (first.revision,)
    assert set(store.revisions()) == {second.revision, synced.revision.revision}
    assert verify_store(store).sound


def test_a_store_that_has_everything_need_not_be_written_to(
    remote: FolderRemote, upload: Upload, public_folder: Path
) -> None:
    revision, _ = upload()
    store = Store(public_folder / "store")
    sync("documents", store, remote)
    with read_only(public_folder):
        synced = sync(f"documents@{revision.revision}", store, remote)
    assert synced.revision.revision == revision.revision


def test_a_store_that_lacks_something_and_cannot_be_written_to_says_so(
    remote: FolderRemote, upload: Upload, public_folder: Path
) -> None:
    upload()
    store = Store(public_folder / "store")
    with read_only(public_folder), pytest.raises(StoreUnwritable, match="cannot be written to"):
        sync("documents", store, remote)


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


def test_a_disk_that_fills_up_on_the_way_is_said_and_the_rest_arrives_later(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, _ = upload()
    code = (
        "import resource, sys; from pathlib import Path; from service.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (15_000, resource.RLIM_INFINITY))\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["models", "pull", "documents", "--store", str(store.root), "--remote", remote.url]
    ended = subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith("gleaner: The disk of the model store")
    assert ended.stderr.count("\n") == 1
    assert store.revisions() == ()
    assert sync("documents", store, remote).revision.revision == revision.revision


def test_a_store_that_may_not_be_written_to_is_one_sentence_of_the_command(
    remote: FolderRemote, upload: Upload, public_folder: Path
) -> None:
    upload()
    (public_folder / "store").mkdir()
    code = (
        "import os, sys, service.cli, service.commands.models_moving\n"
        "if os.geteuid() == 0: os.seteuid(65534)  # Root may write anywhere.\n"
        "sys.exit(service.cli.main(sys.argv[1:]))"
    )
    arguments = ["models", "pull", "documents", "--store", str(public_folder / "store"), "--remote", remote.url]
    with read_only(public_folder):
        if os.getuid() == 0:
            os.seteuid(0)  # The child steps down by itself, once it has read its program.
        ended = subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith("gleaner: The model store")
    assert "cannot be written to: [Errno 13]" in ended.stderr
    assert ended.stderr.count("\n") == 1
