"""Push of a revision from the local store to a remote one: uploads missing blobs, the manifest, then moves the tag.

A publish to a remote store thus goes through the local store: its blobs cannot change during the upload, and an
interrupted publish is resumed without reading the folder's weights again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from model_store.fileio import Progress, ProgressCounter, no_progress
from model_store.local import locks
from model_store.local.store import Revision, Store
from model_store.manifest import File, Manifest, encode_manifest
from model_store.reference import hex_digits, moved
from model_store.remote.base import Remote, blob_key, manifest_key
from model_store.remote.tags import RemoteTag, change_remote_tag

CONCURRENT_STATS = 8
CONCURRENT_SMALL_UPLOADS = 4
SMALL_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class PushResult:
    """The result of a push; `tag_moved`: False if the remote tag pointed to the revision before."""

    tag: RemoteTag
    tag_moved: bool
    uploaded_bytes: int
    kept_bytes: int


def push(
    revision: Revision,
    store: Store,
    remote: Remote,
    *,
    tag: str,
    progress: Progress = no_progress,
    now_seconds: Callable[[], float] = time.time,
) -> PushResult:
    """Upload the blobs of a revision in `store` that the remote store lacks, and point the remote tag to it.

    Raises RemoteRefused, RemoteUnavailable, StoreBusy, Unreadable; then the tag has not moved, and uploaded blobs
    are not uploaded again.
    """
    with locks.acquire(store.layout, locks.CONTENTS, shared=True):
        missing = plan_uploads(revision.manifest, _sizes(revision.manifest, remote))
        counter = ProgressCounter(progress, sum(file.size_bytes for file in missing))
        _upload(missing, store, remote, counter)
    _put_manifest(revision, remote)
    new, tag_moved = change_remote_tag(
        remote, revision.name, tag, lambda old: moved(old, revision.revision, now_seconds=now_seconds())
    )
    kept_bytes = revision.manifest.size_bytes - counter.total_bytes
    return PushResult(new, tag_moved, uploaded_bytes=counter.total_bytes, kept_bytes=kept_bytes)


def _upload(files: Sequence[File], store: Store, remote: Remote, counter: ProgressCounter) -> None:
    """Upload small files several at once, then large ones one by one, with several parts at once."""

    def upload(file: File) -> None:
        remote.upload(blob_key(file.sha256), store.layout.blob(file.sha256), counter.add)

    with ThreadPoolExecutor(CONCURRENT_SMALL_UPLOADS, "upload") as pool:
        list(pool.map(upload, [file for file in files if file.size_bytes <= SMALL_BYTES]))
    for file in files:
        if file.size_bytes > SMALL_BYTES:
            upload(file)


def _put_manifest(revision: Revision, remote: Remote) -> None:
    """Create the manifest's object, or replace a damaged one."""
    key, data = manifest_key(hex_digits(revision.revision)), encode_manifest(revision.manifest)
    if not remote.create(key, data) and remote.read(key) != data:
        remote.delete(key)
        remote.create(key, data)


def plan_uploads(manifest: Manifest, stored: Mapping[str, int]) -> tuple[File, ...]:
    """List the files whose blobs the remote store (digest → bytes) lacks in full size, each digest once. Pure."""
    unique = {file.sha256: file for file in manifest.files}.values()
    return tuple(file for file in unique if stored.get(file.sha256) != file.size_bytes)


def _sizes(manifest: Manifest, remote: Remote) -> dict[str, int]:
    digests = sorted({file.sha256 for file in manifest.files})
    with ThreadPoolExecutor(CONCURRENT_STATS, "stat") as pool:
        stats = pool.map(remote.stat, map(blob_key, digests))
        return {digest: stat.size_bytes for digest, stat in zip(digests, stats, strict=True) if stat}
