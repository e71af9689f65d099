"""What one engine leaves for the next."""

from __future__ import annotations

from pathlib import Path

from service.engine.models.rollout_journal import RolloutJournal, RolloutRecord


def test_what_was_served_is_known_and_what_was_in_trial_counts_as_deadly(tmp_path: Path) -> None:
    RolloutJournal(tmp_path).write(RolloutRecord({"a": "sha256:1"}, {"a": "sha256:2"}, {"b": "sha256:3"}))
    assert RolloutJournal(tmp_path).recall() == RolloutRecord({"a": "sha256:1"}, {}, {"a": "sha256:2", "b": "sha256:3"})


def test_nothing_is_known_where_nothing_or_nonsense_was_left(tmp_path: Path) -> None:
    assert RolloutJournal(tmp_path).recall() == RolloutRecord()
    (tmp_path / "revisions.json").write_text("{")
    assert RolloutJournal(tmp_path).recall() == RolloutRecord()
    assert RolloutJournal(None).recall() == RolloutRecord()


def test_an_engine_that_cannot_write_goes_on(tmp_path: Path) -> None:
    RolloutJournal(tmp_path / "nowhere").write(RolloutRecord({"a": "sha256:1"}))
    RolloutJournal(None).write(RolloutRecord({"a": "sha256:1"}))
