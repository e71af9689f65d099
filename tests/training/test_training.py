"""Trainings of tiny models: they learn, stop, go on where they were cut off, and write folders that are served."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from model_store.builtin import model_folder
from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.core.decoding.tag_scheme import scheme_of
from service.core.decoding.tokens import Encoding
from service.engine.encoder.encoder import read_checkpoint
from service.evaluation.labelled_documents import LabelledDocument, LabelledSet, LabelledSpan
from service.training.data import IGNORED, TrainingBatch
from service.training.finetune import ALL, train
from service.training.fitting import ScoredSets, fit_scored
from service.training.frozen_model import ScoredDocument, ScoredPart
from service.training.loop import CLOSED_SHARE, STATE_FILE, FineTuning, SavedState, masked_loss, rate_share
from service.training.model import open_base
from service.training.options import BadData, OtherTraining, UnusableBase
from tests.support.tiny_models import make_model
from tests.support.training_data import record, write_set
from tests.support.training_data import training_options as options

LABELS = {"O", "B-SENDER", "I-SENDER", "B-INVOICE_ID", "I-INVOICE_ID"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without dropout, so that what is drawn does not depend on where a training was cut off."""
    folder = make_model(tmp_path_factory.mktemp("base") / "tiny", hidden=64, layers=1)
    config = json.loads((folder / "config.json").read_text())
    dropout = dict.fromkeys(("hidden_dropout_prob", "attention_probs_dropout_prob"), 0.0)
    (folder / "config.json").write_text(json.dumps(config | dropout))
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_set(tmp_path_factory.mktemp("data") / "set.jsonl", [record(number) for number in range(80)])


def weights(folder: Path) -> dict[str, Tensor]:
    return load_file(folder / "model.safetensors")


def test_a_training_learns_and_its_folder_is_published(base: Path, data: Path, tmp_path: Path) -> None:
    scores = train(options(base, tmp_path / "out", data))
    assert scores is not None
    assert scores[ALL].f1 > 0.9
    model = read_checkpoint(tmp_path / "out", torch.float32).model
    assert set(model.config.id2label.values()) == LABELS
    assert not (tmp_path / "out" / STATE_FILE).exists()
    assert "| all | " in (tmp_path / "out" / "README.md").read_text()
    assert publish(tmp_path / "out", "own", Store(tmp_path / "store")).revision.name == "own"


def test_sets_of_different_labels_are_learnt_together(base: Path, tmp_path: Path) -> None:
    halves = [
        write_set(tmp_path / f"{label}.jsonl", [record(number, labels=(label,)) for number in range(first, first + 60)])
        for first, label in ((0, "SENDER"), (100, "INVOICE_ID"))
    ]
    scores = train(options(base, tmp_path / "out", *halves))
    assert scores is not None
    assert set(scores) == {"SENDER", "INVOICE_ID", ALL}
    assert min(scores["SENDER"].f1, scores["INVOICE_ID"].f1) > 0.8


class _Interrupted(FineTuning):
    """Is interrupted in its second pass, after one batch."""

    def _step(self, rows: TrainingBatch, share: float) -> Tensor:
        if (self.progress.epoch, self.progress.batch) == (1, 1):
            raise KeyboardInterrupt
        return super()._step(rows, share)


