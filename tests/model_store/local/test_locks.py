"""Locks between processes; flock tells two open files apart even within one."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.errors import StoreBusy, StoreUnwritable
from model_store.local import locks
from model_store.local.layout import Layout


def take(layout: Layout, *, shared: bool) -> None:
    with locks.held(layout, locks.CONTENTS, shared=shared, timeout_seconds=0.05):
        pass


def test_a_lock_that_others_keep_is_given_up_with_a_sentence(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with locks.held(layout, locks.CONTENTS), pytest.raises(StoreBusy, match="'contents'"):
        take(layout, shared=True)
    take(layout, shared=False)


def test_a_shared_lock_keeps_out_only_whoever_wants_it_alone(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with locks.held(layout, locks.CONTENTS, shared=True):
        take(layout, shared=True)
        with pytest.raises(StoreBusy):
            take(layout, shared=False)


def test_a_store_in_which_no_lock_can_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnwritable):
        take(Layout(tmp_path / "file"), shared=True)
