"""`gleaner models` with a bucket: what works, and what is one sentence and exit code 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadtest.s3.fault_proxy import Answer, Fault
from service.cli import main
from tests.s3.conftest import Bucket
from tests.support.model_folders import write_model

Shown = pytest.CaptureFixture[str]


@pytest.fixture
def remote(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> str:
    """The settings name a bucket, and small waits are not a setting: only refusals are tried here."""
    monkeypatch.setenv("GLEANER_MODEL_REMOTE", bucket.url)
    return bucket.url


@pytest.mark.usefixtures("remote")
def test_a_model_goes_into_a_bucket_and_comes_out_of_it_elsewhere(tmp_path: Path, capsys: Shown) -> None:
    folder = write_model(tmp_path / "model")
    assert main(["models", "publish", str(folder), "cv", "--store", str(tmp_path / "here")]) == 0
    assert main(["models", "pull", "cv", "--store", str(tmp_path / "there")]) == 0
    assert main(["models", "list", "--store", str(tmp_path / "there")]) == 0
    assert "here, remote" in capsys.readouterr().out


@pytest.mark.usefixtures("remote")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Answer(400, "ExpiredToken"), "does not accept the credentials (ExpiredToken"),
        (Answer(403), "refuses access (AccessDenied"),
        (Answer(404, "NoSuchBucket"), "The bucket of the remote store"),
    ],
    ids=lambda value: str(value),
)
def test_what_the_server_refuses_is_one_sentence(
    bucket: Bucket, tmp_path: Path, capsys: Shown, fault: Fault, words: str
) -> None:
    bucket.proxy.choose = lambda _request: fault
    assert main(["models", "pull", "cv", "--store", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("gleaner: The ")
    assert words in error
    assert error.count("\n") == 1


def test_a_bucket_that_vanished_is_one_sentence(bucket: Bucket, tmp_path: Path, capsys: Shown) -> None:
    assert main(["models", "pull", "cv", "--store", str(tmp_path), "--remote", "s3://vanished/models"]) == 1
    assert "The bucket of the remote store s3://vanished/models is not there." in capsys.readouterr().err
