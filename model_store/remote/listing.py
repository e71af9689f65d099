"""Everything that a remote store has, as values to print, damaged revisions with their problem."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from model_store.errors import Damaged
from model_store.local.listing import Found, ListedModel, compare
from model_store.manifest import decode_manifest, revision_of
from model_store.reference import DIGEST_PREFIX, hex_digits
from model_store.remote.base import Remote
from model_store.remote.keys import MANIFESTS, TAGS, manifest_in, manifest_key, tag_in
from model_store.remote.tags import read_remote_tag

READS_AT_ONCE = 8


def list_remote(remote: Remote) -> tuple[ListedModel, ...]:
    """Every revision, tagged or not; by name, tagged ones first. Raises RemoteRefused, RemoteUnavailable."""
    names = sorted({place[:2] for stat in remote.stats(TAGS) if (place := tag_in(stat.key))})
    digests = [digest for stat in remote.stats(MANIFESTS) if (digest := manifest_in(stat.key))]
    tags: dict[str, list[tuple[str, str]]] = defaultdict(list)
    found: list[Found] = []
    with ThreadPoolExecutor(READS_AT_ONCE, "list") as pool:
        for (name, tag), revision in zip(names, pool.map(lambda place: _revision(remote, *place), names), strict=True):
            if isinstance(revision, Damaged):
                found.append(Found(name, (tag,), "", problem=revision.detail))
            elif revision is not None:
                tags[revision].append((name, tag))
        revisions = sorted({*(DIGEST_PREFIX + digest for digest in digests), *tags})
        for items in pool.map(lambda revision: list(_found(remote, revision, tags[revision])), revisions):
            found += items
    return compare(found)


def _revision(remote: Remote, name: str, tag: str) -> str | Damaged | None:
    try:
        found = read_remote_tag(remote, name, tag)
    except Damaged as error:
        return error
    return found.revision if found else None


def _found(remote: Remote, revision: str, tags: list[tuple[str, str]]) -> Iterator[Found]:
    """The revision; a damaged one once for each name whose tags point to it, since it cannot say its own."""
    data = remote.read(manifest_key(hex_digits(revision)))
    try:
        if data is None or revision_of(data) != revision:
            raise Damaged("Its manifest is not there." if data is None else "Its manifest is damaged.")
        manifest = decode_manifest(data)
    except Damaged as error:
        for name in sorted({name for name, _ in tags}) or ["?"]:
            yield Found(name, _of(tags, name), revision, problem=error.detail)
    else:
        yield Found(manifest.name, _of(tags, manifest.name), revision, manifest)


def _of(tags: list[tuple[str, str]], name: str) -> tuple[str, ...]:
    return tuple(sorted(tag for owner, tag in tags if owner == name))
