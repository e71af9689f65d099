"""The training of the built-in model: its mix of sets, and a short training of a tiny model from end to end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from model_store.builtin.training.__main__ import main
from model_store.builtin.training.augmentation import with_other_values
from model_store.builtin.training.labels import TAGS
from model_store.builtin.training.mixture import PAGES, assemble, mixed, read_public_sets
from model_store.builtin.training.pages.lexicon import lexicons
from service.documents.words import words_between_spaces
from service.engine.encoder.encoder import read_checkpoint
from service.evaluation.labelled_documents import LabelledDocument, LabelledSet, LabelledSpan
from service.text.tokenizer import TextTokenizer
from tests.support.tiny_models import make_model

MAPPING = {"STREET": "ADDRESS", "TOWN": "ADDRESS", "TOTAL": "TOTAL_AMOUNT", "NOTE": None}
TEXT = "1 Road\n10 Town, total 12.50 €, see note"
MARKS = ((0, 6, "STREET"), (7, 14, "TOWN"), (22, 27, "TOTAL"), (35, 39, "NOTE"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one set of 20 groups."""
    entities = [{"start": start, "end": end, "label": label} for start, end, label in MARKS]
    records = [{"text": f"{TEXT} {number}", "group": f"g{number}", "entities": entities} for number in range(20)]
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "invoice_zugferd_de_fr.jsonl").write_text("\n".join(map(json.dumps, records)))
    scheme = {"map": {"invoice_zugferd_de_fr": MAPPING}, "coarse_parent": {}}
    (tmp_path / "MAPPING.json").write_text(json.dumps(scheme))
    return tmp_path


def test_public_sets_are_read_by_the_conventions_of_evaluation(data: Path) -> None:
    (labelled,) = read_public_sets(data)
    document = labelled.documents[0]
    found = [(document.text[span.start : span.end], span.label) for span in document.spans]
    assert found == [("1 Road\n10 Town", "ADDRESS"), ("12.50 €", "TOTAL_AMOUNT")]
    assert document.unmapped == ((35, 39),)


def test_no_group_and_no_page_structure_is_on_both_sides(data: Path) -> None:
    training, held_out = assemble(data, pages=150, seed=1)
    assert set(training) == set(held_out) == {PAGES, "invoice_zugferd_de_fr"}
    for name, each in training.items():
        assert not {d.group for d in each.documents} & {d.group for d in held_out[name].documents}
    assert len(training["invoice_zugferd_de_fr"].documents) == 16 * training["invoice_zugferd_de_fr"].groups


def test_a_pass_holds_each_set_by_its_weight() -> None:
    def one_set(name: str, count: int) -> LabelledSet:
        documents = tuple(LabelledDocument(str(number), "x" * 10, (), str(number)) for number in range(count))
        return LabelledSet(name, documents, frozenset({"PERSON"}))

    sets = {"large": one_set("large", 90), "small": one_set("small", 10), "unknown": one_set("unknown", 5)}
    large, small, unknown = mixed(sets, {"large": 3.0, "small": 1.0}, seed=1)
    assert len(large.documents) == len({each.id for each in large.documents}) == 90
    assert len(small.documents) == 30
    assert len({each.id for each in small.documents}) == 10
    assert unknown.documents == ()


def test_variants_keep_the_layout_and_their_spans_fit() -> None:
    spans = (LabelledSpan(0, 9, "PERSON"), LabelledSpan(11, 16, "TOTAL_AMOUNT"), LabelledSpan(19, 28, "PERSON"))
    document = LabelledDocument("0", "Anna Lind: 12.50 | Anna Lind", spans, "g")
    changed = 0
    for seed in range(20):
        variant = with_other_values(Random(seed), document, lexicons("en")[0])
        parts = [variant.text[span.start : span.end] for span in variant.spans]
        assert parts[0] == parts[2]
        assert variant.text == f"{parts[0]}: {parts[1]} | {parts[2]}"
        changed += parts[0] != "Anna Lind"
    assert changed > 10


def test_boxes_of_a_set_go_with_its_texts_and_their_variants(data: Path) -> None:
    records = [json.loads(line) for line in (data / "train" / "invoice_zugferd_de_fr.jsonl").read_text().splitlines()]
    for number, each in enumerate(records):
        each["id"] = str(number)
    (data / "train" / "invoice_zugferd_de_fr.jsonl").write_text("\n".join(map(json.dumps, records)))
    places = [match.span() for match in re.finditer(r"\S+", records[0]["text"])]
    words = [[start, end, 10 * start, 20, 10 * end, 30] for start, end in places]
    boxes = [{"id": name, "width": 800, "height": 99, "words": part} for name, part in (("0", words), ("1", words[:3]))]
    (data / "boxes").mkdir()
    (data / "boxes" / "invoice_zugferd_de_fr.jsonl").write_text("\n".join(map(json.dumps, boxes)))
    first, second, third, *_ = read_public_sets(data)[0].documents
    assert second.placed is third.placed is None
    assert first.placed is not None
    found = words_between_spaces(first.placed)
    assert found is not None
    assert found.boxes.round().tolist() == [[left, top, right, bottom] for _, _, left, top, right, bottom in words]
    variant = with_other_values(Random(3), first, lexicons("en")[0])
    assert variant.text != first.text
    assert variant.placed is not None
    assert variant.placed.text == variant.text
    moved = words_between_spaces(variant.placed)
    assert moved is not None
    last, changed = found.boxes[-1], moved.boxes
    assert changed[-1].tolist() == last.tolist()
    assert changed[:, ::2].min() == 0
    assert not np.isnan(changed).any()


@pytest.mark.parametrize("more", [(), ("--layout",)])
def test_a_short_training_ends_with_a_folder_that_can_be_served(
    data: Path, tmp_path: Path, more: tuple[str, ...]
) -> None:
    start, out = make_model(tmp_path / "tiny", labels=TAGS, layers=1), tmp_path / "out"
    arguments = ["--data", str(data), "--out", str(out), "--from", str(start), "--pages", "10", "--passes", "1"]
    assert main([*arguments, "--threads", "1", "--device", "cpu", "--minutes", "1", *more]) == 0
    assert read_checkpoint(out, torch.float32).labels == TAGS
    tokenizer = TextTokenizer(out)
    assert tokenizer.decoding.transitions is not None
    assert tokenizer.decoding.text_without_boxes is bool(more)
    assert {"NOTICE", "provenance.json", "rules.json"} <= {path.name for path in out.iterdir()}
    assert not (out / "start").exists()
    before, after = (load_file(folder / "model.safetensors")["classifier.weight"] for folder in (start, out))
    assert not torch.allclose(before.float(), after.float(), atol=1e-3)
