"""A folder's files for decoding are read whole and checked, or the revision is not served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from service.core.decoding.model_decoding import PLAIN, Calibration
from service.core.errors import ModelError
from service.text.decoding_files import MOST_BYTES, RULES, TRANSITIONS, read_decoding

LABELS = {"0": "O", "1": "B-X", "2": "I-X"}
STEPS = np.zeros((3, 3), dtype=np.float32)


def folder_with(folder: Path, rules: Any = None, **tensors: np.ndarray[Any, Any]) -> Path:
    (folder / "config.json").write_text(json.dumps({"id2label": LABELS}))
    if rules is not None:
        (folder / RULES).write_text(rules if isinstance(rules, str) else json.dumps(rules))
    if tensors:
        save_file(tensors, folder / TRANSITIONS)
    return folder


def test_a_folder_without_the_files_is_decoded_plainly(tmp_path: Path) -> None:
    assert read_decoding(tmp_path) is PLAIN
    assert read_decoding(folder_with(tmp_path)) is PLAIN


def test_all_that_is_asked_for_is_read(tmp_path: Path) -> None:
    rules = {
        "compounds": True,
        "first_piece_share": 0.5,
        "cells": True,
        "marks": True,
        "unknown": True,
        "inside_begins": True,
        "calibration": {"scores": [0.1, 0.9], "shares": [0.0, 0.7]},
    }
    decoding = read_decoding(folder_with(tmp_path, rules, transitions=STEPS.astype(np.float16)))
    assert (decoding.compounds, decoding.cells, decoding.marks, decoding.unknown) == (True,) * 4
    assert decoding.inside_begins
    assert decoding.first_piece_share == 0.5
    assert decoding.calibration == Calibration((0.1, 0.9), (0.0, 0.7))
    assert decoding.transitions is not None
    assert decoding.transitions.loss.shape == (3, 3)


def test_one_file_alone_is_enough(tmp_path: Path) -> None:
    decoding = read_decoding(folder_with(tmp_path, transitions=STEPS))
    assert decoding.transitions is not None
    assert not decoding.compounds
    assert decoding.inside_begins is None
    (tmp_path / TRANSITIONS).unlink()
    assert read_decoding(folder_with(tmp_path, {"marks": True})).marks


@pytest.mark.parametrize(
    "rules",
    [
        "not json",
        "[]",
        {"compunds": True},
        {"first_piece_share": 1.5},
        {"calibration": {"scores": [0.5], "shares": []}},
        {"calibration": {"scores": [0.5, 0.4], "shares": [0.1, 0.2]}},
        {"calibration": {"scores": [0.4, 0.5], "shares": [0.3, 0.2]}},
        {"calibration": {"scores": [], "shares": []}},
        "[" * 100_000,
        " " * (MOST_BYTES + 1),
    ],
    ids=lambda rules: str(rules)[:40].strip(),
)
def test_rules_of_another_form_are_refused(tmp_path: Path, rules: Any) -> None:
    with pytest.raises(ModelError, match=RULES):
        read_decoding(folder_with(tmp_path, rules))


@pytest.mark.parametrize(
    "tensors",
    [
        {"transitions": np.zeros((2, 2), dtype=np.float32)},
        {"transitions": np.zeros(9, dtype=np.float32)},
        {"transitions": np.zeros((3, 3), dtype=np.int64)},
        {"transitions": np.full((3, 3), np.nan, dtype=np.float32)},
        {"steps": STEPS},
    ],
)
def test_transitions_of_another_form_are_refused(tmp_path: Path, tensors: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=TRANSITIONS):
        read_decoding(folder_with(tmp_path, **tensors))


def test_transitions_that_are_no_tensors_or_have_no_labels_are_refused(tmp_path: Path) -> None:
    (tmp_path / TRANSITIONS).write_bytes(b"not tensors")
    with pytest.raises(ModelError, match=r"config\.json"):
        read_decoding(tmp_path)
    (folder_with(tmp_path) / TRANSITIONS).write_bytes(b"not tensors")
    with pytest.raises(ModelError, match=TRANSITIONS):
        read_decoding(tmp_path)
