"""The launch time's tool prints what it promises, on a CPU too, where a model has one path."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.engine.tools import launch_time
from tests.support.tiny_models import make_model


def test_each_path_of_a_model_has_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert launch_time.main([str(make_model(tmp_path / "tiny")), "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    path, _, milliseconds = lines[0].partition(": ")
    assert (len(lines), path.split(", ")[0]) == (1, "packed")
    assert float(milliseconds.split()[0]) > 0
