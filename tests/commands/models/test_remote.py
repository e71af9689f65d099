"""Publish, pull, list, roll back and clean up, from the command line, with a remote store in a folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from model_store.local.in_use import in_use
from model_store.local.layout import Layout
from service.cli import main
from tests.support.model_folders import write_model

Shown = pytest.CaptureFixture[str]
Publish = Callable[..., str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store and a remote store of our own, by the settings."""
    monkeypatch.setenv("GLEANER_MODEL_STORE", str(tmp_path / "here"))
    monkeypatch.setenv("GLEANER_MODEL_REMOTE", (tmp_path / "remote").as_uri())
    return tmp_path / "here"


def gleaner(*arguments: object) -> int:
    return main(["models", *map(str, arguments)])


@pytest.fixture
def publish(tmp_path: Path, capsys: Shown) -> Publish:
    """Publish a model whose one shard holds this text; its revision."""

    def publish(text: str, *options: object) -> str:
        folder = write_model(tmp_path / f"model-{text}", {"model.safetensors": text.encode() * 50_000})
        assert gleaner("publish", folder, "cv", *options) == 0
        return str(re.findall("sha256:[0-9a-f]{64}", capsys.readouterr().out)[0])

    return publish


def test_what_one_machine_publishes_another_one_pulls(publish: Publish, tmp_path: Path, capsys: Shown) -> None:
    revision = publish("one", "--base-model", "bert", "--data", "invoices v3", "--commit", "abc")
    assert gleaner("pull", "cv", "--store", tmp_path / "there") == 0
    said = capsys.readouterr().out
    assert revision in said
    assert re.search(r"[\d,]+ bytes fetched, 0 were here", said)
    assert gleaner("pull", "cv", "--store", tmp_path / "there") == 0
    assert " 0 bytes fetched" in capsys.readouterr().out
    assert gleaner("verify", "cv", "--store", tmp_path / "there") == 0
    manifest = next((tmp_path / "there" / "manifests" / "sha256").iterdir()).read_text()
    assert '"provenance":{"base_model":"bert","commit":"abc","data":"invoices v3"}' in manifest


def test_publishing_says_what_was_uploaded_and_what_was_there(publish: Publish, tmp_path: Path, capsys: Shown) -> None:
    publish("one")
    assert gleaner("publish", tmp_path / "model-one", "cv") == 0
    assert "nothing was uploaded" in capsys.readouterr().out
    assert gleaner("publish", tmp_path / "model-one", "cv", "--tag", "candidate") == 0
    assert re.search(r"cv@candidate is .*: 0 bytes uploaded, [\d,]+ were there", capsys.readouterr().out)


def test_the_list_says_where_each_revision_is_and_what_it_shares(
    publish: Publish, tmp_path: Path, capsys: Shown
) -> None:
    one, two = publish("one"), publish("two")
    gleaner("pull", f"cv@{one}", "--store", tmp_path / "there")
    capsys.readouterr()
    assert gleaner("list", "--store", tmp_path / "there") == 0
    lines = {word: line for line in capsys.readouterr().out.splitlines() for word in line.split() if "sha256" in word}
    assert "here, remote" in lines[one]
    assert re.search(r"stable\s+.*\bremote", lines[two])
    assert "here" not in lines[two]


def test_rolling_back_moves_the_tag_everywhere_and_says_the_way_forward(publish: Publish, capsys: Shown) -> None:
    one, two, three = publish("one"), publish("two"), publish("three")
    assert gleaner("rollback", "cv") == 0
    said = capsys.readouterr().out
    assert f"cv@stable is {two} again" in said
    assert f"gleaner models rollback cv --to {three}" in said
    assert gleaner("rollback", "cv") == 0
    assert f"cv@stable is {one} again" in capsys.readouterr().out
    assert gleaner("pull", "cv") == 0
    assert one in capsys.readouterr().out
    assert gleaner("rollback", "cv") == 1
    assert "there is no way back" in capsys.readouterr().err
    assert gleaner("rollback", "cv", "--to", three) == 0
    assert gleaner("rollback", "cv@candidate") == 1
    assert gleaner("rollback", f"cv@{one}") == 1


def test_rolling_back_works_without_a_remote_store(publish: Publish, capsys: Shown) -> None:
    one, _ = publish("one", "--remote", ""), publish("two", "--remote", "")
    assert gleaner("rollback", "cv", "--remote", "") == 0
    assert f"cv@stable is {one} again" in capsys.readouterr().out
    assert gleaner("verify", "cv") == 0


def test_a_clean_up_keeps_tags_their_last_revisions_and_what_is_in_use(
    publish: Publish, here: Path, capsys: Shown
) -> None:
    revisions = [publish(text) for text in ("one", "two", "three", "four")]
    with in_use(Layout(here), revisions[0]):
        assert gleaner("gc", "--keep", "1") == 0
        said = capsys.readouterr().out
    assert f"gone: {revisions[1]}" in said
    assert said.count("gone:") == 1
    assert gleaner("gc", "--keep", "1") == 0
    assert f"gone: {revisions[0]}" in capsys.readouterr().out
    assert gleaner("verify") == 0


def test_a_clean_up_frees_down_to_a_budget_and_says_when_it_cannot(publish: Publish, here: Path, capsys: Shown) -> None:
    for text in ("one", "two", "three"):
        publish(text)
    assert gleaner("gc", "--keep", "0", "--budget", "450KB") == 0
    assert capsys.readouterr().out.count("gone:") == 1
    assert gleaner("gc", "--keep", "0", "--budget", "1KB") == 1
    assert "all that is left is tagged, recent or in use" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        gleaner("gc", "--budget", "much")


def test_a_publish_that_cannot_reach_the_remote_store_moves_no_tag(
    tmp_path: Path, here: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "remote").write_text("no folder")
    folder = write_model(tmp_path / "model")
    assert gleaner("publish", folder, "cv") == 1
    assert "gleaner: The remote store" in capsys.readouterr().err
    assert not Layout(here).tag("cv", "stable").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pull", "cv"), "is not there"),
        (("pull", "cv", "--remote", ""), "nowhere to pull from"),
        (("pull", "cv", "--remote", "ftp://x"), "is no remote store"),
        (("pull", "cv", "--remote", "s3://b?style=path"), "only ?addressing="),
        (("rollback", "cv", "--to", "sha256:1"), "is no revision"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(capsys: Shown, arguments: tuple[str, ...], words: str) -> None:
    assert gleaner(*arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("gleaner: ")
    assert words in error
    assert error.count("\n") == 1
