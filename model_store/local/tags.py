"""Tags in the local store: one small JSON file each, replaced atomically under the lock `tags`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from model_store import fileio
from model_store.errors import InvalidReference, InvalidTag, TagMoved
from model_store.local import locks
from model_store.local.layout import Layout
from model_store.reference import Tag, check_name, check_revision, check_tag, decode_tag, encode_tag, moved


def read_tag(layout: Layout, name: str, tag: str) -> Tag | None:
    """The tag, or None if it was never set. Raises InvalidTag if the file cannot be decoded."""
    path = layout.tag(check_name(name), check_tag(tag))
    try:
        return decode_tag(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise InvalidTag(f"The tag {name}@{tag} in {path} cannot be read: {error}. Publish it again.") from error


def move_tag(layout: Layout, name: str, tag: str, revision: str, *, expected: str | None = None) -> bool:
    """Point the tag to `revision`, which must be in the store; true if it pointed elsewhere before.

    With `expected`, raises TagMoved unless the tag points to that revision. An unreadable tag is replaced.
    """
    check_revision(revision)
    with locks.acquire(layout, locks.TAGS):
        found = _read_or_none(layout, name, tag)
        current = found.revision if found else None
        if current == revision:
            return False
        if expected is not None and current != expected:
            raise TagMoved(f"{name}@{tag} was moved meanwhile: it now points to {current or 'nothing'}. Look again.")
        _write(layout, name, tag, moved(found, revision, now_seconds=time.time()))
        return True


def set_tag(layout: Layout, name: str, tag: str, content: Tag) -> None:
    """Write the tag as it is in the remote store."""
    if _read_or_none(layout, name, tag) != content:
        with locks.acquire(layout, locks.TAGS):
            _write(layout, name, tag, content)


def replace_tag(layout: Layout, name: str, tag: str, old: Tag, new: Tag) -> bool:
    """Compare and swap: write `new` if the tag is still `old`; false, and nothing is written, otherwise."""
    with locks.acquire(layout, locks.TAGS):
        if _read_or_none(layout, name, tag) != old:
            return False
        _write(layout, name, tag, new)
        return True


def tag_names(layout: Layout) -> Iterator[tuple[str, str]]:
    """All (name, tag) pairs, sorted; files whose names are not valid tags are skipped."""
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
