"""The catalog of this machine's models: looks a reference up in the local store, then among the built-in models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from model_store.errors import UnknownModel
from model_store.listing import ListedModel
from model_store.local.builtin_models import BUILTIN_ROOT, BUILTIN_TAG, builtin_names, builtin_revision
from model_store.local.listing import list_local
from model_store.local.store import Revision, Store
from model_store.reference import Reference, to_reference


@dataclass(frozen=True, slots=True)
class Catalog:
    """The local store and the built-in models. A tag in the store hides the same tag of a built-in model."""

    store_root: Path
    builtin_root: Path = BUILTIN_ROOT

    @property
    def store(self) -> Store:
        return Store(self.store_root)

    def resolve(self, reference: Reference | str) -> Revision:
        """The verified revision that a reference stands for.

        Raises UnknownModel, which lists the references that exist, and the errors of `Store.resolve`: a revision that
        is damaged in the store is not replaced by a built-in model.
        """
        asked = to_reference(reference)
        if self.store.find(asked) is not None:
            return self.store.resolve(asked)
        if built_in := self._built_in(asked):
            return replace(built_in, tag=asked.tag)
        raise UnknownModel(str(asked), self.references())

    def find(self, asked: Reference) -> str | None:
        """The revision that a reference stands for, not verified if it is in the store; None if there is none."""
        if found := self.store.find(asked):
            return found
        built_in = self._built_in(asked)
        return built_in.revision if built_in else None

    def references(self) -> tuple[str, ...]:
        """Every `name@tag` that `resolve` knows, sorted."""
        built_in = {f"{name}@{BUILTIN_TAG}" for name in builtin_names(self.builtin_root)}
        return tuple(sorted(built_in.union(self.store.references())))

    def _built_in(self, asked: Reference) -> Revision | None:
        if asked.name in builtin_names(self.builtin_root):
            built_in = builtin_revision(self.builtin_root, asked.name, self.store.layout)
            if asked.tag == BUILTIN_TAG or asked.revision == built_in.revision:
                return built_in
        return None

    def list(self) -> tuple[ListedModel, ...]:
        """Every revision, tagged or not: by name, tagged ones first."""
        return list_local(self.store, self.builtin_root)
