"""Listing revisions: from manifests and tags, local or remote, to values that can be printed. Pure but for the reader.

A revision whose manifest is damaged is listed with its problem. The name of the model is in the manifest, so such a
revision is listed once under each name whose tags point to it, or as `?` without any.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from model_store.errors import Damaged
from model_store.manifest import Manifest

TagsByName = Mapping[str, Sequence[str]]
"""The tags that point to one revision, by model name."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One revision. `tags` are those that point to it; `problem` is the reason why it cannot be used, if any.

    Of its `size_bytes`, `shared_bytes` are in files that another listed revision has too. `since_seconds` (since 1970)
    is when the last of its tags was moved to it, without one when it was stored; None where nothing says so.
    """

    name: str
    tags: tuple[str, ...]
    revision: str
    size_bytes: int
    shared_bytes: int
    built_in: bool
    problem: str | None = None
    since_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class RevisionEntry:
    """A revision before it is compared with the others; it has a manifest or a problem."""

    name: str
    tags: tuple[str, ...]
    revision: str
    manifest: Manifest | None = None
    built_in: bool = False
    problem: str | None = None
    since_seconds: float | None = None


def damaged_tag(name: str, tag: str, problem: str) -> RevisionEntry:
    """The line of a tag that cannot be decoded."""
    return RevisionEntry(name, (tag,), "", problem=problem)


def group_tags(tags: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, list[str]]]:
    """(name, tag, revision) triples as revision → name → tags."""
    grouped: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, tag, revision in tags:
        grouped[revision][name].append(tag)
    return grouped


def find_revision(
    revision: str, tags: TagsByName, read_manifest: Callable[[str], Manifest], since_seconds: float | None
) -> Iterator[RevisionEntry]:
    """The revision once, or, if `read_manifest` raises Damaged, once for each name in `tags`."""
    try:
        manifest = read_manifest(revision)
    except Damaged as error:
        for name in sorted(tags) or ["?"]:
            yield RevisionEntry(name, tuple(sorted(tags.get(name, ()))), revision, problem=error.detail)
    else:
        of_name = tuple(sorted(tags.get(manifest.name, ())))
        yield RevisionEntry(manifest.name, of_name, revision, manifest, since_seconds=since_seconds)


def compare(found: Sequence[RevisionEntry]) -> tuple[ListedModel, ...]:
    """The revisions with their own and shared sizes; by name, tagged ones first."""
    manifests = {item.revision: item.manifest for item in found if item.manifest}
    owners = Counter(digest for manifest in manifests.values() for digest in {file.sha256 for file in manifest.files})
    shared = {digest for digest, count in owners.items() if count > 1}
    return tuple(sorted((_listed(item, shared) for item in found), key=sort_key))


def sort_key(model: ListedModel) -> tuple[str, bool, tuple[str, ...], str]:
    """By name, tagged revisions first, then by tags and revision."""
    return model.name, not model.tags, model.tags, model.revision


def _listed(found: RevisionEntry, shared: set[str]) -> ListedModel:
    files = found.manifest.files if found.manifest else ()
    return ListedModel(
        found.name,
        found.tags,
        found.revision,
        size_bytes=sum(file.size_bytes for file in files),
        shared_bytes=sum(file.size_bytes for file in files if file.sha256 in shared),
        built_in=found.built_in,
        problem=found.problem,
        since_seconds=found.since_seconds,
    )
