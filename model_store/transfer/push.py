"""From the local store to a remote one: which blobs are not there (plan) → upload them → manifest → tag.

A publish thus goes through the local store: what is uploaded are sealed blobs, which cannot change meanwhile, and a
publish that broke off is finished by the next one without reading the folder's weights again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from model_store.local import locks
from model_store.local.store import Revision, Store
from model_store.local.tags import moved
from model_store.manifest import File, Manifest, encode_manifest
from model_store.progress import Meter, Progress, ignore
from model_store.reference import hex_digits
from model_store.remote.base import Remote
from model_store.remote.keys import blob_key, manifest_key
from model_store.remote.tags import RemoteTag, change_remote_tag

LOOKS_AT_ONCE = 8
SMALL_AT_ONCE = 4
SMALL_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did. `tag_moved` is false if the remote tag pointed there before."""

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
    progress: Progress = ignore,
    now_seconds: Callable[[], float] = time.time,
) -> Pushed:
    """Upload what the remote store lacks of a revision that is in `store`, and point the remote tag to it.

    Raises RemoteRefused, RemoteUnavailable, StoreBusy, Unreadable; then the tag has not moved, and what was uploaded
    is not uploaded again.
    """
    with locks.held(store.layout, locks.CONTENTS, shared=True):
        missing = plan_uploads(revision.manifest, _sizes(revision.manifest, remote))
        meter = Meter(progress, sum(file.size_bytes for file in missing))
        _upload(missing, store, remote, meter)
    _put_manifest(revision, remote)
    new, tag_moved = change_remote_tag(
        remote, revision.name, tag, lambda old: moved(old, revision.revision, now_seconds=now_seconds())
    )
    kept_bytes = revision.manifest.size_bytes - meter.total_bytes
    return Pushed(new, tag_moved, uploaded_bytes=meter.total_bytes, kept_bytes=kept_bytes)


def _upload(files: Sequence[File], store: Store, remote: Remote, meter: Meter) -> None:
    """Small files several at once, large ones one after another: their parts go several at once."""

    def upload(file: File) -> None:
        remote.upload(blob_key(file.sha256), store.layout.blob(file.sha256), meter.advance)

    with ThreadPoolExecutor(SMALL_AT_ONCE, "upload") as pool:
        list(pool.map(upload, [file for file in files if file.size_bytes <= SMALL_BYTES]))
    for file in files:
        if file.size_bytes > SMALL_BYTES:
            upload(file)


def _put_manifest(revision: Revision, remote: Remote) -> None:
    key, data = manifest_key(hex_digits(revision.revision)), encode_manifest(revision.manifest)
    if not remote.create(key, data) and remote.read(key) != data:
        remote.delete(key)
        remote.create(key, data)


def plan_uploads(manifest: Manifest, there: Mapping[str, int]) -> tuple[File, ...]:
    """The files whose blobs are not `there` (digest → bytes) in their full size, each digest once. Pure."""
    unique = {file.sha256: file for file in manifest.files}.values()
    return tuple(file for file in unique if there.get(file.sha256) != file.size_bytes)


def _sizes(manifest: Manifest, remote: Remote) -> dict[str, int]:
    digests = sorted({file.sha256 for file in manifest.files})
    with ThreadPoolExecutor(LOOKS_AT_ONCE, "look") as pool:
        stats = pool.map(remote.stat, map(blob_key, digests))
        return {digest: stat.size_bytes for digest, stat in zip(digests, stats, strict=True) if stat}
