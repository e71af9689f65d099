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
from model_store.reference import DEFAULT_TAG, MAX_HISTORY, Reference, Tag, moved
from model_store.remote.base import Remote
from model_store.remote.listing import list_remote
from model_store.remote.tags import change_remote_tag, read_remote_tag
from model_store.transfer.pull import read_manifest


@dataclass(frozen=True, slots=True)
class PromotionResult:
    """The result: `name@tag` points to `revision`.

    Attributes:
        changed: false if it did before.
        leads_back: it pointed to another revision before, to which a rollback leads.
    """

    name: str
    tag: str
    revision: str
    changed: bool
    leads_back: bool

    def __str__(self) -> str:
        said = "is now" if self.changed else "was already"
        back = f"; `gleaner models rollback {self.name}@{self.tag}` leads back" if self.leads_back else ""
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
        changed = move_tag(store.layout, name, target, found.revision)
        moved_tag = read_tag(store.layout, name, target)
        return PromotionResult(name, target, found.revision, changed, changed and _has_earlier(moved_tag))
    known = read_remote_tag(remote, name, source)
    if known is None:
        raise UnknownModel(f"{reference} in {remote.url}", _references(remote))
    read_manifest(remote, name, known.revision)
    now = time.time()

    def change(old: Tag | None) -> Tag:
        return moved(old, known.revision, now_seconds=now)

    tag, changed = change_remote_tag(remote, name, target, change)
    if store.find(Reference(name, None, known.revision)):
        set_tag(store.layout, name, target, tag.tag)
    return PromotionResult(name, target, known.revision, changed, changed and _has_earlier(tag.tag))


def _has_earlier(tag: Tag | None) -> bool:
    return tag is not None and bool(tag.earlier)


def _references(remote: Remote) -> list[str]:
    """Every `name@tag` in a remote store."""
    return [f"{model.name}@{tag}" for model in list_remote(remote) for tag in model.tags]


@dataclass(frozen=True, slots=True)
class RollbackResult:
    """The result: the tag pointed to `before` and now points to `revision`."""

    reference: str
    revision: str
    before: str

    def __str__(self) -> str:
        if self.revision == self.before:
            return f"{self.reference} was {self.revision} already; nothing was moved."
        return f"{self.reference} is {self.revision} now. It was {self.before}; {_way_to(self.reference, self.before)}."


def _way_to(reference: str, revision: str) -> str:
    name = reference.removesuffix(f"@{DEFAULT_TAG}")
    return f"`gleaner models rollback {name} --to {revision}` returns to that"


def rolled_back(tag: Tag, reference: str, to: str | None, *, now_seconds: float) -> Tag:
    """The tag at its earlier revision, or at the revision `to`. Pure. Raises NoEarlierRevision."""
    if to is not None:
        return tag if to == tag.revision else moved(tag, to, now_seconds=now_seconds)
    if not tag.earlier:
        sentence = f"{reference} is {tag.revision}, and no revision before that is known"
        if tag.rolled_back:
            last = tag.rolled_back[0]
            raise NoEarlierRevision(f"{sentence}. The last rollback left {last}; {_way_to(reference, last)}.")
        raise NoEarlierRevision(f"{sentence}: it is the only one that was published there.")
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
        raise UnknownModel(f"{reference} in {remote.url}", _references(remote))
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
        others = (*found.earlier, *found.rolled_back)
        here = [each for each in others if store.find(Reference(reference.name, None, each))]
        kept = f" Still here: {', '.join(here)}; `--to` takes one." if here else ""
        raise MissingFile(f"{new.revision} is not in the store (any more), so {reference} stays where it is.{kept}")
    store.resolve(Reference(reference.name, None, new.revision))
    if not replace_tag(store.layout, reference.name, tag, found, new):
        raise TagMoved(f"{reference} was moved meanwhile; look again before you roll back.")
    return RollbackResult(str(reference), new.revision, found.revision)
