"""Tag values: which revision a tag points to, since when, and its history. Pure; `local` and `remote` store them.

The history, newest first, is what a rollback goes back to and what garbage collection keeps. The time of a publish is
recorded here and not in the manifest, whose digest must not depend on it.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

MAX_HISTORY = 16
"""Earlier revisions that a tag keeps."""

_Revision = Annotated[str, msgspec.Meta(pattern=r"\Asha256:[0-9a-f]{64}\Z")]


class Tag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`revision` since `moved_at_seconds` (since 1970); `earlier` holds the revisions before it, newest first."""

    revision: _Revision
    moved_at_seconds: float
    earlier: tuple[_Revision, ...] = ()


def moved(tag: Tag | None, revision: str, *, now_seconds: float) -> Tag:
    """`tag` after it was moved to `revision`."""
    if tag is None:
        return Tag(revision, now_seconds)
    earlier = tuple(old for old in (tag.revision, *tag.earlier) if old != revision)
    return Tag(revision, now_seconds, earlier[:MAX_HISTORY])


def encode_tag(tag: Tag) -> bytes:
    """The tag as JSON with sorted keys."""
    return msgspec.json.encode(tag, order="sorted")


def decode_tag(data: bytes) -> Tag:
    """The tag of JSON bytes. Raises ValueError."""
    return msgspec.json.decode(data, type=Tag)
