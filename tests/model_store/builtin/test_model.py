"""The folder and the wheel that ship: a model like any other, small, which finds what an invoice holds."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer

from model_store.builtin import model_folder
from model_store.builtin.training.labels import LABELS, TAGS
from service.documents.document import Document
from service.engine.encoder.encoder import read_checkpoint
from service.evaluation.labelled_documents import LabelledSpan
from service.families.processor import WindowSizes
from service.families.registry import open_processor
from service.families.token_classifier.processor import TokenClassifier
from service.training.data import Cutter
from service.training.finetune import find_spans

LIMIT_BYTES = 80_000_000
INVOICE = """Northwind Trading Ltd.
12 Mill Lane
Leeds LS1 4AP
INVOICE
Invoice no.: INV-20931
Invoice date: 12/03/2026
Due date: 11/04/2026
Bill to:
Acme GmbH
Hauptstraße 5
10115 Berlin
Description Qty Unit price Amount
Office chair 2 £500.00 £1,000.00
Subtotal £1,000.00
VAT 20% £200.00
Total £1,200.00
IBAN: GB33 BUKB 2020 1555 5555 55
"""
EXPECTED = {
    ("INVOICE_ID", "INV-20931"),
    ("INVOICE_DATE", "12/03/2026"),
    ("DUE_DATE", "11/04/2026"),
    ("RECEIVER_NAME", "Acme GmbH"),
    ("NET_AMOUNT", "£1,000.00"),
    ("TAX_AMOUNT", "£200.00"),
    ("TOTAL_AMOUNT", "£1,200.00"),
    ("IBAN", "GB33 BUKB 2020 1555 5555 55"),
}


def tagged(text: str) -> list[LabelledSpan]:
    checkpoint = read_checkpoint(model_folder(), torch.float32)
    processor = open_processor(model_folder())
    assert isinstance(processor, TokenClassifier)
    cutter = Cutter(processor, TAGS, WindowSizes(checkpoint.max_tokens, overlap=128))
    return find_spans(checkpoint.model, cutter, Document(text))


def test_the_folder_is_small_and_holds_all_its_parts() -> None:
    names = {path.name for path in model_folder().iterdir()}
    assert {"config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"} <= names
    assert {"README.md", "NOTICE", "golden.jsonl", "provenance.json"} <= names
    assert sum(path.stat().st_size for path in model_folder().iterdir()) < LIMIT_BYTES


def test_it_loads_with_the_auto_classes_and_has_the_scheme() -> None:
    tokenizer = AutoTokenizer.from_pretrained(model_folder())
    model = AutoModelForTokenClassification.from_pretrained(model_folder())
    assert tokenizer.is_fast
    assert tokenizer.model_max_length == model.config.max_position_embeddings == 512
    assert model.config.id2label == dict(enumerate(TAGS))
    assert len(TAGS) == 2 * len(LABELS) + 1
    with torch.inference_mode():
        encoded = tokenizer("Invoice 7\nAcme", return_tensors="pt")
        logits = model.float()(**encoded).logits
    assert logits.shape == (*encoded["input_ids"].shape, len(TAGS))
    assert bool(logits.isfinite().all())


def test_the_tokenizer_sees_line_ends_and_leaves_length_to_its_caller() -> None:
    tokenizer = AutoTokenizer.from_pretrained(model_folder())
    encoding = tokenizer("Acme\n20931\t=======", add_special_tokens=False, return_offsets_mapping=True)
    assert tokenizer.convert_ids_to_tokens(encoding["input_ids"])[-6:] == ["▁⏎", "▁20", "93", "1", "▁⇥", "▁==="]
    assert encoding["offset_mapping"][-6:] == [(4, 5), (5, 7), (7, 9), (9, 10), (10, 11), (11, 14)]
    content = json.loads((model_folder() / "tokenizer.json").read_text(encoding="utf-8"))
    assert content["truncation"] is None
    assert content["padding"] is None


def test_it_reads_an_invoice() -> None:
    found = {(span.label, INVOICE[span.start : span.end]) for span in tagged(INVOICE)}
    missed = EXPECTED - found
    assert len(missed) <= 1, f"missed {sorted(missed)}, found {sorted(map(str, found))}"


@pytest.mark.parametrize("text", ["", " ", "\n", "\u200b", "\U0001f600" * 3, "a" * 2000])
def test_it_survives_odd_texts(text: str) -> None:
    for start, end, label, _ in tagged(text):
        assert 0 <= start < end <= len(text)
        assert label in LABELS


ROOT = Path(__file__).parents[3]
TOPS = ("service", "model_store", "infra", "loadtest")
TRAINING = "model_store.builtin.training"


def packages() -> set[str]:
    """Every package of the repository, dotted."""
    folders = (path.parent for top in TOPS for path in (ROOT / top).rglob("__init__.py"))
    return {".".join(folder.relative_to(ROOT).parts) for folder in folders}


def shipped() -> set[str]:
    """The packages of the wheel, by the rules of setuptools."""
    find = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]

    def matches(package: str, kind: str) -> bool:
        return any(fnmatchcase(package, pattern) for pattern in find[kind])

    return {package for package in packages() if matches(package, "include") and not matches(package, "exclude")}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_wheel_holds_the_product_without_the_training() -> None:
    left_out = packages() - shipped()
    assert TRAINING in left_out
    assert all(package.startswith((TRAINING, "infra", "loadtest")) for package in left_out)


def test_no_shipped_module_imports_the_training() -> None:
    for package in shipped():
        for path in (ROOT / package.replace(".", "/")).glob("*.py"):
            assert not any(module.startswith(TRAINING) for module in imported(path)), path
