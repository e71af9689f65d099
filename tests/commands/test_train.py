"""`gleaner train`: its options, its exit codes, and a folder that `gleaner models publish` takes."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from service.cli import main
from service.commands.train import add_arguments, options_of
from service.core.errors import InvalidOptions
from tests.support.label_models import HOME
from tests.support.tiny_models import make_model
from tests.support.training_data import record, write_set


def chosen(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--from", "nowhere"), "no config.json"),
        (("--from", str(HOME / "uni-token-bert")), "given its labels"),
        (("--from", str(HOME / "gliner25-boundary")), "given its labels"),
        (("--rate", "2"), "learning rate"),
        (("--epochs", "0"), "--epochs takes 1"),
        (("--left-out", "90"), "--left-out takes 0 to 50"),
        (("--minutes", "0"), "--minutes"),
        (("--kind", "WHEN"), "--kind takes LABEL=KIND, not 'WHEN'"),
        (("--kind", "WHEN=day"), "kinds are text, date, money"),
        (("--kind", "=date"), "LABEL=KIND"),
        (("--kind", "WHEN=date", "--kind", "WHEN=money"), "WHEN is both date and money"),
    ],
)
def test_a_bad_option_is_refused_with_a_sentence(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(InvalidOptions, match=words):
        options_of(chosen("a.jsonl", "--out", "o", *arguments))


def test_an_output_folder_with_a_model_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InvalidOptions, match=f"--out: {tmp_path} already holds a model.*--from {tmp_path} --out"):
        options_of(chosen("a.jsonl", "--out", str(tmp_path)))


def test_kinds_of_values_are_read_by_label() -> None:
    kinds = options_of(chosen("a.jsonl", "--out", "o", "--kind", "WHEN=date", "--kind", " A=B = text ")).kinds
    assert kinds == {"WHEN": "date", "A=B": "text"}


def test_a_trained_folder_is_published_and_bad_data_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GLEANER_MODEL_STORE", str(tmp_path / "store"))
    tiny = str(make_model(tmp_path / "tiny"))
    data = str(write_set(tmp_path / "set.jsonl", [record(number) for number in range(24)]))
    out = tmp_path / "out"
    done = main(["train", data, "--from", tiny, "--out", str(out), "--epochs", "1", "--threads", "1"])
    said = capfd.readouterr().err
    assert done == 0, said
    assert "pass 1 of 1" in said
    assert "ended: the 1 passes (--epochs) are done, and the score still rose" in said or "F1 0.000" in said
    assert f"gleaner models publish {out} NAME" in said
    assert main(["models", "publish", str(out), "own"]) == 0
    assert main(["train", str(tmp_path / "absent"), "--from", tiny, "--out", str(tmp_path / "other")]) == 1
    assert "absent cannot be read" in capfd.readouterr().err
