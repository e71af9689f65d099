"""A document in the console: its boxes, entities, fields and text, in a real browser."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from decimal import Decimal

import httpx
import numpy as np
import pypdfium2
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.support import console_documents as documents
from tests.support.browser import opened
from tests.support.console_page import DONE, ENTITIES, drop, entities, numbers, sample
from tests.support.document_files import simple_docx
from tests.support.electronic_invoices import Bill, hybrid
from tests.support.service import Service

TEXT = "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00. Contact: Jane Doe, jane@acme.example. "


def text_under(data: bytes, box: list[float]) -> str:
    """The characters that pdfium itself finds in a box of the first page, without white space."""
    document = pypdfium2.PdfDocument(data)
    page = document[0]
    height = page.get_height()
    left, top, right, bottom = box
    found = page.get_textpage().get_text_bounded(left - 1, height - bottom - 1, right + 1, height - top + 1)
    document.close()
    return re.sub(r"\s", "", found)


def test_boxes_lie_where_the_words_are(page: Page) -> None:
    with page.expect_response(re.compile("/console/picture")) as drawn:
        found = entities(page, "invoice.pdf")
    shown = page.evaluate("""() => {
        const image = document.querySelector(".sheet img"), frame = image.getBoundingClientRect();
        return [...document.querySelectorAll(".box")].map((box) => {
            const at = box.getBoundingClientRect();
            const across = (x) => (x - frame.left) / frame.width, down = (y) => (y - frame.top) / frame.height;
            return [Number(box.dataset.entity), across(at.left), down(at.top), across(at.right), down(at.bottom)];
        });
    }""")
    assert {each[0] for each in shown} == set(range(len(found["entities"])))
    assert len(shown) > 20
    invoice = documents.sample("invoice.pdf")
    picture = httpx.post(drawn.value.url, content=invoice, timeout=240.0).raise_for_status().content
    ink = np.asarray(Image.open(io.BytesIO(picture)).convert("L")) < 140
    high, wide = ink.shape
    for index, left, top, right, bottom in shown:
        entity = found["entities"][index]
        inside = ink[round(top * high) : round(bottom * high), round(left * wide) : round(right * wide)]
        assert inside.mean() > 0.02, f"no ink under {entity['text']}"
        edges = (inside[:1].mean(), inside[-1:].mean())
        assert max(edges) < 0.35, f"the box of {entity['text']} cuts through letters"
        points = [left * 595.28, top * 841.89, right * 595.28, bottom * 841.89]
        if len(entity["boxes"]) == 1:
            assert re.sub(r"\s", "", entity["text"]) in text_under(invoice, points)


def test_list_and_boxes_show_each_other(page: Page) -> None:
    entities(page, "invoice.pdf")
    page.hover('.entity[data-entity="3"]')
    assert numbers(page, ".box.on") == {3}
    page.hover('.box[data-entity="5"]')
    assert numbers(page, ".entity.on") == {5}
    assert page.inner_text(".tip")
    page.click('.box[data-entity="7"]')
    assert numbers(page, ".entity.chosen") == {7}


def test_filters_by_label_score_and_words_hold_for_list_and_boxes(page: Page) -> None:
    found = entities(page, "invoice.pdf")["entities"]
    everything = set(range(len(found)))
    money = {n for n, each in enumerate(found) if each["label"] == "MONEY"}
    page.click('.chip[data-label="MONEY"]')
    assert numbers(page, ".entity") == numbers(page, ".box") == everything - money
    page.click('.chip[data-label="MONEY"]', modifiers=["Shift"])
    assert numbers(page, ".entity") == numbers(page, ".box") == money
    page.click('.chip[data-label="MONEY"]', modifiers=["Shift"])
    page.fill("input[type=range]", "0.95")
    sure = {n for n, each in enumerate(found) if each["score"] >= 0.95}
    assert numbers(page, ".entity") == numbers(page, ".box") == sure
    assert 0 < len(sure) < len(everything)
    page.fill("input[type=range]", "0")
    page.fill("input[type=search]", "finch")
    assert "Harbour & Finch" in page.inner_text(".entity")
    assert len(numbers(page, ".entity")) < 4
    page.fill("input[type=search]", "nothing like it")
    assert page.inner_text(".entities .empty") == "No entity passes the filters."


def test_values_stand_beside_the_text_and_keys_go_through_the_list(page: Page) -> None:
    found = entities(page, "rechnung.pdf")["entities"]
    (due,) = [n for n, each in enumerate(found) if each["label"] == "DUE_DATE"]
    assert found[due]["value"] == "2026-03-19"
    assert "2026-03-19" in page.inner_text(f'.entity[data-entity="{due}"] .value')
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"
    page.focus(".entity >> nth=0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert numbers(page, ".entity:focus") == numbers(page, ".entity.on") == {2}
    page.keyboard.press("Enter")
    assert numbers(page, ".box.chosen") == {2}


def test_fields_come_first_and_lead_to_their_words(page: Page) -> None:
    found = sample(page, "invoice.pdf")
    fields = found["fields"]
    assert page.inner_text(".side > .choice [aria-pressed=true]") == f"Fields {len(fields['roles'])}"
    for filtering in (".entities", "input[type=search]", "input[type=range]", ".chips"):
        assert page.is_hidden(filtering), f"{filtering} says nothing about fields"
    shown = page.inner_text(".fields")
    for field in fields["roles"].values():
        value = f"€{Decimal(field['number']):,}" if field["kind"] == "money" else field["value"]
        assert value in shown
    assert fields["checks"][0]["holds"]
    assert "✓ net amount + tax amount = total amount" in shown
    for row in fields["line_items"]:
        assert row["description"]["text"] in shown
    total = fields["roles"]["total_amount"]
    (index,) = [n for n, each in enumerate(found["entities"]) if each["start"] == total["start"]]
    page.click('.role >> text="Total amount"')
    assert numbers(page, ".box.chosen") == {index}
    assert page.inner_text(".role.weighty").startswith("Total amount")
    assert "100 %" not in shown, "nothing that was read is certain"
    lines = page.eval_on_selector_all(
        ".fields td.number span", "nodes => nodes.map(node => node.getClientRects().length)"
    )
    assert len(lines) >= 3 * len(fields["line_items"]) - 1
    assert set(lines) == {1}, "an amount breaks into two lines"
    page.click(ENTITIES)
    assert numbers(page, ".entity.chosen") == {index}


AMOUNT = """async (given) => (await import("/console/files/dom.js")).amount(...given)"""


@pytest.mark.parametrize(
    ("number", "unit", "locale", "shown"),
    [
        ("1166.40", "GBP", "en-GB", "£1,166.40"),
        ("1166.40", "EUR", "de-DE", "1.166,40\xa0€"),
        ("-5.00", "USD", "en-US", "-$5.00"),
        ("12000", "JPY", "en-GB", "JP¥12,000"),
        ("1.250", "KWD", "en-GB", "KWD\xa01.250"),
        ("0.0375", "EUR", "en-GB", "€0.0375"),
        ("1234.5", None, "fr-FR", "1\u202f234,5"),
        ("12345678901234567890.12", "USD", "en-US", "$12,345,678,901,234,567,890.12"),
        ("3.00", "points", "en-GB", "3.00 points"),
    ],
)
def test_an_amount_is_written_as_in_its_reader_s_country(
    page: Page, number: str, unit: str | None, locale: str, shown: str
) -> None:
    assert page.evaluate(AMOUNT, [number, unit, locale]) == shown


def test_amounts_follow_the_language_of_the_browser(browser: Browser, service: Service) -> None:
    with opened(browser, service.url, locale="de-DE") as page:
        sample(page, "invoice.pdf")
        assert "2.014,67\xa0€" in page.inner_text(".role.weighty")
        assert "420,00" in page.inner_text(".fields tbody")


def test_a_field_and_its_entity_say_what_their_percentages_mean(page: Page) -> None:
    found = sample(page, "invoice.pdf")
    assert "how likely a value is right in its role" in page.inner_text(".fields")
    total = found["fields"]["roles"]["total_amount"]
    (entity,) = [each for each in found["entities"] if each["start"] == total["start"]]
    title = str(page.get_attribute(".role.weighty", "title"))
    assert f"As {entity['label']} among the entities: {round(100 * entity['score'])} %" in title
    by_place = [role for role in found["fields"]["roles"].values() if role["reason"] == "context"]
    assert page.locator('.role .tag >> text="by the words beside it"').count() == len(by_place) > 0


INVOICE_AND_NOTE = (
    "Acme GmbH\nINVOICE\nInvoice no. INV-20931\nInvoice date: 2 March 2026\nBill to: Finch Ltd\n"
    "Desk\t2\t420.00\t840.00\nNet 840.00\nVAT 20 % 168.00\nTotal EUR 1,008.00\n"
    "\fAcme GmbH\nDELIVERY NOTE DN-77120\nDate: 1 March 2026\nDesk\t2\n"
)


def test_each_paper_of_a_file_is_named_with_its_fields(page: Page) -> None:
    with page.expect_response(re.compile("/extract")) as answer:
        drop(page, "both.txt", INVOICE_AND_NOTE.encode())
    page.wait_for_selector(DONE)
    bill, note = answer.value.json()["documents"][0]["papers"]
    assert (bill["kind"], note["kind"], note["fields"]) == ("invoice", "delivery_note", None)
    names = page.eval_on_selector_all(".fields .paper h2", "nodes => nodes.map(node => node.innerText)")
    assert names == ["Invoice, “INVOICE”, in EUR", "Delivery note, “DELIVERY NOTE DN-77120”"]
    assert page.inner_text(".fields .paper >> nth=1").endswith("No bill, contract or résumé: without fields.")
    assert bill["fields"]["roles"]["total_amount"]["value"] == "1008.00 EUR"
    assert "€1,008.00" in page.inner_text(".fields .paper >> nth=0")


def test_a_page_that_says_something_else_than_its_xml_is_told_in_red(page: Page) -> None:
    stated = Bill()
    drop(page, "bill.pdf", hybrid(stated.but(total="4999.00"), stated))
    page.wait_for_selector(DONE)
    (notice,) = page.locator(".fields .notice.bad", has_text="the page says").all_inner_texts()
    assert notice.startswith("✗ Total amount: the page says")
    assert "4,999.00" in notice or "4999.00" in notice or "4.999,00" in notice
    assert f"the XML {stated.total}" in notice
    assert "as its XML states it" in page.inner_text(".fields .paper")
    assert "" not in page.locator(".fields table tbody td.number span").all_inner_texts()


BILL = """Acme GmbH, Hamburg
RECHNUNG
Rechnungsnummer: 2026-17
Rechnungsdatum: 12.03.2026
Nettobetrag 100,00 EUR
19 % MwSt 19,00 EUR
Gesamtbetrag 119,00 EUR
Anzahlung 50,00 EUR
Zahlbetrag 69,00 EUR
IBAN DE89 3704 0044 0532 0130 01
"""


def test_doubts_and_the_amount_to_pay_stand_among_the_roles(page: Page) -> None:
    drop(page, "bill.txt", BILL.encode())
    page.wait_for_selector(DONE)
    assert page.inner_text(".role .tag.bad") == "not valid"
    weighty = page.locator(".role.weighty").all_inner_texts()
    assert [each.split("\n")[0] for each in weighty] == ["Total amount", "Amount due"]
    (row,) = page.locator(".fields tbody tr").all_inner_texts()
    assert row.split() == ["19", "%", "100.00", "19.00"]
    assert "(paid amount -50.00)" in page.inner_text(".fields")
    page.click("#copy")
    page.click("[role=tab] >> text=Python")
    code = page.inner_text("dialog pre").replace('open("bill.txt", "rb").read()', repr(BILL.encode()))
    printed = run([sys.executable, "-c", code])
    assert re.search(r"^invoice amount_due 69.00 EUR 0[.][0-9]+$", printed, re.MULTILINE)


def test_a_paper_of_no_known_kind_says_so(page: Page) -> None:
    drop(page, "words.txt", b"Just a few words to Jane Doe.")
    page.wait_for_selector(DONE)
    assert page.is_visible(".entities")
    page.click(".side > .choice button >> nth=0")
    assert page.inner_text(".fields").startswith("Paper of no known kind")
    assert "No bill, contract or résumé: without fields." in page.inner_text(".fields")


def test_a_word_that_is_no_field_turns_to_the_entities(page: Page) -> None:
    sample(page, "invoice.pdf")
    page.click('.box[data-entity="1"]')
    assert numbers(page, ".entity.chosen") == {1}


@pytest.mark.parametrize(
    ("text", "has_chips"), [("Just a few words.", False), ("Ask Jane Doe.", False), (TEXT.partition("due")[2], True)]
)
def test_filters_are_there_only_where_they_part_something(page: Page, text: str, has_chips: bool) -> None:
    page.fill("#words", text)
    page.click(".paste button")
    page.wait_for_selector(DONE)
    labels = {each.split()[0] for each in page.locator(".entity .label").all_inner_texts()}
    assert bool(page.query_selector(".chips")) == (len(labels) > 1) == has_chips
    assert page.query_selector("input[type=search]") is page.query_selector("input[type=range]") is None


def test_rare_labels_are_one_click_away(page: Page) -> None:
    labels = {each["label"] for each in entities(page, "invoice.pdf")["entities"]}
    assert page.locator(".chip:visible").count() < len(labels)
    page.click(".chip.more")
    assert page.locator(".chip:visible").count() == len(labels)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (
            "a.docx",
            simple_docx("Offer to Jane Doe of Acme GmbH in Köln 🎉, 12 March 2026, jane@acme.example"),
        ),
        ("a.txt", f"🎉 {TEXT}".encode()),
        ("a.html", documents.sample("offer.html")),
    ],
)
def test_formats_without_pages_are_shown_as_marked_text(page: Page, name: str, data: bytes) -> None:
    with page.expect_response(re.compile("/extract")) as answer:
        drop(page, name, data)
    page.wait_for_selector(DONE)
    found = answer.value.json()["documents"][0]
    marks = page.eval_on_selector_all("mark", "nodes => nodes.map(node => node.textContent)")
    assert marks == [each["text"] for each in found["entities"]]
    assert page.text_content(".text") == found["text"]


def test_a_pasted_text_is_read_and_copied_as_json_curl_and_python(page: Page, service: Service) -> None:
    text = "It's from Jane Doe, jane@acme.example"
    page.fill("#words", text)
    page.click(".paste button")
    page.click("#copy")
    copied: dict[str, str] = {}
    for name in ("JSON", "curl", "Python"):
        page.click(f"[role=tab] >> text={name}")
        copied[name] = page.inner_text("dialog pre")
    assert json.loads(copied["JSON"])["documents"][0]["entities"]
    assert "text" not in json.loads(copied["JSON"])["documents"][0]
    assert f"'{service.url}/extract?fields=true'" in copied["curl"]
    assert "It'\\''s from" in copied["curl"]
    page.keyboard.press("Escape")
    by_curl = json.loads(run(["bash", "-c", copied["curl"]]))["documents"][0]
    assert by_curl["entities"] == json.loads(copied["JSON"])["documents"][0]["entities"]
    by_python = run([sys.executable, "-c", copied["Python"]]).splitlines()
    assert [line.split()[0] for line in by_python] == [each["label"] for each in by_curl["entities"]]


def run(command: list[str]) -> str:
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


COLUMNS = """Item                     Qty        Amount
Torque wrench              2    EUR 120.00
Bench vice                 1    EUR 300.00
"""
PROSE = "Jane Doe of Acme GmbH paid EUR 120.00 on 2 May 2026.\nShe lives in Bonn.   She is well.\nMore is not known.\n"


@pytest.mark.parametrize(
    ("text", "has_columns"),
    [
        (COLUMNS, True),
        (COLUMNS.replace("    ", "\t"), True),
        (PROSE, False),
        (COLUMNS + "long " * 60, False),
        ("    indented\n" * 5, False),
    ],
)
def test_columns_of_a_text_stand_below_each_other(page: Page, text: str, has_columns: bool) -> None:
    drop(page, "a.txt", text.encode())
    page.wait_for_selector(DONE)
    widths = page.evaluate("""() => {
        const node = document.querySelector(".text");
        const wide = (letter) => {
            const made = document.createElement("span");
            made.textContent = letter.repeat(20);
            node.append(made);
            const found = made.getBoundingClientRect().width;
            made.remove();
            return found;
        };
        return [wide("i"), wide("W"), getComputedStyle(node).whiteSpace];
    }""")
    assert (widths[0] == pytest.approx(widths[1]), widths[2] == "pre") == (has_columns, has_columns)


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        ("Hauptstraße 17\n50667 Köln", "Hauptstraße 17 50667 Köln", ""),
        ("EUR 1,200.00", "1200.00 EUR", ""),
        ("1.200,00 EUR", "1200.00 EUR", ""),
        ("EUR 840", "840.00 EUR", ""),
        ("DE89 3704 0044", "DE8937040044", ""),
        ("JANE DOE", "Jane Doe", ""),
        ("1,200 EUR", "1200.00 EUR", "1200.00 EUR"),
        ("-5,00 EUR", "5.00 EUR", "5.00 EUR"),
        ("12 €", "12.00 EUR", "12.00 EUR"),
        ("2 March 2026", "2026-03-02", "2026-03-02"),
        ("040 3355 1820", "+494033551820", "+494033551820"),
        ("anything", None, ""),
    ],
)
def test_a_value_is_shown_where_it_says_more_than_its_text(page: Page, text: str, value: str, shown: str) -> None:
    own = """async (entity) => (await import("/console/files/findings.js")).ownValue(entity)"""
    assert page.evaluate(own, {"text": text, "value": value}) == shown


COLOURS = """async (labels) => [...(await import("/console/files/findings.js")).coloursOf(labels)]"""


@pytest.mark.parametrize("extra", [[], ["X_RULE"]])
def test_a_label_has_its_colour_in_every_document(page: Page, service: Service, extra: list[str]) -> None:
    config = service.get("/models").json()["models"]
    for model in config:
        labels = sorted(model["entity_labels"])
        whole = dict(page.evaluate(COLOURS, labels + extra))
        assert len(set(whole.values())) == len(labels + extra), f"{model['name']}: two labels have one colour"
        assert dict(page.evaluate(COLOURS, (labels + extra)[::-1])) == whole


def test_two_documents_and_the_two_lists_agree_on_colours(page: Page) -> None:
    seen: dict[str, str] = {}
    for name in ("invoice.pdf", "rechnung.pdf", "resume.pdf", "offer.html"):
        entities(page, name)
        chips = page.eval_on_selector_all(
            ".chip[data-label]", "nodes => nodes.map(each => [each.dataset.label, each.className])"
        )
        for label, kind in chips:
            assert seen.setdefault(label, kind) == kind, f"{label} has another colour in {name}"
        page.click("#another")
    assert len(set(seen.values())) == len(seen) > 20
