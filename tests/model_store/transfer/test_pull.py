"""Pulls: what is planned, copied from prefetched folders, verified, and done on the disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from model_store.errors import RemoteRefused, StoreUnwritable, UnknownModel
from model_store.local.garbage_collection import StoredRevision
from model_store.local.store import Store
from model_store.local.tags import read_tag
from model_store.local.verify import verify_store
from model_store.manifest import File, Manifest
from model_store.remote.folder import FolderRemote
from model_store.transfer.pull import Disk, PullPlan, plan_pull, pull
from tests.support.stores import QUICK, SHARDS, Upload, file_of, read_only


def test_a_published_model_arrives_intact_under_the_same_tag(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, pushed = upload()
    assert pushed.uploaded_bytes == revision.manifest.size_bytes
    seen: list[tuple[int, int]] = []
    pulled = pull("documents", store, remote, options=QUICK, progress=lambda done, total: seen.append((done, total)))
    assert pulled.revision.revision == revision.revision
    assert pulled.revision.tag == "stable"
    assert pulled.fetched_bytes == revision.manifest.size_bytes
    assert seen[-1] == (pulled.fetched_bytes, pulled.fetched_bytes)
    assert verify_store(store).intact
    assert store.resolve("documents") == pulled.revision
    assert list(store.layout.partial.iterdir()) == []


def test_a_revision_with_one_new_shard_transfers_one_shard(store: Store, remote: FolderRemote, upload: Upload) -> None:
    first, _ = upload()
    pull("documents", store, remote)
    second, pushed = upload("second", {**SHARDS, "model-2.safetensors": b"new" * 7_000})
    shard = file_of(second, "model-2.safetensors")
    assert pushed.uploaded_bytes == shard.size_bytes
    pulled = pull("documents", store, remote)
    assert pulled.fetched_bytes == shard.size_bytes
    assert pulled.kept_bytes == second.manifest.size_bytes - shard.size_bytes
    tag = read_tag(store.layout, "documents", "stable")
    assert tag is not None
    assert (tag.revision, tag.earlier) == (second.revision, (first.revision,))
    assert store.resolve(f"documents@{first.revision}").revision == first.revision


def test_a_second_pull_and_a_second_push_move_nothing(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    pull("documents", store, remote)
    pulled = pull("documents", store, remote)
    assert (pulled.fetched_bytes, pulled.kept_bytes) == (0, revision.manifest.size_bytes)
    _, pushed = upload("again")
    assert (pushed.uploaded_bytes, pushed.tag_moved) == (0, False)


def test_a_revision_is_pulled_by_its_digest_without_a_tag(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    pulled = pull(f"documents@{revision.revision}", store, remote)
    assert pulled.revision.tag is None
    assert read_tag(store.layout, "documents", "stable") is None


def test_the_revision_is_reported_before_anything_is_downloaded(
    store: Store, remote: FolderRemote, upload: Upload
) -> None:
    revision, _ = upload()
    seen: list[tuple[str, bool]] = []
    pull("documents", store, remote, on_revision=lambda each: seen.append((each, store.root.exists())))
    assert seen == [(revision.revision, False)]


def test_a_model_or_store_that_does_not_exist_is_an_error(store: Store, remote: FolderRemote, upload: Upload) -> None:
    with pytest.raises(RemoteRefused):
        pull("documents", store, remote)
    upload()
    with pytest.raises(UnknownModel) as unknown:
        pull("invoices", store, remote)
    assert unknown.value.reference == f"invoices@stable in {remote.url}"


def digest(letter: str) -> str:
    return letter * 64


def manifest(**sizes: int) -> Manifest:
    files = tuple(File(f"{name}.safetensors", size, digest(name)) for name, size in sizes.items())
    return Manifest(name="m", files=files, labels=("O",), architecture="A", model_type="bert", max_tokens=1)


def stored(revision: str, used: float, *, pinned: bool = False, **sizes: int) -> StoredRevision:
    return StoredRevision(revision, {digest(name): size for name, size in sizes.items()}, used, pinned)


def plan(
    wanted: Manifest, *others: StoredRevision, free: int, begun: dict[str, int] | None = None, **present: int
) -> PullPlan:
    here = {digest(name): size for name, size in present.items()}
    return plan_pull(wanted, Disk(here, begun or {}, free_bytes=free, spare_bytes=10), others)


def test_blobs_of_full_size_are_kept_and_others_fetched() -> None:
    found = plan(manifest(a=100, b=50, c=7), free=1000, a=100, b=49)
    assert [file.sha256[0] for file in found.keep] == ["a"]
    assert [file.sha256[0] for file in found.fetch] == ["b", "c"]
    assert (found.needed_bytes, found.evict, found.short_bytes) == (57, (), 0)


def test_the_least_recently_used_are_evicted_as_needed() -> None:
    others = (stored("new", 3.0, x=100), stored("old", 1.0, y=60), stored("middle", 2.0, z=60))
    assert plan(manifest(a=100), *others, free=50).evict == ("old",)
    assert plan(manifest(a=100), *others, free=0).evict == ("old", "middle")


def test_pinned_revisions_and_shared_blobs_free_nothing() -> None:
    others = (
        stored("tagged", 1.0, pinned=True, x=500, s=90),
        stored("old", 2.0, s=90, y=30),
        stored("older", 0.0, a=9),
    )
    found = plan(manifest(a=100), *others, free=80)
    assert found.evict == ("older", "old")
    assert found.short_bytes == 0


def test_a_disk_that_stays_too_small_evicts_nothing() -> None:
    found = plan(manifest(a=100), stored("old", 1.0, y=30), free=50)
    assert (found.evict, found.short_bytes) == ((), 30)


def test_a_blob_that_two_files_share_is_fetched_once() -> None:
    twice = Manifest(
        name="m",
        files=(File("a.safetensors", 5, digest("a")), File("b.safetensors", 5, digest("a"))),
        labels=("O",),
        architecture="A",
        model_type="bert",
        max_tokens=1,
    )
    assert len(plan(twice, free=100).fetch) == 1


ROOT = Path(__file__).parents[3]
UNMEASURED = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
"""For processes that cannot write what `make coverage` wants of them either."""


def test_an_untagged_revision_is_evicted_and_a_tagged_one_is_not(
    store: Store, tmp_path: Path, remote: FolderRemote, upload: Upload
) -> None:
    first, _ = upload()
    pull("documents", store, remote)
    second, _ = upload("second", {name: data[:-1] for name, data in SHARDS.items()})
    pull("documents", store, remote)
    upload("third", {name: data[:-2] for name, data in SHARDS.items()})
    tight = Store(store.root, free_bytes=lambda _: 16 * 2**20 + 20_000)
    pulled = pull("documents", tight, remote)
    assert pulled.evicted == (first.revision,)
    assert set(store.revisions()) == {second.revision, pulled.revision.revision}
    assert verify_store(store).intact


def test_a_complete_revision_is_pulled_into_a_read_only_store(
    remote: FolderRemote, upload: Upload, public_folder: Path
) -> None:
    revision, _ = upload()
    store = Store(public_folder / "store")
    pull("documents", store, remote)
    with read_only(public_folder):
        pulled = pull(f"documents@{revision.revision}", store, remote)
    assert pulled.revision.revision == revision.revision


def test_a_read_only_store_without_the_revision_is_unwritable(
    remote: FolderRemote, upload: Upload, public_folder: Path
) -> None:
    upload()
    store = Store(public_folder / "store")
    with read_only(public_folder), pytest.raises(StoreUnwritable):
        pull("documents", store, remote)


def test_a_disk_that_fills_up_is_one_line_and_exit_code_1(store: Store, remote: FolderRemote, upload: Upload) -> None:
    revision, _ = upload()
    code = (
        "import resource, sys; from pathlib import Path; from service.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (15_000, resource.RLIM_INFINITY))\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["models", "pull", "documents", "--store", str(store.root), "--remote", remote.url]
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, env=UNMEASURED, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("gleaner: The disk of the model store")
    assert ended.stderr.count("\n") == 1
    assert store.revisions() == ()
    assert pull("documents", store, remote).revision.revision == revision.revision
