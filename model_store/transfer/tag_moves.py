"""Moves of tags: a promotion to the revision of another tag, and a rollback to an earlier or a given revision.

A tag that is promoted keeps its history, so a rollback leads back. Two rollbacks go back two steps: the revision that
is left goes from the tag's history to `rolled_back`. It stays in the store; a rollback to its digest returns to it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from model_store.errors import MissingFile, NoEarlierRevision, TagMoved, UnknownModel
from model_store.local.store import Store
from model_store.local.tags import move_tag, read_tag, replace_tag, set_tag
from model_store.reference import MAX_HISTORY, Reference, Tag, moved
from model_store.remote.base import Remote
from model_store.remote.tags import change_remote_tag, read_remote_tag
from model_store.transfer.pull import read_manifest


@dataclass(frozen=True, slots=True)
class PromotionResult:
    """The result: `name@tag` points to `revision`; `changed` is false if it did before."""

    name: str
    tag: str
    revision: str
    changed: bool

    def __str__(self) -> str:
        said = "is now" if self.changed else "was already"
        back = f"; `gleaner models rollback {self.name}@{self.tag}` leads back" if self.changed else ""
        return f"{self.name}@{self.tag} {said} {self.revision}{back}."


def promote(name: str, store: Store, remote: Remote | None, *, source: str, target: str) -> PromotionResult:
    """Move the tag `target` to the revision of the tag `source`, in the remote store, if there is one, and here.

    Raises UnknownModel if there is no such tag, MissingFile if its revision is not stored, and errors of the stores.
    """
    reference = f"{name}@{source}"
    if remote is None:
        found = read_tag(store.layout, name, source)
        if found is None:
            raise UnknownModel(reference, store.references())
        store.resolve(Reference(name, None, found.revision))
        return PromotionResult(name, target, found.revision, move_tag(store.layout, name, target, found.revision))
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
    return PromotionResult(name, target, known.revision, changed)


@dataclass(frozen=True, slots=True)
class RollbackResult:
    """The result: the tag pointed to `before` and now points to `revision`."""

    reference: str
    revision: str
    before: str

    def __str__(self) -> str:
        name = self.reference.partition("@")[0]
        return (
            f"{self.reference} is {self.revision} again. It was {self.before}; "
            f"`gleaner models rollback {name} --to {self.before}` returns to that."
        )


def rolled_back(tag: Tag, reference: str, to: str | None, *, now_seconds: float) -> Tag:
    """The tag at its earlier revision, or at the revision `to`. Pure. Raises NoEarlierRevision."""
    if to is not None:
        return moved(tag, to, now_seconds=now_seconds)
    if not tag.earlier:
        raise NoEarlierRevision(f"{reference} never pointed anywhere but to {tag.revision}; there is no way back.")
    left = (tag.revision, *tag.rolled_back)[:MAX_HISTORY]
    return Tag(tag.earlier[0], now_seconds, tag.earlier[1:], left)


def roll_back(reference: Reference, store: Store, remote: Remote | None, to: str | None = None) -> RollbackResult:
    """Move the tag back in the remote store, if there is one, and in the local store.

    Raises UnknownModel, NoEarlierRevision, MissingFile if the revision is not stored, TagMoved after a concurrent move
    of the tag, and the errors of the stores.
    """
    assert reference.tag is not None
    if remote is None:
        return _locally(reference, reference.tag, store, to)
    found = read_remote_tag(remote, reference.name, reference.tag)
    if found is None:
        raise UnknownModel(f"{reference} in {remote.url}", ())
    new = rolled_back(found.tag, str(reference), to, now_seconds=time.time())
    read_manifest(remote, reference.name, new.revision)

    def change(now: Tag | None) -> Tag:
        if now != found.tag:
            raise TagMoved(f"{reference} was moved meanwhile; look again before you roll back.")
        return new

    change_remote_tag(remote, reference.name, reference.tag, change)
    if store.find(Reference(reference.name, None, new.revision)):
        set_tag(store.layout, reference.name, reference.tag, new)
    return RollbackResult(str(reference), new.revision, found.revision)


def _locally(reference: Reference, tag: str, store: Store, to: str | None) -> RollbackResult:
    found = read_tag(store.layout, reference.name, tag)
    if found is None:
        raise UnknownModel(str(reference), store.references())
    new = rolled_back(found, str(reference), to, now_seconds=time.time())
    if store.find(Reference(reference.name, None, new.revision)) is None:
        raise MissingFile(f"{new.revision} is no longer in the store, so {reference} stays where it is.")
    store.resolve(Reference(reference.name, None, new.revision))
    if not replace_tag(store.layout, reference.name, tag, found, new):
        raise TagMoved(f"{reference} was moved meanwhile; look again before you roll back.")
    return RollbackResult(str(reference), new.revision, found.revision)
