"""`gleaner models publish | list | verify` with a local store."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from safetensors.torch import load_file, save_file

from model_store.contents.scan import scan_folder
from service.cli import main
from service.commands.model_actions import golden_examples
from service.core.errors import ModelError
from service.local_service import LocalService
from tests.support.revisions import Made, golden, make_revision
from tests.support.tiny_models import make_model

Shown = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def engine_on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what starts an engine. In float32: in bfloat16 scores of nearly the same size may change places."""
    for name, value in {"DTYPE": "float32", "DEVICE": "cpu"}.items():
        monkeypatch.setenv(f"GLEANER_{name}", value)


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
    assert f"{datetime.now(UTC):%Y-%m-}" in line, "the date of its tag"
    assert gleaner("verify", "cv@candidate", "--store", tmp_path) == 0
    assert "files are whole" in capsys.readouterr().out


@pytest.mark.parametrize("change", ["missing", "unexpected", "of another shape"])
def test_a_folder_that_would_not_load_is_refused(folder: Path, tmp_path: Path, capsys: Shown, change: str) -> None:
    own = shutil.copytree(folder, tmp_path / "own")
    weights = load_file(own / "model.safetensors")
    if change == "missing":
        del weights["bert.encoder.layer.0.output.dense.weight"]
    elif change == "unexpected":
        weights["bert.encoder.layer.0.more"] = weights["classifier.bias"].clone()
    else:
        weights |= {f"classifier.{part}": weights[f"classifier.{part}"][:3].clone() for part in ("weight", "bias")}
    save_file(weights, own / "model.safetensors", {"format": "pt"})
    assert gleaner("publish", own, "mine", "--store", tmp_path / "store") == 1
    assert f"weights {change}" in capsys.readouterr().err
    gleaner("list", "--store", tmp_path / "store")
    assert "mine" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ('{"kinds": {"PRE": "date"}}', "'PRE', a label that the model lacks; did you mean PER?"),
        ('{"kinds": {"PER": "day"}}', "the kind of 'PER' is 'day'; there are text, date"),
        ('{"find": ["fax"]}', "rules.json cannot be used"),
        ('{"kinds": {"PER": "text", "IBAN": "text"}}', "'IBAN', a label that the model lacks"),
        ('{"kinds": {"PER": "text", "IBAN": "text"}, "find": ["iban"]}', ""),
    ],
)
def test_rules_that_do_not_fit_the_model_are_refused(
    folder: Path, tmp_path: Path, capsys: Shown, rules: str, words: str
) -> None:
    own = shutil.copytree(folder, tmp_path / "own")
    (own / "rules.json").write_text(rules)
    assert gleaner("publish", own, "mine", "--store", tmp_path / "store") == bool(words)
    assert words in capsys.readouterr().err
    gleaner("list", "--store", tmp_path / "store")
    assert ("mine" in capsys.readouterr().out) is not bool(words)


@pytest.mark.parametrize(("kind", "needs"), [("bros", "needs pages"), ("layoutlmv3", "needs pages and a picture")])
def test_publishing_says_what_a_model_that_sees_pages_needs(
    tmp_path: Path, capsys: Shown, kind: str, needs: str
) -> None:
    made = make_model(tmp_path / "m", kind)
    assert gleaner("publish", made, "mine", "--store", tmp_path / "store") == 0
    assert f"input: tokens have boxes; {needs}" in capsys.readouterr().out
    config = made / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"model_type": "layoutlmv2"}))
    assert gleaner("publish", made, "other", "--store", tmp_path / "store") == 1
    assert "LayoutLMv2 reads pictures by detectron2" in capsys.readouterr().err


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


def test_a_folder_with_more_tokens_than_embeddings_is_not_published(
    folder: Path, tmp_path: Path, capsys: Shown
) -> None:
    copy = shutil.copytree(folder, tmp_path / "model")
    size = json.loads((copy / "config.json").read_text())["vocab_size"]
    tokenizer = json.loads((copy / "tokenizer.json").read_text())
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    tokenizer["added_tokens"].append({"id": size, "content": "Berlin", **flags})
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert gleaner("publish", copy, "cv", "--store", tmp_path / "store") == 1
    assert "resize_token_embeddings" in capsys.readouterr().err
    assert not blobs(tmp_path / "store")


def labelled(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, records)))
    return path


