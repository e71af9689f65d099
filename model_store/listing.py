"""Listing of revisions: turns manifests and tags, local or remote, into printable values. Pure but for the reader.

A revision whose manifest is damaged is listed with its problem. The name of the model is in the manifest, so such a
revision is listed once under each name whose tags point to it, or as `?` without any.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from model_store.errors import Damaged
from model_store.manifest import Manifest

TagsByName = Mapping[str, Sequence[str]]
"""Model name → its tags that point to one revision."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One revision, with its manifest or a problem.

    Attributes:
        tags: tags that point to it.
        problem: reason why it cannot be used, if any.
        since_seconds: time, since 1970, at which the last of its tags was moved to it, without one at which it was
            stored; None if unknown.
        shared_bytes: bytes in files that another listed revision has too.
    """

    name: str
    tags: tuple[str, ...]
    revision: str
    manifest: Manifest | None = None
    built_in: bool = False
    problem: str | None = None
    since_seconds: float | None = None
    shared_bytes: int = 0

    @property
    def size_bytes(self) -> int:
        return self.manifest.size_bytes if self.manifest else 0


def damaged_tag(name: str, tag: str, problem: str) -> ListedModel:
    """Make the line of a tag that cannot be decoded."""
    return ListedModel(name, (tag,), "", problem=problem)


def group_tags(tags: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, list[str]]]:
    """Group (name, tag, revision) triples to revision → name → tags."""
    grouped: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, tag, revision in tags:
        grouped[revision][name].append(tag)
    return grouped


def find_revision(
    revision: str, tags: TagsByName, read_manifest: Callable[[str], Manifest], since_seconds: float | None
) -> Iterator[ListedModel]:
    """Yield the revision once, or, if `read_manifest` raises Damaged, once for each name in `tags`."""
    try:
        manifest = read_manifest(revision)
    except Damaged as error:
        for name in sorted(tags) or ["?"]:
            yield ListedModel(name, tuple(sorted(tags.get(name, ()))), revision, problem=error.detail)
    else:
        of_name = tuple(sorted(tags.get(manifest.name, ())))
        yield ListedModel(manifest.name, of_name, revision, manifest, since_seconds=since_seconds)


def compare(found: Sequence[ListedModel]) -> tuple[ListedModel, ...]:
    """Add the shared sizes of revisions; sorts by name, tagged ones first."""
    manifests = {item.revision: item.manifest for item in found if item.manifest}
    owners = Counter(digest for manifest in manifests.values() for digest in {file.sha256 for file in manifest.files})
    shared = {digest for digest, count in owners.items() if count > 1}
    return tuple(sorted((_compared(item, shared) for item in found), key=sort_key))


def sort_key(model: ListedModel) -> tuple[str, bool, tuple[str, ...], str]:
    """Order by name, tagged revisions first, then by tags and revision."""
    return model.name, not model.tags, model.tags, model.revision


def _compared(model: ListedModel, shared: set[str]) -> ListedModel:
    files = model.manifest.files if model.manifest else ()
    return replace(model, shared_bytes=sum(file.size_bytes for file in files if file.sha256 in shared))
