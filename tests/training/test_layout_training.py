"""Trainings on pages: places of words are learned, folders are read back, and a text encoder becomes a LayoutLM."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.core.arrays import BOXED
from service.documents.document import Document
from service.engine.encoder.encoder import read_checkpoint
from service.evaluation.labelled_documents import read_sets
from service.families.processor import WindowSizes
from service.families.registry import open_processor
from service.families.token_classifier.processor import TokenClassifier
from service.training.data import IGNORED, Cutter, Example, TrainingSet, split
from service.training.finetune import ALL, find_spans, score_folder, train
from service.training.layout_model import COORDINATES, layout_model, waves
from service.training.model import open_base
from service.training.options import UnusableBase
from tests.support.labelled_pages import paged_records
from tests.support.tiny_models import make_model
from tests.support.training_data import record, training_options, write_set

options = partial(training_options, epochs=20)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_set(tmp_path_factory.mktemp("data") / "pages.jsonl", paged_records(80))


@pytest.mark.parametrize(
    ("kind", "layers", "changes"),
    [("layoutlm", 1, {}), ("lilt", 1, {}), ("bros", 2, {"rate": 1e-3, "epochs": 80, "patience": 80})],
)
def test_places_of_words_are_learned_and_the_folder_is_read_back(
    kind: str, layers: int, changes: dict[str, Any], data: Path, tmp_path: Path
) -> None:
    """By their text alone half of the names are found."""
    out = tmp_path / "out"
    scores = train(options(make_model(tmp_path / kind, kind, layers=layers), out, data, **changes))
    assert scores is not None
    assert scores[ALL].f1 > 0.75
    (left_out,) = split(read_sets([data]), left_out_percent=15)[1]
    assert score_folder(out, [TrainingSet(left_out.documents, left_out.labels)]) == scores
    assert publish(out, "own", Store(tmp_path / "store")).revision.name == "own"
    assert not _decoding(out).get("text_without_boxes")


def test_a_text_encoder_becomes_a_layoutlm_that_reads_pages_and_texts(data: Path, tmp_path: Path) -> None:
    texts = write_set(tmp_path / "texts.jsonl", [record(number) for number in range(40)])
    out = tmp_path / "out"
    base = make_model(tmp_path / "tiny", hidden=64, layers=1)
    scores = train(options(base, out, data, texts, layout=True, epochs=20, patience=20))
    assert scores is not None
    assert min(scores["SENDER"].f1, scores["RECEIVER"].f1) > 0.8
    assert json.loads((out / "config.json").read_text())["model_type"] == "layoutlm"
    assert json.loads((out / "tokenizer_config.json").read_text())["sep_token_box"] == [1000] * 4
    assert _decoding(out) == {"text_without_boxes": True}
    found = find_spans(*_served(out), Document(record(1)["text"]))
    assert "INVOICE_ID" in {span.label for span in found}


def _decoding(folder: Path) -> dict[str, object]:
    file = folder / "decoding.json"
    content: dict[str, object] = json.loads(file.read_text()) if file.exists() else {}
    return content


def _served(folder: Path, longest: int = 512) -> tuple[torch.nn.Module, Cutter]:
    checkpoint, processor = read_checkpoint(folder, torch.float32), open_processor(folder)
    assert isinstance(processor, TokenClassifier)
    return checkpoint.model, Cutter(processor, checkpoint.labels, WindowSizes(longest, 4), checkpoint.page)


def test_an_encoder_that_knows_line_ends_goes_on_reading_them(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    train(options(make_model(tmp_path / "tiny", "roberta"), out, data, layout=True, epochs=1))
    assert _decoding(out) == {"layout_tokens": "text"}
    _, cutter = _served(out)
    assert cutter.prepared(read_sets([data])[0].documents[0].document).tokens.words is None


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_without_boxes_a_new_layoutlm_scores_as_its_encoder(kind: str, tmp_path: Path) -> None:
    encoder = read_checkpoint(make_model(tmp_path / kind, kind), torch.float32).model
    ids = torch.tensor([[5, 6, 7, 8, 9]])
    with torch.inference_mode():
        expected = encoder(input_ids=ids).logits
        made = layout_model(encoder).eval()
        blind, near = (made(input_ids=ids, bbox=box.expand(1, 5, 4)).logits for box in
                       (torch.tensor([0, 0, 0, 0]), torch.tensor([100, 200, 300, 220])))  # fmt: skip
    assert torch.allclose(blind, expected, atol=1e-5)
    assert 1e-3 < float((near - expected).abs().max()) < float(expected.abs().max())


def test_neighbouring_coordinates_begin_alike() -> None:
    table = waves(64, 0.02, seed=0)
    assert table.shape == (COORDINATES, 64)
    assert not table[0].any()
    assert float(table.std()) == pytest.approx(0.02, rel=0.01)
    near, far = (float((table[400] - table[other]).norm()) for other in (401, 700))
    assert near < far / 4


@pytest.mark.parametrize(
    ("kind", "layout", "words"),
    [("layoutlm", True, "sees boxes already"), ("distilbert", True, "the base is of distilbert")],
)
def test_a_base_that_does_not_fit_is_refused(tmp_path: Path, kind: str, layout: bool, words: str) -> None:
    with pytest.raises(UnusableBase, match=words):
        open_base(make_model(tmp_path / kind, kind), {"A"}, layout=layout)


def test_a_base_that_needs_pictures_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "layoutlmv3"}))
    with pytest.raises(UnusableBase, match="sees pictures of pages"):
        open_base(tmp_path, {"A"})


def test_windows_stay_on_their_page_and_first_tokens_have_the_tags(tmp_path: Path) -> None:
    pages = [
        {"width": 200, "height": 100, "words": [{"text": text, "box": [9, 9, 99, 19]} for text in line.split()]}
        for line in ("from zoe to: total", "rm9 paid")
    ]
    entities = [
        {"page": 1, "words": [1, 3], "label": "SENDER"},
        {"start": len("from zoe to: total\n\nrm"), "end": len("from zoe to: total\n\nrm9"), "label": "SUM"},
    ]
    path = write_set(tmp_path / "a.jsonl", [{"pages": pages, "entities": entities}])
    (document,) = read_sets([path])[0].documents
    tags = ("O", "B-SENDER", "I-SENDER", "B-SUM", "I-SUM")
    _, cutter = _served(make_model(tmp_path / "tiny", "layoutlm", labels=tags))
    first, second = cutter.examples([TrainingSet((document,), frozenset({"SENDER", "SUM"}))])

    def tagged(example: Example) -> list[str]:
        """From the pieces of words: `from z ##o ##e to : total`."""
        return ["" if tag == IGNORED else tags[tag] for tag in example.tags.tolist()[1:-1]]

    assert tagged(first) == ["O", "B-SENDER", "", "", "I-SENDER", "", "O"]
    assert tagged(second)[:3] == ["B-SUM", "", ""]
    assert tagged(second)[3] == "O"
    assert first.sequence.shape == (9, BOXED)


def test_pages_for_a_text_model_are_read_as_text(data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        train(options(make_model(tmp_path / "tiny"), tmp_path / "out", data, epochs=1))
    assert any("--layout adds boxes" in line for line in caplog.messages)
