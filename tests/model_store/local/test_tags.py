"""Tags and how they move."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.errors import InvalidReference, TagMoved
from model_store.local.layout import Layout
from model_store.local.tags import HISTORY, Tag, move_tag, moved, read_tag, tag_names


def revision(number: int) -> str:
    return f"sha256:{number:064x}"


def test_a_moved_tag_remembers_where_it_was_newest_first() -> None:
    tag: Tag | None = None
    for number in range(HISTORY + 5):
        tag = moved(tag, revision(number), now_seconds=float(number))
    assert tag is not None
    assert tag.revision == revision(HISTORY + 4)
    assert tag.earlier == tuple(revision(HISTORY + 3 - number) for number in range(HISTORY))


def test_a_revision_to_which_a_tag_returns_leaves_its_history() -> None:
    tag = Tag(revision(2), 2.0, (revision(1), revision(0)))
    assert moved(tag, revision(1), now_seconds=3.0) == Tag(revision(1), 3.0, (revision(2), revision(0)))


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


def test_names_that_leave_the_store_are_refused(tmp_path: Path) -> None:
    for name, tag in (("..", "stable"), ("documents", "../../stable")):
        with pytest.raises(InvalidReference):
            read_tag(Layout(tmp_path), name, tag)


def test_tags_are_listed_and_strange_files_passed_over(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert list(tag_names(layout)) == []
    move_tag(layout, "documents", "stable", revision(1))
    move_tag(layout, "documents", "candidate", revision(1))
    (layout.tags / "documents" / ".DS_Store").write_bytes(b"")
    (layout.tags / "stray").write_bytes(b"")
    assert list(tag_names(layout)) == [("documents", "candidate"), ("documents", "stable")]
