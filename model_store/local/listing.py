"""Everything that is there, as values to print: one line for each revision, damaged ones with their problem."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_store.errors import Damaged, InvalidTag
from model_store.local.builtin_models import BUILTIN_TAG, builtin_names, builtin_revision
from model_store.local.store import Store
from model_store.local.tags import read_tag, tag_names
from model_store.manifest import Manifest


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One revision. `tags` are those that point to it; `problem` says why it cannot be used, if so.

    Of its `size_bytes`, `shared_bytes` are in files that another listed revision has too.
    """

    name: str
    tags: tuple[str, ...]
    revision: str
    size_bytes: int
    shared_bytes: int
    built_in: bool
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A revision before it is compared with the others; it has a manifest or a problem."""

    name: str
    tags: tuple[str, ...]
    revision: str
    manifest: Manifest | None = None
    built_in: bool = False
    problem: str | None = None


def list_all(store: Store, builtin_root: Path) -> tuple[ListedModel, ...]:
    """Every revision in the store, tagged or not, and every built-in model; by name, tagged ones first."""
    return compare([*_stored(store), *_shipped(store, builtin_root)])


def compare(found: Sequence[Found]) -> tuple[ListedModel, ...]:
    """The revisions with their sizes, sorted. Pure."""
    manifests = {item.revision: item.manifest for item in found if item.manifest}
    owners = Counter(digest for manifest in manifests.values() for digest in {file.sha256 for file in manifest.files})
    shared = {digest for digest, count in owners.items() if count > 1}
    return tuple(sorted((_listed(item, shared) for item in found), key=_order))


def _listed(found: Found, shared: set[str]) -> ListedModel:
    files = found.manifest.files if found.manifest else ()
    return ListedModel(
        found.name,
        found.tags,
        found.revision,
        size_bytes=sum(file.size_bytes for file in files),
        shared_bytes=sum(file.size_bytes for file in files if file.sha256 in shared),
        built_in=found.built_in,
        problem=found.problem,
    )


def _order(model: ListedModel) -> tuple[str, bool, tuple[str, ...], str]:
    return model.name, not model.tags, model.tags, model.revision


def _stored(store: Store) -> Iterator[Found]:
    tags: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, tag in tag_names(store.layout):
        try:
            found = read_tag(store.layout, name, tag)
        except InvalidTag as error:
            yield Found(name, (tag,), "", problem=error.detail)
            continue
        if found:
            tags[found.revision][name].append(tag)
    for revision in sorted({*store.revisions(), *tags}):
        yield from _revision(store, revision, {name: tuple(own) for name, own in tags[revision].items()})


def _revision(store: Store, revision: str, tags: dict[str, tuple[str, ...]]) -> Iterator[Found]:
    """One revision; a damaged one once for each name whose tags point to it, since it cannot say its own."""
    try:
        manifest = store.manifest(revision)
    except Damaged as error:
        for name, own in (tags or {"?": ()}).items():
            yield Found(name, own, revision, problem=error.detail)
    else:
        yield Found(manifest.name, tags.get(manifest.name, ()), revision, manifest)


def _shipped(store: Store, builtin_root: Path) -> Iterator[Found]:
    """The built-in models that are not in the store too; untagged where the store has that tag."""
    for name in builtin_names(builtin_root):
        model = builtin_revision(builtin_root, name, store.layout)
        if model.revision not in store.revisions():
            hidden = (name, BUILTIN_TAG) in set(tag_names(store.layout))
            yield Found(name, () if hidden else (BUILTIN_TAG,), model.revision, model.manifest, built_in=True)
