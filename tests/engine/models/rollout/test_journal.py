"""Rollout journal: what one engine leaves for the next."""

from __future__ import annotations

from pathlib import Path

from service.engine.models.rollout.journal import RolloutJournal, RolloutRecord


def test_what_was_in_trial_counts_as_crashed(tmp_path: Path) -> None:
    RolloutJournal(tmp_path).write({"a": "sha256:1"}, {"a": "sha256:2"})
    assert RolloutJournal(tmp_path).before == RolloutRecord({"a": "sha256:1"}, {}, {"a": "sha256:2"})


def test_what_crashed_once_is_known_to_all_later_engines(tmp_path: Path) -> None:
    RolloutJournal(tmp_path).write({"a": "sha256:1"}, {"a": "sha256:2"})
    RolloutJournal(tmp_path).write({"a": "sha256:1"}, {"b": "sha256:3"})
    RolloutJournal(tmp_path).write({"a": "sha256:1"})
    assert RolloutJournal(tmp_path).before.crashed == {"a": "sha256:2", "b": "sha256:3"}


def test_nothing_is_known_where_nothing_or_no_record_was_left(tmp_path: Path) -> None:
    assert RolloutJournal(tmp_path).before == RolloutRecord()
    (tmp_path / "revisions.json").write_text("{")
    assert RolloutJournal(tmp_path).before == RolloutRecord()
    assert RolloutJournal(None).before == RolloutRecord()


def test_an_engine_that_cannot_write_goes_on(tmp_path: Path) -> None:
    RolloutJournal(tmp_path / "nowhere").write({"a": "sha256:1"})
    RolloutJournal(None).write({"a": "sha256:1"})
