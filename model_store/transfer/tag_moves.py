"""Tag moves: promotes a tag to the revision of another one, or rolls it back to an earlier or given revision.

A promoted tag keeps its history, so a rollback leads back. Two rollbacks go back two steps: the revision that
each leaves goes from the tag's history to `rolled_back`. It stays in the store; a rollback to its digest returns to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from model_store.errors import MissingFile, NoEarlierRevision, TagMoved, UnknownModel
from model_store.local.store import Store
from model_store.local.tags import change_tag, read_tag, set_tag
from model_store.reference import DEFAULT_TAG, MAX_HISTORY, Reference, Tag, moved
from model_store.remote.base import Remote
from model_store.remote.listing import list_remote
from model_store.remote.tags import change_remote_tag, read_remote_tag
from model_store.transfer.pull import read_manifest


@dataclass(frozen=True, slots=True)
class PromotionResult:
    """The result: `name@tag` points to `revision`.

    Attributes:
        changed: False if it did before.
        leads_back: True if it pointed to another revision before, to which a rollback leads.
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


class _Tags(Protocol):
    """The tags of one store, as a move needs them."""

    def read(self, reference: Reference) -> Tag:
        """Read a tag. Raises UnknownModel."""

    def require(self, name: str, revision: str) -> None:
        """Raise MissingFile unless a revision is stored."""

    def change(self, name: str, tag: str, change: Callable[[Tag | None], Tag]) -> tuple[Tag, bool]:
        """Move a tag to `change(old)`; returns the new tag, and False if it pointed to the same revision before."""


@dataclass(frozen=True, slots=True)
class _LocalTags:
    store: Store

    def read(self, reference: Reference) -> Tag:
        found = read_tag(self.store.layout, reference.name, _tag_of(reference))
        if found is None:
            raise UnknownModel(str(reference), self.store.references())
        return found

    def require(self, name: str, revision: str) -> None:
        self.store.resolve(Reference(name, None, revision))

    def change(self, name: str, tag: str, change: Callable[[Tag | None], Tag]) -> tuple[Tag, bool]:
        return change_tag(self.store.layout, name, tag, change)


@dataclass(frozen=True, slots=True)
class _RemoteTags:
    """The tags of a remote store; the local tag follows where the revision is in the local store."""

    remote: Remote
    store: Store

    def read(self, reference: Reference) -> Tag:
        found = read_remote_tag(self.remote, reference.name, _tag_of(reference))
        if found is None:
            available = [f"{model.name}@{tag}" for model in list_remote(self.remote) for tag in model.tags]
            raise UnknownModel(f"{reference} in {self.remote.url}", available)
        return found.tag

    def require(self, name: str, revision: str) -> None:
        read_manifest(self.remote, name, revision)

    def change(self, name: str, tag: str, change: Callable[[Tag | None], Tag]) -> tuple[Tag, bool]:
        new, changed = change_remote_tag(self.remote, name, tag, change)
        if self.store.find(Reference(name, None, new.revision)):
            set_tag(self.store.layout, name, tag, new.tag)
        return new.tag, changed


def _tags_in(store: Store, remote: Remote | None) -> _Tags:
    return _LocalTags(store) if remote is None else _RemoteTags(remote, store)


def _tag_of(reference: Reference) -> str:
    assert reference.tag is not None
    return reference.tag


def promote(name: str, store: Store, remote: Remote | None, *, source: str, target: str) -> PromotionResult:
    """Move the tag `target` to the revision of the tag `source`, in the remote store, if there is one, and here.

    Raises UnknownModel if there is no such tag, MissingFile if its revision is not stored, and errors of the stores.
    """
    tags = _tags_in(store, remote)
    revision = tags.read(Reference(name, source, None)).revision
    tags.require(name, revision)
    now = time.time()
    tag, changed = tags.change(name, target, lambda old: moved(old, revision, now_seconds=now))
    return PromotionResult(name, target, revision, changed, changed and bool(tag.earlier))


@dataclass(frozen=True, slots=True)
class RollbackResult:
    """The result: the tag pointed to `before`, and now points to `revision`."""

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
    """Move a tag's value to its earlier revision, or to the revision `to`. Pure. Raises NoEarlierRevision."""
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
    """Move a tag back in the remote store, if there is one, and in the local store.

    Raises UnknownModel, NoEarlierRevision, MissingFile if the revision is not stored, TagMoved after a concurrent move
    of the tag, and the errors of the stores.
    """
    tags = _tags_in(store, remote)
    found = tags.read(reference)
    new = rolled_back(found, str(reference), to, now_seconds=time.time())
    if remote is None and store.find(Reference(reference.name, None, new.revision)) is None:
        others = (*found.earlier, *found.rolled_back)
        here = [each for each in others if store.find(Reference(reference.name, None, each))]
        kept = f" Still here: {', '.join(here)}; `--to` takes one." if here else ""
        raise MissingFile(f"{new.revision} is not in the store (any more), so {reference} stays where it is.{kept}")
    tags.require(reference.name, new.revision)

    def change(now: Tag | None) -> Tag:
        if now != found:
            raise TagMoved(f"{reference} was moved meanwhile; look again before you roll back.")
        return new

    tags.change(reference.name, _tag_of(reference), change)
    return RollbackResult(str(reference), new.revision, found.revision)
