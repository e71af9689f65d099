"""Tags in the local store: one small JSON file each, replaced atomically under the lock `tags`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from model_store import fileio
from model_store.errors import InvalidReference, InvalidTag
from model_store.local import locks
from model_store.local.layout import Layout
from model_store.reference import Tag, check_name, check_revision, check_tag, decode_tag, encode_tag, moved


def read_tag(layout: Layout, name: str, tag: str) -> Tag | None:
    """Read a tag; None if it was never set. Raises InvalidTag if the file cannot be decoded."""
    path = layout.tag(check_name(name), check_tag(tag))
    try:
        return decode_tag(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise InvalidTag(f"The tag {name}@{tag} in {path} cannot be read: {error}. Publish it again.") from error


def change_tag(layout: Layout, name: str, tag: str, change: Callable[[Tag | None], Tag]) -> tuple[Tag, bool]:
    """Move the tag to `change(old)`; returns the new tag, and False if it pointed to the same revision before.

    An unreadable tag counts as None. If `change` raises, nothing is written.
    """
    with locks.acquire(layout, locks.TAGS):
        old = _read_or_none(layout, name, tag)
        new = change(old)
        if old is not None and new.revision == old.revision:
            return old, False
        _write(layout, name, tag, new)
        return new, True


def move_tag(layout: Layout, name: str, tag: str, revision: str) -> bool:
    """Point the tag to `revision`, which must be in the store; returns False if it pointed there before."""
    check_revision(revision)
    return change_tag(layout, name, tag, lambda old: moved(old, revision, now_seconds=time.time()))[1]


def set_tag(layout: Layout, name: str, tag: str, content: Tag) -> None:
    """Write a tag as it is in the remote store."""
    if _read_or_none(layout, name, tag) != content:
        with locks.acquire(layout, locks.TAGS):
            _write(layout, name, tag, content)


def tag_names(layout: Layout) -> Iterator[tuple[str, str]]:
    """Yield all (name, tag) pairs, sorted; files whose names are not valid tags are skipped."""
    for folder in _sorted(layout.tags):
        for path in _sorted(folder):
            if _is_tag(folder.name, path.name):
                yield folder.name, path.name


def _write(layout: Layout, name: str, tag: str, content: Tag) -> None:
    with fileio.writing(layout.root):
        fileio.write_whole(layout.tag(name, tag), encode_tag(content), layout.temporary)


def _read_or_none(layout: Layout, name: str, tag: str) -> Tag | None:
    try:
        return read_tag(layout, name, tag)
    except InvalidTag:
        return None


def _sorted(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _is_tag(name: str, tag: str) -> bool:
    try:
        return bool(check_name(name) and check_tag(tag))
    except InvalidReference:
        return False
