"""The benchmark of known words holds the service's tokens to the tokenizer's own, and prints a row for each file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from model_store.builtin import model_folder
from service.text.benchmark import compare, main
from service.text.tokenizer import TextTokenizer, Tokens


def test_a_row_for_each_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bills.jsonl"
    file.write_text("".join(json.dumps({"text": f"Invoice {n}\nTotal due: {n},50 EUR"}) + "\n" for n in range(5)))
    monkeypatch.setattr(sys, "argv", ["benchmark", str(file), "--model", str(model_folder())])
    assert main() == 0
    heads, _, row = capsys.readouterr().out.splitlines()
    assert heads.startswith("| documents | tokens each | Hugging Face's alone, µs | words new at first, µs |")
    assert row.startswith("| bills | 1")


def test_other_tokens_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Tokens(np.zeros(1, np.int32), np.zeros((1, 2), np.int32))
    monkeypatch.setattr(TextTokenizer, "encode", lambda self, text: wrong)
    with pytest.raises(AssertionError, match="other tokens"):
        compare(["Total due"], model_folder())
