"""The keys in a remote store. Pure: nothing is read or made here.

    <prefix>/
      blobs/sha256/<hex>            a file of a model, under its digest
      manifests/sha256/<hex>.json   canonical bytes; <hex> is their digest, the revision
      tags/<name>/<tag>/<number>    the tag after its <number>-th move (see remote/tags); the highest number is current

Objects are written in the order blobs, manifest, tag. Blobs and manifests never change, so writing one twice is
harmless. A tag's objects are created once, with `If-None-Match: *`, and never overwritten. Other keys are ignored,
among them `claims/…`, which earlier versions wrote before they moved a tag.

Readers need the rights to get objects and to list the bucket; publishers also to put them, and to delete them where a
damaged manifest is replaced.
"""

from __future__ import annotations

import re

TAGS = "tags/"
MANIFESTS = "manifests/sha256/"
BLOBS = "blobs/sha256/"

_MANIFEST = re.compile(rf"{MANIFESTS}([0-9a-f]{{64}})\.json")
_TAG = re.compile(rf"{TAGS}([^/]+)/([^/]+)/(\d{{10}})")


def blob_key(digest: str) -> str:
    return BLOBS + digest


def manifest_key(digest: str) -> str:
    return f"{MANIFESTS}{digest}.json"


def tag_prefix(name: str, tag: str) -> str:
    return f"{TAGS}{name}/{tag}/"


def tag_key(name: str, tag: str, number: int) -> str:
    """Ten digits, so that keys sort by number."""
    return f"{tag_prefix(name, tag)}{number:010}"


def manifest_in(key: str) -> str | None:
    """The digest in a manifest's key; None for other keys."""
    return found[1] if (found := _MANIFEST.fullmatch(key)) else None


def tag_in(key: str) -> tuple[str, str, int] | None:
    """Name, tag and number in a tag's key; None for other keys."""
    return (found[1], found[2], int(found[3])) if (found := _TAG.fullmatch(key)) else None
