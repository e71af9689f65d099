"""Tags: names that people give to revisions, and that move. Each is one small JSON file, replaced in one step.

A tag keeps the revisions to which it pointed before, newest first: they are what a rollback goes back to, and what a
clean-up keeps. The time of a publish is here and not in the manifest, which must not depend on it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from model_store import fileio
from model_store.errors import InvalidReference, InvalidTag, TagMoved
from model_store.local import locks
from model_store.local.layout import Layout
from model_store.reference import check_name, check_revision, check_tag

HISTORY = 16
"""How many earlier revisions a tag keeps."""

_Revision = Annotated[str, msgspec.Meta(pattern=r"\Asha256:[0-9a-f]{64}\Z")]


class Tag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`revision` since `moved_at_seconds` (since 1970); `earlier` holds the revisions before it, newest first."""

    revision: _Revision
    moved_at_seconds: float
    earlier: tuple[_Revision, ...] = ()


def moved(tag: Tag | None, revision: str, *, now_seconds: float) -> Tag:
    """`tag` after it was moved to `revision`. Pure."""
    if tag is None:
        return Tag(revision, now_seconds)
    earlier = tuple(old for old in (tag.revision, *tag.earlier) if old != revision)
    return Tag(revision, now_seconds, earlier[:HISTORY])


def read_tag(layout: Layout, name: str, tag: str) -> Tag | None:
    """The tag, or None if it was never set. Raises InvalidTag if what is there is no tag."""
    path = layout.tag(check_name(name), check_tag(tag))
    try:
        return msgspec.json.decode(path.read_bytes(), type=Tag)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidTag(f"The tag {name}@{tag} in {path} cannot be read: {error}. Publish it again.") from error


def move_tag(layout: Layout, name: str, tag: str, revision: str, *, expected: str | None = None) -> bool:
    """Point the tag to `revision`, which the caller knows to be whole; whether it pointed elsewhere before.

    With `expected`, the tag moves only if it points to that revision; else TagMoved is raised. An unreadable tag is
    replaced.
    """
    check_revision(revision)
    with locks.held(layout, locks.TAGS):
        found = _read_or_none(layout, name, tag)
        points = found.revision if found else None
        if points == revision:
            return False
        if expected is not None and points != expected:
            raise TagMoved(f"Somebody else moved {name}@{tag}: it now points to {points or 'nothing'}. Look again.")
        _write(layout, name, tag, moved(found, revision, now_seconds=time.time()))
        return True


def set_tag(layout: Layout, name: str, tag: str, content: Tag) -> None:
    """Make the tag a copy of one that is kept elsewhere."""
    if _read_or_none(layout, name, tag) != content:
        with locks.held(layout, locks.TAGS):
            _write(layout, name, tag, content)


def replace_tag(layout: Layout, name: str, tag: str, old: Tag, new: Tag) -> bool:
    """Give the tag another content, if it still has the old one; whether it had."""
    with locks.held(layout, locks.TAGS):
        if _read_or_none(layout, name, tag) != old:
            return False
        _write(layout, name, tag, new)
        return True


def tag_names(layout: Layout) -> Iterator[tuple[str, str]]:
    """All (name, tag) pairs, sorted; files that can be no tags are passed over."""
    for folder in _sorted(layout.tags):
        for path in _sorted(folder):
            if _plain(folder.name, path.name):
                yield folder.name, path.name


def _write(layout: Layout, name: str, tag: str, content: Tag) -> None:
    with fileio.writing(layout.root):
        fileio.write_whole(layout.tag(name, tag), msgspec.json.encode(content, order="sorted"), layout.temporary)


def _read_or_none(layout: Layout, name: str, tag: str) -> Tag | None:
    try:
        return read_tag(layout, name, tag)
    except InvalidTag:
        return None


def _sorted(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _plain(name: str, tag: str) -> bool:
    try:
        return bool(check_name(name) and check_tag(tag))
    except InvalidReference:
        return False
