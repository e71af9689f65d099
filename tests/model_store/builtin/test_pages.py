"""Generated pages: exact spans, structures and languages in number, sums that add up, templates left out."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from random import Random
from string import Formatter

import pytest
from stdnum import iban as stdnum_iban

from model_store.builtin.training.labels import LABELS
from model_store.builtin.training.pages import prose
from model_store.builtin.training.pages.__main__ import main
from model_store.builtin.training.pages.documents import KINDS, page, pages
from model_store.builtin.training.pages.facts import new_trade, tax_number
from model_store.builtin.training.pages.grammar import choose_template, is_held_out
from model_store.builtin.training.pages.identifiers import iban
from model_store.builtin.training.pages.lexicon import LANGUAGES, lexicons
from service.evaluation.labelled_documents import read_sets

FEWEST_STRUCTURES, FEWEST_LANGUAGES = 40, 20
SENTENCES = (
    *("prose", "news", "filler", "clauses", "openings", "laws", "wanted", "offers", "needs", "apply", "duties"),
    *("subjects", "salutations"),
)
PARTIES_OF_A_CONTRACT = ("party_a", "party_b", "address_a", "address_b", "effective")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_in_every_language_and_country_has_exact_spans(language: str) -> None:
    for lexicon in lexicons(language):
        for kind in KINDS:
            example = page(Random(f"{language}/{kind}"), kind=kind, lexicon=lexicon)
            position = 0
            for start, end, label, _ in example.spans:
                entity = example.text[start:end]
                assert position <= start < end <= len(example.text)
                assert entity == entity.strip()
                assert label in LABELS
                position = end
            assert "{" not in example.text, example.group


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_all_words_and_all_makers(language: str) -> None:
    lexicon = lexicons(language)[0]
    rng = Random(1)
    made = {*prose.of_world(rng, lexicon), *prose.of_trade(new_trade(rng, lexicon)), *PARTIES_OF_A_CONTRACT}
    for key in lexicons("en")[0].words:
        assert lexicon.words[key], key
    for key in SENTENCES:
        for template in lexicon.words[key]:
            assert {name for _, name, _, _ in Formatter().parse(template) if name} <= made, template


@pytest.mark.parametrize("kind", KINDS)
def test_some_structures_of_every_kind_are_left_out_of_training(kind: str) -> None:
    rng = Random(kind)
    signatures = {choose_template(rng, kind, KINDS[kind].axes).signature for _ in range(400)}
    left_out = {signature for signature in signatures if is_held_out(signature)}
    assert 0.03 < len(left_out) / len(signatures) < 0.3


def test_the_shown_sums_of_a_page_add_up() -> None:
    """Read back from the text, in a language whose amounts are read by taking marks away."""
    checked = 0
    for number in range(60):
        example = page(Random(f"sums/{number}"), kind="invoice", lexicon=lexicons("en")[0])
        found = {label: example.text[start:end] for start, end, label, _ in example.spans}
        shown = [found.get(label) for label in ("NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT")]
        if None not in shown:
            net, tax, total = (Decimal(re.sub(r"[^\d.]", "", str(amount))) for amount in shown)
            assert net + tax == total
            checked += 1
    assert checked >= 30


def test_all_labels_of_the_scheme_occur_and_some_texts_have_none() -> None:
    examples = list(pages(3, 500))
    assert {span.label for example in examples for span in example.spans} == set(LABELS)
    assert any(not example.spans for example in examples)


def test_suppliers_stand_before_and_after_receivers() -> None:
    lexicon = lexicons("de")[0]
    first, worded = set(), set()
    for number in range(80):
        example = page(Random(f"roles/{number}"), kind="invoice", lexicon=lexicon)
        roles = [span for span in example.spans if span.label in {"SUPPLIER_NAME", "RECEIVER_NAME"}]
        first.add(roles[0].label)
        before = example.text[: roles[0].start].rstrip().rstrip(":").split("\n")[-1]
        worded.add(any(before.endswith(word) for key in ("supplier", "receiver") for word in lexicon.words[key]))
    assert first == {"SUPPLIER_NAME", "RECEIVER_NAME"}
    assert worded == {True, False}


def test_a_seed_gives_the_same_pages_each_time() -> None:
    assert list(pages(7, 10)) == list(pages(7, 10))
    assert list(pages(8, 10)) != list(pages(7, 10))


def test_files_for_training_and_for_scoring_share_no_structure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "--count", "120"]) == 0
    groups = []
    for name in ("pages.jsonl", "pages_left_out.jsonl"):
        records = [json.loads(line) for line in (tmp_path / name).read_text(encoding="utf-8").splitlines()]
        groups.append({record["group"] for record in records})
        assert all(record["lang"] in LANGUAGES and record["kind"] in KINDS for record in records)
    assert groups[0]
    assert groups[1]
    assert not groups[0] & groups[1]
    assert "pages a second" in capsys.readouterr().out


@pytest.mark.parametrize("country", ["DE", "AT", "FR", "NL", "GB", "CH", "PL", "RO", "TR", "SA"])
def test_ibans_pass_their_checksum(country: str) -> None:
    for seed in range(20):
        assert stdnum_iban.is_valid(iban(Random(seed), country), check_country=False)


@pytest.mark.parametrize("module", ["fr.tva", "it.iva", "nl.btw", "br.cnpj"])
def test_tax_numbers_pass_their_checksum(module: str) -> None:
    is_valid = import_module(f"stdnum.{module}").is_valid
    for seed in range(20):
        assert is_valid(tax_number(Random(seed), module[:2].upper()))


def test_pages_with_boxes_are_read_with_their_entities(tmp_path: Path) -> None:
    assert main([str(tmp_path), "--count", "24", "--boxes"]) == 0
    (found,) = read_sets([tmp_path / "pages.jsonl"])
    placed = [document for document in found.documents if document.placed is not None]
    records = {each["id"]: each for each in map(json.loads, (tmp_path / "pages.jsonl").read_text().splitlines())}
    assert 0 < len(placed) < len(found.documents)
    for document in placed:
        given = records[document.id]
        texts = [given["text"][each["start"] : each["end"]].split() for each in given["entities"]]
        assert [document.text[span.start : span.end].split() for span in document.spans] == texts
