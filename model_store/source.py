"""Where a running service gets its models: the remote store if there is one, else the local one, else what is built in.

A name that the remote store does not have may still be local or built in. When the remote store cannot be asked, what
its tag stood for the last time is served from the local store; whoever starts the service is told (`on_doubt`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from model_store.catalog import Catalog
from model_store.errors import RemoteRefused, RemoteUnavailable, StoreError, UnknownModel
from model_store.fetch import PACE, Pace
from model_store.meter import Progress, ignore
from model_store.reference import Reference, parse_reference
from model_store.remote import Remote
from model_store.remote_tags import RemoteTag, read_remote_tag
from model_store.store import Revision
from model_store.sync import Keep, keep_nothing, sync

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
                if on_doubt is None or self.catalog.find(asked) is None:
                    raise
                on_doubt(error)
        revision = self.catalog.resolve(asked)
        keep(revision.revision)
        return revision

    def _is_remote(self, asked: Reference, remote: Remote) -> bool:
        """Whether the remote store is to be asked: it has the tag, or a revision that is not here."""
        if asked.tag is not None:
            return read_remote_tag(remote, asked.name, asked.tag) is not None
        return self.catalog.find(asked) is None


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
        found = self.source.catalog.find(asked)
        if found is None:
            raise UnknownModel(str(asked), self.source.catalog.references())
        return found
