"""The tool for the accuracy of 8-bit products: a row for each set and precision, float32 as the yardstick."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.engine.tools import float8_accuracy
from tests.support.tiny_models import make_model


def test_each_precision_of_each_set_has_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [
        {"text": "invoice number from anna smith", "entities": [{"start": 20, "end": 30, "label": "PER"}]},
        {"text": " ", "entities": []},
    ]
    data = tmp_path / "small.jsonl"
    data.write_text("\n".join(map(json.dumps, records)))
    folder = make_model(tmp_path / "tiny", hidden=64)
    assert float8_accuracy.main([str(folder), str(data), "--most", "2"]) == 0
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[:4] for row in rows] == [["small", each, "2", "1"] for each in ("float32", "bfloat16", "fp8")]
    errors = [float(row[7]) for row in rows]
    assert errors[0] == 0 < errors[1] < errors[2] < 0.3
