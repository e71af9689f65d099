"""Where a running service gets its models: the remote store, else the local one, a baked-in one, or what is built in.

A name that the remote store does not have may still be on this machine. When the remote store cannot be asked, what
its tag stood for the last time is served from the local store, or what is baked in; whoever starts the service is told
(`on_doubt`). A baked folder that is a whole store has references of its own; other baked folders only save fetching.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from model_store.errors import RemoteRefused, RemoteUnavailable, StoreError, UnknownModel
from model_store.local.catalog import Catalog
from model_store.local.store import Revision, Store
from model_store.progress import Progress, ignore
from model_store.reference import Reference, parse_reference
from model_store.remote.base import Remote
from model_store.remote.folder import FolderRemote
from model_store.remote.tags import RemoteTag, read_remote_tag
from model_store.transfer.download import PACE, Pace
from model_store.transfer.pull import Keep, keep_nothing, sync

Doubt = Callable[[StoreError], object]
"""Told why the remote store could not be asked, when the local one is used instead."""


@dataclass(frozen=True, slots=True)
class Source:
    """All models that a service on this machine can serve."""

    catalog: Catalog
    remote: Remote | None = None
    pace: Pace = PACE
    baked: tuple[Path, ...] = ()

    def obtain(
        self,
        reference: Reference | str,
        *,
        progress: Progress = ignore,
        keep: Keep = keep_nothing,
        on_doubt: Doubt | None = None,
    ) -> Revision:
        """The whole, verified revision that a reference stands for now; what is missing of it is fetched.

        With `on_doubt`, a remote store that does not answer is no failure as long as the local one has the reference.
        Raises UnknownModel, which lists what is there, or any other StoreError.
        """
        asked = parse_reference(reference) if isinstance(reference, str) else reference
        if self.remote is not None:
            try:
                if self._is_remote(asked, self.remote):
                    store = self.catalog.store
                    return sync(
                        asked, store, self.remote, progress=progress, pace=self.pace, keep=keep, baked=self.baked
                    ).revision
            except (RemoteRefused, RemoteUnavailable) as error:
                if on_doubt is None or self.find(asked) is None:
                    raise
                on_doubt(error)
        return self._at_hand(asked, progress, keep)

    def find(self, asked: Reference) -> str | None:
        """The revision to which a reference leads on this machine, unverified; None if it leads nowhere."""
        if found := self.catalog.store.find(asked):
            return found
        baked = self._in_baked(asked)
        return baked[1] if baked else self.catalog.find(asked)

    def references(self) -> tuple[str, ...]:
        """Every `name@tag` that is on this machine, sorted."""
        baked = {reference for folder in self.baked for reference in Store(folder).references()}
        return tuple(sorted(baked.union(self.catalog.references())))

    def _at_hand(self, asked: Reference, progress: Progress, keep: Keep) -> Revision:
        """The revision from this machine. A baked one is copied; its tag is not, since the next image may move it."""
        store = self.catalog.store
        baked = None if store.find(asked) else self._in_baked(asked)
        if baked is not None:
            folder, found = baked
            pinned = Reference(asked.name, None, found)
            synced = sync(pinned, store, FolderRemote(folder), progress=progress, keep=keep, baked=self.baked)
            return replace(synced.revision, tag=asked.tag)
        if self.find(asked) is None:
            raise UnknownModel(str(asked), self.references())
        revision = self.catalog.resolve(asked)
        keep(revision.revision)
        return revision

    def _in_baked(self, asked: Reference) -> tuple[Path, str] | None:
        """The first baked store that has the reference, and the revision that it stands for there."""
        for folder in self.baked:
            if found := Store(folder).find(asked):
                return folder, found
        return None

    def _is_remote(self, asked: Reference, remote: Remote) -> bool:
        """Whether the remote store is to be asked: it has the tag, or a revision that is not here."""
        if asked.tag is not None:
            return read_remote_tag(remote, asked.name, asked.tag) is not None
        return self.find(asked) is None


@dataclass(slots=True)
class TagWatch:
    """Looks at one reference again and again; each look is one small request, or one small file."""

    source: Source
    reference: Reference
    _known: RemoteTag | None = field(default=None, init=False)

    def revision(self) -> str:
        """The revision that the reference stands for now; nothing is fetched.

        Raises UnknownModel, InvalidTag, RemoteRefused, RemoteUnavailable.
        """
        asked, remote = self.reference, self.source.remote
        if asked.revision is not None:
            return asked.revision
        assert asked.tag is not None
        if remote is not None:
            self._known = read_remote_tag(remote, asked.name, asked.tag, self._known) or self._known
            if self._known is not None:
                return self._known.revision
        found = self.source.find(asked)
        if found is None:
            raise UnknownModel(str(asked), self.source.references())
        return found
