"""Electronic invoices through a service with the built-in model: pages that say what their XML says, and other ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pypdfium2
import pytest

from tests.support.electronic_invoices import Bill, cii, hybrid, ubl
from tests.support.service import Service, serving

ENGLISH = Bill(supplier="Harrow & Finch Ltd", receiver="Blue Kettle Cafe LLC", number="INV-20931")


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[Service]:
    with serving(home, MODELS="documents", PARSERS=1) as service:
        yield service


def fields(service: Service, data: bytes, media_type: str = "application/pdf") -> dict[str, Any]:
    answer = httpx.post(
        f"{service.url}/extract?fields=true", content=data, headers={"Content-Type": media_type}, timeout=240.0
    )
    found: dict[str, Any] = answer.json()["documents"][0]["fields"]
    return found


@pytest.mark.parametrize("bill", [Bill(due_amount="1000"), ENGLISH, Bill(code="381")])
@pytest.mark.parametrize("write", [cii, ubl])
def test_an_xml_file_gives_every_field_and_their_places(service: Service, bill: Bill, write: Any) -> None:
    found = fields(service, write(bill), "application/xml")
    assert {name: role["source"] for name, role in found["roles"].items()} == dict.fromkeys(found["roles"], "embedded")
    assert len(found["roles"]) == 18
    assert all(role["text"] for role in found["roles"].values())
    assert found["roles"]["iban"]["valid"] is True
    assert found["embedded"]["amount_due"] == (f"{bill.due_amount}.00 EUR" if bill.due_amount else None)
    assert (found["embedded"]["file"], found["embedded"]["contradictions"]) == (None, [])
    assert [row["amount"]["value"] for row in found["line_items"]] == ["840.50 EUR", "400.00 EUR"]


@pytest.mark.parametrize("bill", [Bill(due_amount="1000"), ENGLISH, Bill(code="381", supplier="Weisser Hirsch")])
@pytest.mark.parametrize(
    ("write", "media_type"), [(cii, "xml"), (ubl, "xml"), (lambda bill: hybrid(bill, bill), "pdf")]
)
@pytest.mark.parametrize("with_fields", [True, False])
def test_no_entity_contradicts_what_the_xml_states(
    service: Service, bill: Bill, write: Any, media_type: str, *, with_fields: bool
) -> None:
    answer = httpx.post(
        f"{service.url}/extract?fields={with_fields}",
        content=write(bill),
        headers={"Content-Type": f"application/{media_type}"},
        timeout=240.0,
    )
    said = {(each["label"], each["value"].removesuffix(" EUR")) for each in answer.json()["documents"][0]["entities"]}
    sums = {("NET_AMOUNT", "1240.50"), ("TAX_AMOUNT", bill.tax), ("TOTAL_AMOUNT", bill.total)}
    expected = {("INVOICE_ID", bill.number), ("SUPPLIER_NAME", bill.supplier), ("RECEIVER_NAME", bill.receiver)} | sums
    expected |= {("INVOICE_DATE", bill.date), ("IBAN", bill.iban), ("TAX_ID", bill.tax_id)}
    assert expected <= said
    roles = {label for label, _ in expected} - {"TAX_ID"}
    assert {each for each in said if each[0] in roles} == {each for each in expected if each[0] in roles}


@pytest.mark.parametrize("bill", [Bill(), ENGLISH])
def test_a_page_that_says_the_same_contradicts_nothing(service: Service, bill: Bill) -> None:
    found = fields(service, hybrid(bill, bill))
    assert found["embedded"]["contradictions"] == []
    amounts = ("net_amount", "tax_amount", "total_amount")
    shown = ("invoice_id", "invoice_date", "supplier_name", "tax_id", "iban", "receiver_name", *amounts)
    assert [name for name in shown if not (found["roles"][name]["text"] and found["roles"][name]["boxes"])] == []
    assert found["roles"]["due_date"]["text"] == ""


@pytest.mark.parametrize("is_page", [True, False])
@pytest.mark.parametrize(
    ("role", "change"),
    [
        ("total_amount", {"total": "1746.20"}),
        ("net_amount", {"net": "1420.50"}),
        ("iban", {"iban": "DE02120300000000202051"}),
        ("invoice_id", {"number": "RE-2026-811"}),
        ("invoice_date", {"date": "2026-05-12"}),
        ("supplier_name", {"supplier": "Suedlicht Brillen AG"}),
        ("tax_id", {"tax_id": "DE111111125"}),
    ],
)
def test_a_page_that_says_something_else_is_told(
    service: Service, role: str, change: dict[str, str], *, is_page: bool
) -> None:
    other = Bill().but(**change)
    found = fields(service, hybrid(other, Bill()) if is_page else hybrid(Bill(), other))
    assert [each["role"] for each in found["embedded"]["contradictions"]] == [role]


def test_redaction_takes_the_xml_away(service: Service) -> None:
    asked = {"labels": "SUPPLIER_NAME,IBAN", "raw": "true"}
    data = hybrid(Bill(), Bill())
    answer = httpx.post(
        f"{service.url}/redact", params=asked, content=data, headers={"Content-Type": "application/pdf"}, timeout=240.0
    )
    assert answer.status_code == 200
    with pypdfium2.PdfDocument(data) as before, pypdfium2.PdfDocument(answer.content) as after:
        assert (before.count_attachments(), after.count_attachments()) == (1, 0)
    assert Bill().iban.encode() not in answer.content
    refused = httpx.post(
        f"{service.url}/redact", content=cii(Bill()), headers={"Content-Type": "application/xml"}, timeout=240.0
    )
    assert (refused.status_code, refused.json()["code"]) == (415, "unsupported_format")
