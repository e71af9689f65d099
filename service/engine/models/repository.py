"""Model repository: resolves references to whole, verified folders, and keeps those in use from eviction.

The engine's link to the model store. Knows no weights and no device.
"""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager

from model_store.errors import StoreError
from model_store.fileio import Progress, no_progress
from model_store.local.catalog import Catalog
from model_store.local.locks import in_use
from model_store.local.store import Revision
from model_store.local.tags import read_tag
from model_store.reference import parse_reference
from model_store.remote.open import open_remote
from model_store.transfer.resolver import ModelResolver, TagPoller
from service.settings import Settings

log = logging.getLogger(__name__)


class ModelRepository:
    """The repository of one engine; used by one thread at a time, except for `release`."""

    def __init__(self, settings: Settings) -> None:
        remote = open_remote(settings.model_remote) if settings.model_remote else None
        self._catalog = Catalog(settings.model_store)
        self._resolver = ModelResolver(self._catalog, remote, prefetched=settings.model_baked)
        self._pollers: dict[str, TagPoller] = {}
        self._kept: dict[str, AbstractContextManager[None]] = {}

    def obtain(self, reference: str, progress: Progress = no_progress) -> Revision:
        """The revision that a reference stands for now; what is missing of it is fetched. Raises StoreError."""
        return self._resolver.obtain(reference, progress=progress, on_revision=self._keep, on_fallback=_warn)

    def at_hand(self, reference: str) -> Revision | None:
        """The newest whole revision that this machine has of those that a tag stood for; None if there is none."""
        if not is_tag(reference):
            return None
        for digest in (self._resolver.find(parse_reference(reference)), *self.earlier(reference)):
            try:
                if digest is not None:
                    return self.obtain(by_digest(reference, digest))
            except StoreError as error:
                log.warning("an earlier revision is not there", extra={"revision": digest, "reason": error.detail})
        return None

    def points_to(self, reference: str) -> str:
        """The digest that a reference stands for now; nothing is fetched. Raises StoreError."""
        poller = self._pollers.get(reference)
        if poller is None:
            poller = self._pollers[reference] = TagPoller(self._resolver, parse_reference(reference))
        return poller.poll()

    def earlier(self, reference: str) -> tuple[str, ...]:
        """Digests that a reference's tag stood for before, newest first, as far as the local store knows."""
        asked = parse_reference(reference)
        tag = read_tag(self._catalog.store.layout, asked.name, asked.tag) if asked.tag else None
        return tag.earlier if tag else ()

    def release(self, revision: str) -> None:
        """Allow a revision to be evicted; one that was never obtained is no error."""
        kept = self._kept.pop(revision, None)
        if kept is not None:
            kept.__exit__(None, None, None)

    def _keep(self, revision: str) -> None:
        if revision not in self._kept:
            use = in_use(self._catalog.store.layout, revision)
            use.__enter__()
            self._kept[revision] = use


def by_digest(reference: str, revision: str) -> str:
    """The reference to this revision of the same model."""
    return f"{parse_reference(reference).name}@{revision}"


def is_tag(reference: str) -> bool:
    """True when a reference can stand for another revision later."""
    return parse_reference(reference).tag is not None


def model_and_tag(reference: str) -> tuple[str, str]:
    """A reference as metrics name it; its tag is empty when it names a revision."""
    parsed = parse_reference(reference)
    return parsed.name, parsed.tag or ""


def _warn(error: StoreError) -> None:
    log.warning("the remote store cannot be asked; what the local store has is served", extra={"error": error.detail})
