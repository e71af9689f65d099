"""The list of everything in a remote store. Objects are read several at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from model_store.errors import Damaged
from model_store.listing import ListedModel, compare, damaged_tag, find_revision, group_tags
from model_store.manifest import Manifest, decode_manifest, revision_of
from model_store.reference import DIGEST_PREFIX, hex_digits
from model_store.remote.base import MANIFESTS, TAGS, Remote, manifest_in, manifest_key, tag_in
from model_store.remote.tags import RemoteTag, read_remote_tag

CONCURRENT_READS = 8


def list_remote(remote: Remote) -> tuple[ListedModel, ...]:
    """Every revision, tagged or not; by name, tagged ones first. Raises RemoteRefused, RemoteUnavailable."""
    names = sorted({place[:2] for stat in remote.stats(TAGS) if (place := tag_in(stat.key))})
    digests = [digest for stat in remote.stats(MANIFESTS) if (digest := manifest_in(stat.key))]
    read = partial(_manifest, remote)
    found: list[ListedModel] = []
    pointing: list[tuple[str, str, str]] = []
    since: dict[str, float] = {}
    with ThreadPoolExecutor(CONCURRENT_READS, "list") as pool:
        for (name, tag), target in zip(names, pool.map(lambda place: _target(remote, *place), names), strict=True):
            if isinstance(target, Damaged):
                found.append(damaged_tag(name, tag, target.detail))
            elif target is not None:
                pointing.append((name, tag, target.revision))
                since[target.revision] = max(target.tag.moved_at_seconds, since.get(target.revision, 0.0))
        tags = group_tags(pointing)
        revisions = sorted({*(DIGEST_PREFIX + digest for digest in digests), *tags})
        for items in pool.map(
            lambda each: list(find_revision(each, tags.get(each, {}), read, since.get(each))), revisions
        ):
            found += items
    return compare(found)


def _target(remote: Remote, name: str, tag: str) -> RemoteTag | Damaged | None:
    """A tag, or the reason why it cannot be read."""
    try:
        return read_remote_tag(remote, name, tag)
    except Damaged as error:
        return error


def _manifest(remote: Remote, revision: str) -> Manifest:
    data = remote.read(manifest_key(hex_digits(revision)))
    if data is None:
        raise Damaged("Its manifest is not there.")
    if revision_of(data) != revision:
        raise Damaged("Its manifest is damaged.")
    return decode_manifest(data)
