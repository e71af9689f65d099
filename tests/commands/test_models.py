"""`gleaner models publish | list | verify` with a local store."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from service.cli import main
from tests.support.tiny_models import make_model

Shown = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / "tiny")


def gleaner(*arguments: object) -> int:
    return main(["models", *map(str, arguments)])


def blobs(store: Path) -> list[Path]:
    """The stored files, largest first."""
    return sorted((path for path in store.rglob("*") if path.is_file()), key=lambda path: -path.stat().st_size)


def test_a_published_model_is_listed_and_intact(folder: Path, tmp_path: Path, capsys: Shown) -> None:
    assert gleaner("publish", folder, "cv", "--store", tmp_path, "--tag", "candidate") == 0
    said = capsys.readouterr().out
    assert "cv" in said
    assert "sha256:" in said
    assert gleaner("list", "--store", tmp_path) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("cv"))
    assert "candidate" in line
    assert "sha256:" in line
    assert gleaner("verify", "cv@candidate", "--store", tmp_path) == 0
    assert "files are whole" in capsys.readouterr().out


def test_an_option_overrides_the_store_of_the_settings(
    folder: Path, tmp_path: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLEANER_MODEL_STORE", str(tmp_path / "set"))
    assert gleaner("publish", folder, "cv") == 0
    capsys.readouterr()
    assert gleaner("list", "--store", tmp_path / "other") == 0
    assert "cv" not in capsys.readouterr().out
    assert gleaner("list") == 0
    assert "cv" in capsys.readouterr().out


def test_damage_is_reported_and_exits_1(folder: Path, tmp_path: Path, capsys: Shown) -> None:
    gleaner("publish", folder, "cv", "--store", tmp_path)
    weights = blobs(tmp_path)[0]
    weights.chmod(0o644)
    weights.write_bytes(weights.read_bytes()[:-1] + b"\xff")
    capsys.readouterr()
    assert gleaner("verify", "--store", tmp_path) == 1
    assert "corrupt" in capsys.readouterr().out
    weights.unlink()
    assert gleaner("verify", "--store", tmp_path) == 1
    assert "missing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("verify", "nobody"), "nobody"),
        (("verify", "bad name!"), "bad name!"),
        (("publish", "{folder}", "Bad Name"), "Bad Name"),
        (("publish", "{folder}", "cv", "--golden", "/nowhere"), "/nowhere"),
    ],
)
def test_an_error_is_one_line_that_names_the_argument(
    folder: Path, tmp_path: Path, capsys: Shown, arguments: tuple[str, ...], named: str
) -> None:
    assert gleaner(*(each.format(folder=folder) for each in arguments), "--store", tmp_path) == 1
    error = capsys.readouterr().err
    assert error.startswith("gleaner: ")
    assert named in error
    assert "Traceback" not in error


def test_a_folder_whose_options_change_its_tokens_is_not_published(folder: Path, tmp_path: Path, capsys: Shown) -> None:
    copy = shutil.copytree(folder, tmp_path / "model")
    options = json.loads((copy / "tokenizer_config.json").read_text())
    (copy / "tokenizer_config.json").write_text(json.dumps(options | {"additional_special_tokens": ["Jane"]}))
    assert gleaner("publish", copy, "cv", "--store", tmp_path / "store") == 1
    assert "additional_special_tokens" in capsys.readouterr().err
    assert not blobs(tmp_path / "store")
