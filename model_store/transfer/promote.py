"""Promotion: one tag is moved to the revision of another, so that a candidate becomes what is served, or goes.

The tag that moves keeps its history, so `gleaner models rollback` leads back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from model_store.errors import UnknownModel
from model_store.local.store import Store
from model_store.local.tags import move_tag, read_tag, set_tag
from model_store.reference import Reference
from model_store.remote.base import Remote
from model_store.remote.tags import change_remote_tag, read_remote_tag
from model_store.tag import Tag, moved
from model_store.transfer.remote_manifest import read_manifest


@dataclass(frozen=True, slots=True)
class Promoted:
    """The result: `name@tag` points to `revision`; `changed` is false if it did before."""

    name: str
    tag: str
    revision: str
    changed: bool

    def __str__(self) -> str:
        said = "is now" if self.changed else "was already"
        back = f"; `gleaner models rollback {self.name}@{self.tag}` leads back" if self.changed else ""
        return f"{self.name}@{self.tag} {said} {self.revision}{back}."


def promote(name: str, store: Store, remote: Remote | None, *, source: str, target: str) -> Promoted:
    """Move the tag `target` to the revision of the tag `source`, in the remote store, if there is one, and here.

    Raises UnknownModel if there is no such tag, MissingFile if its revision is not stored, and errors of the stores.
    """
    reference = f"{name}@{source}"
    if remote is None:
        found = read_tag(store.layout, name, source)
        if found is None:
            raise UnknownModel(reference, store.references())
        store.resolve(Reference(name, None, found.revision))
        return Promoted(name, target, found.revision, move_tag(store.layout, name, target, found.revision))
    known = read_remote_tag(remote, name, source)
    if known is None:
        raise UnknownModel(f"{reference} in {remote.url}", ())
    read_manifest(remote, name, known.revision)
    now = time.time()

    def change(old: Tag | None) -> Tag:
        return moved(old, known.revision, now_seconds=now)

    tag, changed = change_remote_tag(remote, name, target, change)
    if store.find(Reference(name, None, known.revision)):
        set_tag(store.layout, name, target, tag.tag)
    return Promoted(name, target, known.revision, changed)
