"""Reading golden examples from JSON lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.contents.golden_examples import read_golden
from model_store.errors import InvalidGolden
from model_store.manifest import GoldenEntity, GoldenExample

GOOD = '{"text": "Ada writes", "entities": [{"label": "NAME", "start": 0, "end": 3}]}'


def test_each_line_is_an_example_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(f'{GOOD}\n\n{{"text": "nothing", "entities": []}}\n')
    assert read_golden(path) == (
        GoldenExample("Ada writes", (GoldenEntity("NAME", 0, 3),)),
        GoldenExample("nothing", ()),
    )


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{", ""),
        ('{"text": "Ada"}', "entities"),
        ('{"text": "Ada", "entities": [], "typo": 1}', "typo"),
        ('{"text": "Ada", "entities": [{"label": "NAME", "start": 0, "end": 4}]}', "0:4"),
        ('{"text": "Ada", "entities": [{"label": "NAME", "start": 2, "end": 2}]}', "2:2"),
    ],
)
def test_an_invalid_line_is_an_error_with_its_number(tmp_path: Path, line: str, named: str) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    with pytest.raises(InvalidGolden, match=rf"line 2.*{named}"):
        read_golden(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidGolden):
        read_golden(tmp_path / "golden.jsonl")
