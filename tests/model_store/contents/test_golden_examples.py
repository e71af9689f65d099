"""Golden examples from JSON lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.contents.golden_examples import read_golden
from model_store.errors import InvalidGolden
from model_store.manifest import GoldenEntity, GoldenExample

GOOD = '{"text": "Ada writes", "entities": [{"label": "NAME", "start": 0, "end": 3}]}'


def test_each_line_is_an_example_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(f'{GOOD}\n\n{{"text": "nothing", "entities": []}}\n')
    assert read_golden(path) == (
        GoldenExample("Ada writes", (GoldenEntity("NAME", 0, 3),)),
        GoldenExample("nothing", ()),
    )


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 2"),
        ('{"text": "Ada"}', "entities"),
        ('{"text": "Ada", "entities": [], "typo": 1}', "typo"),
        ('{"text": "Ada", "entities": [{"label": "NAME", "start": 0, "end": 4}]}', "not inside its text of 3"),
        ('{"text": "Ada", "entities": [{"label": "NAME", "start": 2, "end": 2}]}', "not inside"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, sentence: str) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    with pytest.raises(InvalidGolden, match=sentence):
        read_golden(path)


def test_a_file_that_is_not_there_is_said_to_be_unreadable(tmp_path: Path) -> None:
    with pytest.raises(InvalidGolden, match="cannot be read"):
        read_golden(tmp_path / "golden.jsonl")
