"""Tags in the local store: moved, compared and swapped, listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.errors import InvalidReference, InvalidTag, TagMoved
from model_store.local.layout import Layout
from model_store.local.tags import move_tag, read_tag, replace_tag, set_tag, tag_names
from model_store.reference import Tag


def revision(number: int) -> str:
    return f"sha256:{number:064x}"


def test_a_tag_that_points_there_already_is_not_written(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert move_tag(layout, "documents", "stable", revision(1))
    before = read_tag(layout, "documents", "stable")
    assert not move_tag(layout, "documents", "stable", revision(1))
    assert read_tag(layout, "documents", "stable") == before


def test_a_conditional_move_never_overwrites_another(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    move_tag(layout, "documents", "stable", revision(1))
    assert move_tag(layout, "documents", "stable", revision(2), expected=revision(1))
    with pytest.raises(TagMoved, match=revision(2)):
        move_tag(layout, "documents", "stable", revision(3), expected=revision(1))


def test_a_tag_is_replaced_only_if_it_is_unchanged(tmp_path: Path) -> None:
    layout, old, new = Layout(tmp_path), Tag(revision(1), 1.0), Tag(revision(2), 2.0)
    set_tag(layout, "documents", "stable", old)
    assert replace_tag(layout, "documents", "stable", old, new)
    assert not replace_tag(layout, "documents", "stable", old, Tag(revision(3), 3.0))
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
