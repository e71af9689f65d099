"""Files of records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loadtest.errors import BadInput
from loadtest.records.files import load, read_csv, save, write_csv
from tests.support.load_records import records, refusal, row


def test_written_records_are_read_again(tmp_path: Path) -> None:
    found = records(row(0.25, 12.5), refusal(1.0), row(2.0, 40, "timeout", status=0, typed=False))
    write_csv(found, tmp_path / "r.csv.gz")
    save(found, tmp_path / "r.npz")
    for again in (read_csv(tmp_path / "r.csv.gz"), load(tmp_path / "r.npz")):
        assert np.allclose(again.latency_ms, found.latency_ms, rtol=1e-4)
        assert np.allclose(again.stages_ms, found.stages_ms, equal_nan=True)
        assert again.outcome.tolist() == ["ok", "queue_full", "timeout"]
        assert again.typed.tolist() == [True, True, False]
        assert again.status.tolist() == [200, 429, 0]


def test_a_file_in_another_format_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "r.csv.gz").write_bytes(b"no")
    with pytest.raises(BadInput):
        read_csv(tmp_path / "r.csv.gz")
