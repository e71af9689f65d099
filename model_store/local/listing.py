"""The list of everything on this machine: the revisions of the local store and the built-in models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from model_store.errors import InvalidTag
from model_store.listing import FoundRevision, ListedModel, compare, damaged_tag, find_revision, group_tags
from model_store.local.builtin_models import BUILTIN_TAG, builtin_names, builtin_revision
from model_store.local.store import Store
from model_store.local.tags import read_tag, tag_names


def list_local(store: Store, builtin_root: Path) -> tuple[ListedModel, ...]:
    """Every revision in the store, tagged or not, and every built-in model; by name, tagged ones first."""
    return compare([*_stored(store), *_built_in(store, builtin_root)])


def _stored(store: Store) -> Iterator[FoundRevision]:
    pointing: list[tuple[str, str, str]] = []
    for name, tag in tag_names(store.layout):
        try:
            found = read_tag(store.layout, name, tag)
        except InvalidTag as error:
            yield damaged_tag(name, tag, error.detail)
            continue
        if found:
            pointing.append((name, tag, found.revision))
    tags = group_tags(pointing)
    for revision in sorted({*store.revisions(), *tags}):
        yield from find_revision(revision, tags.get(revision, {}), store.manifest)


def _built_in(store: Store, builtin_root: Path) -> Iterator[FoundRevision]:
    """Built-in models that are not also in the store; without a tag where a tag of the store hides theirs."""
    stored, hiding = store.revisions(), set(tag_names(store.layout))
    for name in builtin_names(builtin_root):
        model = builtin_revision(builtin_root, name, store.layout)
        if model.revision not in stored:
            tags = () if (name, BUILTIN_TAG) in hiding else (BUILTIN_TAG,)
            yield FoundRevision(name, tags, model.revision, model.manifest, built_in=True)
