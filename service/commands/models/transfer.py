"""`gleaner models publish | pull | rollback`: moves models and tags in the local store and the remote one, if any."""

from __future__ import annotations

import argparse

from model_store.contents.scan import read_golden
from model_store.errors import InvalidReference, InvalidRemote
from model_store.local.store import Store
from model_store.local.tags import set_tag
from model_store.manifest import Provenance
from model_store.reference import check_revision, parse_reference
from model_store.remote.base import Remote
from model_store.transfer.publish import Published, publish
from model_store.transfer.pull import pull
from model_store.transfer.push import push
from model_store.transfer.tag_moves import roll_back
from service.commands.model_stores import remote_of, store_of
from service.commands.progress import progress_bar
from service.settings import read_settings


def run_publish(chosen: argparse.Namespace) -> int:
    """Publish a folder and print the result."""
    store, remote = store_of(chosen), remote_of(chosen)
    provenance = Provenance(base_model=chosen.base_model, data=chosen.data, commit=chosen.commit)
    golden = read_golden(chosen.golden) if chosen.golden else ()
    with progress_bar("publishing") as report:
        published = publish(
            chosen.folder,
            chosen.name,
            store,
            tag=None if remote else chosen.tag,
            provenance=provenance,
            golden=golden,
            progress=report,
        )
    print(_upload(published, store, remote, chosen.tag) if remote else published)
    for left_out in published.left_out:
        print(f"left out: {left_out}")
    return 0


def run_pull(chosen: argparse.Namespace) -> int:
    """Pull a model and print the result."""
    reference, remote = parse_reference(chosen.model), remote_of(chosen)
    if remote is None:
        raise InvalidRemote("There is nowhere to pull from: set GLEANER_MODEL_REMOTE or give --remote.")
    with progress_bar("pulling") as report:
        prefetched = read_settings().model_baked
        pulled = pull(reference, store_of(chosen), remote, progress=report, prefetched=prefetched)
    print(pulled)
    for revision in pulled.evicted:
        print(f"evicted, to make room: {revision}")
    return 0


def run_rollback(chosen: argparse.Namespace) -> int:
    """Move a tag back and say where it was."""
    reference = parse_reference(chosen.name)
    if reference.tag is None:
        raise InvalidReference(f"'{chosen.name}' names a revision; only a tag can be rolled back: name or name@tag.")
    to = check_revision(chosen.to) if chosen.to else None
    print(roll_back(reference, store_of(chosen), remote_of(chosen), to))
    return 0


def _upload(published: Published, store: Store, remote: Remote, tag: str) -> str:
    revision = published.revision
    with progress_bar("uploading") as report:
        pushed = push(revision, store, remote, tag=tag, progress=report)
    set_tag(store.layout, revision.name, tag, pushed.tag.tag)
    name = f"{revision.name}@{tag}"
    if not pushed.tag_moved and not pushed.uploaded_bytes:
        return f"{name} is {revision.revision} in {remote.url} already; nothing was uploaded."
    return (
        f"{name} is {revision.revision} in {remote.url}: {pushed.uploaded_bytes:,} bytes uploaded, "
        f"{pushed.kept_bytes:,} were there."
    )