GOLD = {"text": "anna paid", "entities": [{"start": 0, "end": 4, "label": "PER"}]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_revision(tmp_path_factory.mktemp("revision"), 0)


@pytest.mark.usefixtures("engine_on_the_processor")
def test_a_file_that_trains_is_a_golden_file(made: Made, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    data = golden(made, tmp_path / "mine.jsonl")
    first, *others = map(json.loads, data.read_text().splitlines())
    like_training = {"id": "b7", "group": "acme", "lang": "en", "kind": "invoice", "fields": {"total_amount": "9"}}
    labelled(tmp_path / "more" / "a.jsonl", {**first, **like_training}, *others)
    wanted = [json.loads(line)["entities"] for line in data.read_text().splitlines()]
    read = golden_examples(data, scan_folder(made.folder))
    assert [msgspec.to_builtins(each.entities) for each in read] == [tuple(each) for each in wanted]
    store = tmp_path / "store"
    assert gleaner("publish", made.folder, "m", "--golden", tmp_path / "more", "--store", store) == 0
    (manifest,) = (store / "manifests" / "sha256").iterdir()
    assert [each["entities"] for each in json.loads(manifest.read_text())["golden"]] == wanted
    assert (store / "tags" / "m" / "stable").is_file()


def test_golden_examples_keep_their_pages(tmp_path: Path) -> None:
    record = {
        "pages": [{"width": 60, "height": 80, "words": [{"text": "anna", "box": [1, 2, 30, 12]}]}],
        "entities": [{"page": 1, "words": [0, 1], "label": "PER"}],
    }
    (tmp_path / "golden.jsonl").write_text(json.dumps(record))
    (example,) = golden_examples(tmp_path / "golden.jsonl", scan_folder(make_model(tmp_path / "tiny", "layoutlm")))
    assert (example.text, [(each.start, each.end) for each in example.entities]) == ("anna", [(0, 4)])
    assert json.loads(msgspec.json.encode(example.pages)) == record["pages"]


def assert_nothing_is_published(folder: Path) -> None:
    assert not list(folder.rglob("stable*"))
    assert not [path for kind in ("blobs", "manifests") for path in (folder / "store" / kind / "sha256").iterdir()]
    assert not list((folder / "remote").rglob("*.json"))


@pytest.mark.usefixtures("engine_on_the_processor")
def test_a_wrong_golden_example_is_found_before_anything_is_published(
    made: Made, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The command answered success, and the services found it."""
    wrong = golden(made, tmp_path / "wrong.jsonl", wrong=True)
    assert gleaner("publish", made.folder, "m", "--golden", wrong, "--store", tmp_path / "store") == 1
    said = capfd.readouterr().err
    assert "golden example 1 of 3 fails: not wanted" in said
    progress, refusal = said.splitlines()
    assert progress == "running 3 golden examples"
    assert refusal.startswith("gleaner: Nothing was published: ")
    assert_nothing_is_published(tmp_path)


def test_nothing_is_uploaded_before_the_golden_examples_are_answered(
    made: Made, tmp_path: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: LocalService) -> None:
        raise ModelError("one fails")

    monkeypatch.setattr(LocalService, "_open", fail)
    examples = golden(made, tmp_path / "golden.jsonl")
    where = ("--store", tmp_path / "store", "--remote", f"file://{tmp_path}/remote")
    assert gleaner("publish", made.folder, "m", "--golden", examples, *where) == 1
    assert "gleaner: Nothing was published: one fails" in capsys.readouterr().err
    assert_nothing_is_published(tmp_path)


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([GOLD, {"text": "anna"}], "g.jsonl, line 2: `entities` must be a list"),
        ([{"text": "anna", "entities": [{"start": 0, "end": 5, "label": "PER"}]}], "line 1"),
        ([{"text": "anna", "label": [[0, 4, "PER"]]}], "gleaner data convert"),
        ([{"text": "anna", "entities": [{"start": 0, "end": 4, "label": "PERSON"}]}], "PERSON, which the model lacks"),
    ],
)
def test_bad_golden_examples_are_refused_at_publish(
    folder: Path, tmp_path: Path, capsys: Shown, records: Sequence[dict[str, Any]], words: str
) -> None:
    data = labelled(tmp_path / "g.jsonl", *records)
    assert gleaner("publish", folder, "cv", "--golden", data, "--store", tmp_path / "store") == 1
    assert words in capsys.readouterr().err
    assert not list((tmp_path / "store").rglob("stable")), "nothing was published"


@pytest.mark.parametrize(
    ("labels", "said", "warned"),
    [
        (("O", "B-A", "I-A"), "scheme: BIO or IOB1", ""),
        (("O", "I-A", "I-C"), "scheme: IO\n", ""),
        (("O", "B_A", "I_A"), "B_A … are read as B-…", ""),
        (("0", "A-b", "A-i"), "0 is read as O", ""),
        (("O", "B_A", "I_A", "PHONE"), "scheme: plain", "B_A looks like a tag"),
        (("B-A", "I-A"), "scheme: BIO", "no label is `O`"),
        (("O", "E-MAIL"), "scheme: plain", ""),
    ],
)
def test_a_publish_says_how_tags_are_read(
    tmp_path: Path, capsys: Shown, labels: Sequence[str], said: str, warned: str
) -> None:
    made = make_model(tmp_path / "made", labels=labels)
    assert gleaner("publish", made, "cv", "--store", tmp_path / "store") == 0
    shown = capsys.readouterr()
    assert said in shown.out
    assert (warned in shown.err) if warned else not shown.err


@pytest.mark.parametrize("said", [True, False])
def test_a_publish_says_the_scheme_that_the_folder_says(tmp_path: Path, capsys: Shown, said: bool) -> None:
    made = make_model(tmp_path / "made")
    (made / "decoding.json").write_text(json.dumps({"inside_begins": said}))
    assert gleaner("publish", made, "cv", "--store", tmp_path / "store") == 0
    assert f"scheme: {'IOB1' if said else 'BIO'}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("labels", "warned"),
    [(("LABEL_0", "LABEL_1", "LABEL_2"), True), (("O", "B-LABEL", "I-LABEL"), False), (("O", "LABEL_1"), True)],
)
def test_unnamed_labels_are_warned_of(tmp_path: Path, capsys: Shown, labels: Sequence[str], warned: bool) -> None:
    made = make_model(tmp_path / "made", labels=labels)
    assert gleaner("publish", made, "cv", "--store", tmp_path / "store") == 0
    assert bool(re.search("warning: .*id2label", capsys.readouterr().err)) is warned
