"""What one engine leaves for the next."""

from __future__ import annotations

from pathlib import Path

from service.engine.models.rollout_journal import Memo, Memory


def test_what_was_served_is_known_and_what_was_in_trial_counts_as_deadly(tmp_path: Path) -> None:
    Memo(tmp_path).write(Memory({"a": "sha256:1"}, {"a": "sha256:2"}, {"b": "sha256:3"}))
    assert Memo(tmp_path).recall() == Memory({"a": "sha256:1"}, {}, {"a": "sha256:2", "b": "sha256:3"})


def test_nothing_is_known_where_nothing_or_nonsense_was_left(tmp_path: Path) -> None:
    assert Memo(tmp_path).recall() == Memory()
    (tmp_path / "revisions.json").write_text("{")
    assert Memo(tmp_path).recall() == Memory()
    assert Memo(None).recall() == Memory()


def test_an_engine_that_cannot_write_goes_on(tmp_path: Path) -> None:
    Memo(tmp_path / "nowhere").write(Memory({"a": "sha256:1"}))
    Memo(None).write(Memory({"a": "sha256:1"}))
