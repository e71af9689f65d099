"""Resolver of references for a service: asks the remote store, else the local one, a prefetched or a built-in one.

A model that the remote store does not have may still be on this machine. If the remote store cannot be reached, the
revision that its tag stood for last is served from the local store, or a prefetched one, and the caller is informed
(`on_fallback`). Only a prefetched folder that is a whole store has references of its own; the files of the others are
copied instead of downloaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from model_store.errors import RemoteRefused, RemoteUnavailable, StoreError, UnknownModel
from model_store.fileio import Progress, no_progress
from model_store.local.catalog import Catalog
from model_store.local.store import Revision, Store
from model_store.reference import Reference, to_reference
from model_store.remote.base import Remote
from model_store.remote.folder import FolderRemote
from model_store.remote.tags import RemoteTag, read_remote_tag
from model_store.transfer.download import DEFAULT_OPTIONS, DownloadOptions
from model_store.transfer.pull import OnRevision, ignore_revision, pull

OnFallback = Callable[[StoreError], object]
"""Function of the remote store's error, called when this machine's copy is used instead."""


@dataclass(frozen=True, slots=True)
class ModelResolver:
    """All models that a service on this machine can serve."""

    catalog: Catalog
    remote: Remote | None = None
    options: DownloadOptions = DEFAULT_OPTIONS
    prefetched: tuple[Path, ...] = ()

    def obtain(
        self,
        reference: Reference | str,
        *,
        progress: Progress = no_progress,
        on_revision: OnRevision = ignore_revision,
        on_fallback: OnFallback | None = None,
    ) -> Revision:
        """Find and verify the revision that a reference stands for now; missing files are downloaded.

        With `on_fallback`, an unreachable remote store is not an error if the reference is on this machine.
        Raises UnknownModel, which lists the references that exist, or any other StoreError.
        """
        asked = to_reference(reference)
        if self.remote is not None:
            try:
                if self._is_remote(asked, self.remote):
                    return self._pull(asked, self.remote, progress, on_revision)
            except (RemoteRefused, RemoteUnavailable) as error:
                if on_fallback is None or self.find(asked) is None:
                    raise
                on_fallback(error)
        return self._from_this_machine(asked, progress, on_revision)

    def find(self, asked: Reference) -> str | None:
        """Find the revision that a reference stands for on this machine, not verified; None if there is none."""
        if found := self.catalog.store.find(asked):
            return found
        prefetched = self._find_prefetched(asked)
        return prefetched[1] if prefetched else self.catalog.find(asked)

    def references(self) -> tuple[str, ...]:
        """List every `name@tag` on this machine, sorted."""
        prefetched = {reference for folder in self.prefetched for reference in Store(folder).references()}
        return tuple(sorted(prefetched.union(self.catalog.references())))

    def _pull(self, asked: Reference, remote: Remote, progress: Progress, on_revision: OnRevision) -> Revision:
        return pull(
            asked,
            self.catalog.store,
            remote,
            progress=progress,
            options=self.options,
            on_revision=on_revision,
            prefetched=self.prefetched,
        ).revision

    def _from_this_machine(self, asked: Reference, progress: Progress, on_revision: OnRevision) -> Revision:
        """Resolve on this machine; a prefetched revision is copied without its tag, which the next image may move."""
        store = self.catalog.store
        prefetched = None if store.find(asked) else self._find_prefetched(asked)
        if prefetched is not None:
            folder, found = prefetched
            target = Reference(asked.name, None, found)
            return replace(self._pull(target, FolderRemote(folder), progress, on_revision), tag=asked.tag)
        if self.find(asked) is None:
            raise UnknownModel(str(asked), self.references())
        revision = self.catalog.resolve(asked)
        on_revision(revision.revision)
        return revision

    def _find_prefetched(self, asked: Reference) -> tuple[Path, str] | None:
        """Find the first prefetched store with the reference, and its revision there."""
        for folder in self.prefetched:
            if found := Store(folder).find(asked):
                return folder, found
        return None

    def _is_remote(self, asked: Reference, remote: Remote) -> bool:
        """True if the remote store has the tag, or if a revision is not on this machine."""
        if asked.tag is not None:
            return read_remote_tag(remote, asked.name, asked.tag) is not None
        return self.find(asked) is None


@dataclass(slots=True)
class TagPoller:
    """Polls one reference; each poll is one small request, or reads one small file."""

    resolver: ModelResolver
    reference: Reference
    _known: RemoteTag | None = field(default=None, init=False)

    def poll(self) -> str:
        """Read the revision that the reference stands for now; nothing is downloaded.

        Raises UnknownModel, InvalidTag, RemoteRefused, RemoteUnavailable.
        """
        asked, remote = self.reference, self.resolver.remote
        if asked.revision is not None:
            return asked.revision
        assert asked.tag is not None
        if remote is not None:
            self._known = read_remote_tag(remote, asked.name, asked.tag, self._known) or self._known
            if self._known is not None:
                return self._known.revision
        found = self.resolver.find(asked)
        if found is None:
            raise UnknownModel(str(asked), self.resolver.references())
        return found
