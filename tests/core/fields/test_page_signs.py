"""Signs of pages: the heading, the numbers and the sums that tell to which paper a page belongs."""

from __future__ import annotations

import pytest

from service.core.decoding.entities import Entity
from service.core.fields.kinds import PaperKind
from service.core.fields.page_signs import Pages, PageSigns


def signs(text: str, *marked: tuple[str, str]) -> PageSigns:
    entities = [Entity(label, part, text.index(part), text.index(part) + len(part), 0.9) for label, part in marked]
    return Pages(text, entities).signs(0, len(text))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Rechnung Nr. A-5 vom 15.09.2019", {"a5"}),
        ("Invoice no. A-5\nDelivery note 77", {"a5"}),
        ("Rechnung 2019", set()),
        ("Rechnung Nr. A-5\t50,00", set()),
        ("abzgl. Abschlagsrechnung Nr. A-5", set()),
        ("Invoice\nYour contract C-7", set()),
    ],
)
def test_a_number_on_the_line_of_a_heading_or_called_a_bills(text: str, numbers: set[str]) -> None:
    assert signs(text).numbers == numbers


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("INVOICE", PaperKind.INVOICE),
        ("Delivery note 7\nINVOICE", PaperKind.INVOICE),
        ("DELIVERY NOTE", PaperKind.DELIVERY_NOTE),
        ("Delivery note 7", None),
        ("Dear Anna", None),
    ],
)
def test_the_kind_of_a_page_is_that_of_its_heaviest_heading(text: str, kind: PaperKind | None) -> None:
    assert signs(text).kind is kind


def test_a_paper_that_bills_refer_to_has_a_party_at_its_top() -> None:
    assert signs("Acme\nDelivery note 7", ("ORGANIZATION", "Acme")).kind is PaperKind.DELIVERY_NOTE


def test_parties_sums_and_the_printed_page() -> None:
    found = signs("Acme\nPage 2 of 3\nTotal 10.00", ("ORGANIZATION", "Acme"), ("TOTAL_AMOUNT", "10.00"))
    assert (found.parties, found.totals) == (frozenset(("acme",)), frozenset(("1000",)))
    assert (found.printed, found.has_date) == (2, False)


def test_the_signs_of_two_parts_join() -> None:
    joined = signs("INVOICE no. A-1").joined(signs("Total 10.00", ("TOTAL_AMOUNT", "10.00")))
    assert (joined.kind, joined.printed) == (PaperKind.INVOICE, 2)
    assert (joined.numbers, joined.totals) == (frozenset(("a1",)), frozenset(("1000",)))