def test_a_training_that_was_cut_off_ends_with_the_same_weights(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    train(options(base, tmp_path / "whole", data, epochs=3))
    cut = options(base, tmp_path / "cut", data, epochs=3)
    with monkeypatch.context() as patched:
        patched.setattr("service.training.finetune.FineTuning", _Interrupted)
        patched.setattr("service.training.loop.SAVE_SECONDS", 0)
        with pytest.raises(KeyboardInterrupt):
            train(cut)
    assert (tmp_path / "cut" / STATE_FILE).exists()
    assert re.search(r"pass 2 of 3: batch 1 of \d+, \d+ s", caplog.text)
    train(cut)
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert whole.keys() == resumed.keys()
    assert all(torch.allclose(whole[name].float(), resumed[name].float(), atol=1e-3) for name in whole)


def test_another_training_is_not_gone_on_with(base: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    torch.save({"training": "another"}, out / STATE_FILE)
    with pytest.raises(OtherTraining, match="other data or options"):
        train(options(base, out, data))


def test_a_folder_with_a_model_is_not_overwritten(base: Path, data: Path) -> None:
    with pytest.raises(OtherTraining, match="already holds a model"):
        train(options(base, base, data))


def test_it_ends_early_when_nothing_gets_better(
    base: Path, data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        train(options(base, tmp_path / "out", data, epochs=50, patience=1, rate=1e-9))
    assert 1 <= sum(line.startswith("pass ") for line in caplog.messages) < 10
    assert "ended: the score has not risen for 1 passes" in caplog.messages


def test_a_document_whose_text_is_left_out_elsewhere_is_counted(
    base: Path, data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    copied = write_set(tmp_path / "copied.jsonl", [record(number) for number in range(80)])
    with caplog.at_level("INFO"):
        train(options(base, tmp_path / "out", data, copied, epochs=1, left_out_percent=15))
    line = next(each for each in caplog.messages if "to learn from" in each)
    learned, left_out = (
        int(each) for each in re.findall(r"^(\d+) documents|, (\d+) left out", line) for each in each if each
    )
    unused = [int(each.split()[0]) for each in caplog.messages if "used for neither" in each]
    assert learned + left_out + sum(unused) == 160


@pytest.mark.parametrize(("scores", "words"), [([0.4, 0.5], "are calibrated on"), ([0.99], "without it")])
def test_scores_are_calibrated_where_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scores: list[float], words: str
) -> None:
    """A model that is right with each entity, and as sure of it as the scores say."""
    text = "anna came"
    documents = [LabelledDocument(str(n), text, (LabelledSpan(0, 4, "WHO"),), f"g{n}") for n in range(80)]
    tags = ("O", "B-WHO", "I-WHO")

    def found(document: LabelledDocument) -> ScoredDocument:
        sure = np.log(scores[int(document.id) % len(scores)]), np.log1p(-scores[int(document.id) % len(scores)])
        logits = np.array([[sure[1] - 1, sure[0], -9], [9, -9, -9]], dtype=np.float32)
        encoding = Encoding(np.array([[0, 4], [5, 9]], dtype=np.int32), np.zeros(2, dtype=np.bool_))
        return ScoredDocument(document, (ScoredPart(encoding, logits),))

    scored = ScoredSets(
        [(LabelledSet("a", tuple(documents), frozenset({"WHO"})), [*map(found, documents)])], scheme_of(tags)
    )
    fitted = fit_scored(tmp_path, scored, lambda _: None)
    assert words in str(fitted)
    assert (tmp_path / "decoding.json").exists() is ("are calibrated" in words)
    assert fitted.error[1] <= fitted.error[0]


def test_too_few_entities_for_a_calibration_are_said(
    base: Path, data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        train(options(base, tmp_path / "out", data, epochs=1))
    assert any("not calibrated: " in line and "40 in 8 groups are enough" in line for line in caplog.messages)
    assert not (tmp_path / "out" / "decoding.json").exists()
    assert "Scores are not calibrated" in (tmp_path / "out" / "README.md").read_text()


def test_a_head_or_its_rows_for_the_same_labels_are_kept(base: Path) -> None:
    old = read_checkpoint(base, torch.float32).model
    same, is_new = open_base(base, {"PER", "ORG", "DATE"})
    assert not is_new
    assert torch.equal(same.model.classifier.weight, old.classifier.weight)
    other, is_new = open_base(base, {"ORG", "TOTAL"})
    assert is_new
    rows, before = other.model.config.label2id, old.config.label2id
    assert torch.equal(other.model.classifier.weight[rows["B-ORG"]], old.classifier.weight[before["B-ORG"]])
    assert other.model(input_ids=torch.tensor([[5, 6]])).logits.shape == (1, 2, 5)


def test_a_folder_that_is_no_classifier_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(UnusableBase, match="safetensors"):
        open_base(tmp_path, {"A"})


def test_kinds_of_values_are_written_and_those_of_the_base_are_kept(base: Path, data: Path, tmp_path: Path) -> None:
    own = shutil.copytree(base, tmp_path / "base")
    (own / "rules.json").write_text('{"find": ["email"], "kinds": {"SENDER": "text", "GONE": "date"}}')
    train(options(own, tmp_path / "out", data, epochs=1, kinds={"INVOICE_ID": "card"}))
    assert json.loads((tmp_path / "out" / "rules.json").read_text()) == {
        "kinds": {"INVOICE_ID": "card", "SENDER": "text"}
    }
    with pytest.raises(BadData, match="no label 'SENDR'; did you mean SENDER"):
        train(options(base, tmp_path / "other", data, kinds={"SENDR": "date"}))


def _loss(probabilities: list[float], tag: int, opened: list[bool]) -> float:
    logits = torch.tensor([[[math.log(each) for each in probabilities]]])
    return float(masked_loss(logits, torch.tensor([[tag]]), torch.tensor([opened])))


def test_an_open_label_costs_little_and_a_marked_one_the_whole_loss() -> None:
    closed, opened = _loss([0.2, 0.8], 0, [False, False]), _loss([0.2, 0.8], 0, [False, True])
    assert closed == pytest.approx(-math.log(0.2), rel=1e-5)
    assert opened == pytest.approx(-CLOSED_SHARE * math.log(0.2), rel=1e-5)
    assert _loss([0.2, 0.8], 1, [False, True]) == pytest.approx(-math.log(0.8), rel=1e-5)
    assert _loss([0.2, 0.8], IGNORED, [False, True]) == 0.0


def test_the_rate_rises_then_falls_to_its_floor() -> None:
    shares = [rate_share(step / 100) for step in range(101)]
    assert max(shares) == pytest.approx(1.0, abs=0.01)
    assert 0 < shares[0] < 0.1
    assert shares[-1] == pytest.approx(0.02)
    assert shares[10:] == sorted(shares[10:], reverse=True)


def test_the_rate_falls_with_the_time_allowed(base: Path, data: Path, tmp_path: Path) -> None:
    """The passes alone would leave it near its height when the time is over."""
    model = open_base(base, {"PER"})[0].model
    limited = options(base, tmp_path, data, epochs=1000, minutes=1.0)
    tuning = FineTuning(model, limited, SavedState(tmp_path, "x"), new=["classifier."])
    tuning.progress.seconds = 59.0
    assert tuning.elapsed_share(0.5) == pytest.approx(59 / 60)


def test_a_base_with_transitions_for_its_own_labels_can_be_trained(base: Path, data: Path, tmp_path: Path) -> None:
    """As the built-in model: the new labels are scored without the base's transitions, calibration and rules."""
    own = tmp_path / "base"
    shutil.copytree(base, own)
    for name in ("transitions.safetensors", "decoding.json", "rules.json"):
        shutil.copyfile(model_folder() / name, own / name)
    assert train(options(own, tmp_path / "out", data, epochs=1)) is not None
    assert not (tmp_path / "out" / "transitions.safetensors").exists()
