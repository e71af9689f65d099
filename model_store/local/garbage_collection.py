"""Removing revisions and what nobody needs any more. Whoever calls this holds the `contents` lock exclusively."""

from __future__ import annotations

from collections.abc import Iterable

from model_store import fileio
from model_store.errors import Damaged, InvalidTag
from model_store.local.blobs import blob_sizes
from model_store.local.eviction import Stored
from model_store.local.in_use import is_in_use, last_used_seconds
from model_store.local.store import Store
from model_store.local.tags import read_tag, tag_names
from model_store.reference import hex_digits


def stored_revisions(store: Store, keep: Iterable[str] = ()) -> tuple[Stored, ...]:
    """All revisions that are there; those in `keep`, in use, or tagged are pinned. A damaged one has no blobs."""
    pinned = {*keep, *tagged(store)}
    return tuple(
        Stored(
            revision,
            _blobs(store, revision),
            last_used_seconds(store.layout, revision),
            revision in pinned or is_in_use(store.layout, revision),
        )
        for revision in store.revisions()
    )


def tagged(store: Store, earlier: int = 0) -> set[str]:
    """Every revision to which a tag points, or pointed before its last `earlier` moves."""
    found = set()
    for name, tag in tag_names(store.layout):
        try:
            content = read_tag(store.layout, name, tag)
        except InvalidTag:
            continue
        if content:
            found |= {content.revision, *content.earlier[:earlier]}
    return found


def evict_revision(store: Store, revision: str) -> None:
    """Forget a revision: first its manifest, then its folder. Its blobs go with `drop_orphans`."""
    digest, layout = hex_digits(revision), store.layout
    with fileio.writing(store.root):
        fileio.remove(layout.manifest(digest))
        fileio.remove(layout.model(digest))


def drop_orphans(store: Store, keep: Iterable[str] = (), advance: fileio.Advance = fileio.ignore) -> int:
    """Remove blobs that no manifest names, but not the digests in `keep`; how many bytes that were."""
    needed = {*keep, *(digest for revision in store.revisions() for digest in _blobs(store, revision))}
    freed_bytes = 0
    with fileio.writing(store.root):
        for digest, size_bytes in blob_sizes(store.layout).items():
            if digest not in needed:
                fileio.remove(store.layout.blob(digest))
                fileio.remove(store.layout.blob_receipt(digest))
                freed_bytes += size_bytes
                advance(size_bytes)
    return freed_bytes


def _blobs(store: Store, revision: str) -> dict[str, int]:
    try:
        return {file.sha256: file.size_bytes for file in store.manifest(revision).files}
    except Damaged:
        return {}
