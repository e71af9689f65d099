"""A document's result: values are typed, rules take part where the model's folder asks for them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from service.api.engine.pending import InferenceResult
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.result import build_result, find_entities
from service.api.schemas import Options
from service.core.arrays import Logits
from service.core.decoding.entities import Entity, Source
from service.documents.document import Document
from service.text.pipeline import prepare
from service.text.tokenizer import TextTokenizer
from service.wire import ModelStatus
from tests.support.tiny_models import BERT_SPECIALS, word_piece

TEXT = "paid 03/04/2025 EUR 1,200.00 by 4111 1111 1111 1112"
LABELS = ("O", "B-DATE", "B-MONEY", "B-IBAN")


def request(folder: Path, **options: object) -> ExtractRequest:
    model = ModelStatus("m", "stable", "sha256:0", str(folder), LABELS, 512, True, 1)
    return ExtractRequest(model, Options.model_validate(options), "c", 1e9)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pad, unknown, first, last, mask = BERT_SPECIALS
    word_piece(first, pad, last, unknown, mask).save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def entity(label: str, part: str) -> Entity:
    start = TEXT.index(part)
    return Entity(label, part, start, start + len(part), 0.9)


def test_what_there_is_to_say_of_a_value_stands_beside_it(folder: Path) -> None:
    prepared = prepare(TextTokenizer(folder), TEXT, longest=512, overlap=8)
    found = [
        entity("DATE", "03/04/2025"),
        entity("MONEY", "EUR 1,200.00"),
        entity("ID_NUMBER", "4111 1111 1111 1112")._replace(source=Source.RULE),
        entity("PERSON", "by"),
    ]
    result = build_result(DocumentInput("a"), Document(TEXT), request(folder), prepared, found)
    extra = [set(msgspec.to_builtins(each)) - {"label", "text", "start", "end", "score"} for each in result.entities]
    always = {"value", "kind", "source", "page", "boxes"}
    assert extra == [always | {"ambiguous"}, always | {"number", "unit"}, always | {"valid"}, always]
    date, money, card, person = result.entities
    assert (date.value, date.kind, date.ambiguous) == ("03/04/2025", "date", ["2025-04-03", "2025-03-04"])
    assert (money.value, money.kind, money.number, money.unit) == ("1200.00 EUR", "money", "1200.00", "EUR")
    assert (card.value, card.kind, card.valid, card.source) == ("4111111111111112", "card", False, "rule")
    assert (person.value, person.kind, person.source) == ("by", "text", "model")


def found_by(folder: Path, text: str, **options: object) -> list[tuple[str, str, str]]:
    """What a model that marks nothing answers: label, text and source."""
    tokenizer = TextTokenizer(folder)
    prepared = prepare(tokenizer, text, longest=512, overlap=8)
    nothing: Logits = np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (len(prepared.tokens.ids), 1))
    found = find_entities(tokenizer, prepared, None, InferenceResult(nothing, 0, 0), request(folder, **options))
    return [(each.label, each.text, each.source) for each in found]


def test_rules_take_part_where_the_models_folder_asks_for_them(folder: Path) -> None:
    text = "mail anna@acme.example, IBAN DE89 3704 0044 0532 0130 00"
    assert found_by(folder, text) == []
    (folder / "rules.json").write_text('{"find": ["email", "iban"]}')
    account = ("IBAN", "DE89 3704 0044 0532 0130 00", "rule")
    assert found_by(folder, text) == [account]
    assert found_by(folder, text, labels=["EMAIL"]) == [("EMAIL", "anna@acme.example", "rule"), account]
    assert found_by(folder, text, aggregation="simple") == []
