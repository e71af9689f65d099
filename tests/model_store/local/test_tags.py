"""Tags in the local store: moved, changed, listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.errors import InvalidReference, InvalidTag, TagMoved
from model_store.local.layout import Layout
from model_store.local.tags import change_tag, move_tag, read_tag, set_tag, tag_names
from model_store.reference import Tag


def revision(number: int) -> str:
    return f"sha256:{number:064x}"


def test_a_tag_that_points_there_already_is_not_written(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert move_tag(layout, "documents", "stable", revision(1))
    before = read_tag(layout, "documents", "stable")
    assert not move_tag(layout, "documents", "stable", revision(1))
    assert read_tag(layout, "documents", "stable") == before


def test_a_change_sees_the_tag_as_it_is_and_writes_nothing_if_it_raises(tmp_path: Path) -> None:
    layout, old, new = Layout(tmp_path), Tag(revision(1), 1.0), Tag(revision(2), 2.0)
    set_tag(layout, "documents", "stable", old)
    seen: list[Tag | None] = []

    def change(found: Tag | None) -> Tag:
        seen.append(found)
        if found != old:
            raise TagMoved("moved")
        return new

    assert change_tag(layout, "documents", "stable", change) == (new, True)
    with pytest.raises(TagMoved):
        change_tag(layout, "documents", "stable", change)
    assert seen == [old, new]
    assert read_tag(layout, "documents", "stable") == new


def test_an_unreadable_tag_is_an_error_until_it_moves(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.tag("documents", "stable").parent.mkdir(parents=True)
    layout.tag("documents", "stable").write_bytes(b"{")
    with pytest.raises(InvalidTag):
        read_tag(layout, "documents", "stable")
    assert move_tag(layout, "documents", "stable", revision(1))


def test_names_that_leave_the_store_are_refused(tmp_path: Path) -> None:
    for name, tag in (("..", "stable"), ("documents", "../../stable")):
        with pytest.raises(InvalidReference):
            read_tag(Layout(tmp_path), name, tag)


def test_tags_are_listed_and_other_files_skipped(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert list(tag_names(layout)) == []
    move_tag(layout, "documents", "stable", revision(1))
    move_tag(layout, "documents", "candidate", revision(1))
    (layout.tags / "documents" / ".DS_Store").write_bytes(b"")
    (layout.tags / "stray").write_bytes(b"")
    assert list(tag_names(layout)) == [("documents", "candidate"), ("documents", "stable")]
