"""What the places of a name show of its firm: sender, address block, numbers, foot, window."""

from __future__ import annotations

import pytest

from service.core.fields.lines import TextLines
from service.core.fields.party_places import Place, firm, places_of
from service.core.fields.roles import RECEIVER, SUPPLIER
from tests.support.mentions import boxed, mention, mentions_in

NAMES = {SUPPLIER, RECEIVER, "ORGANIZATION", "PERSON"}
ACME, FINCH = ("ORGANIZATION", "Acme GmbH"), ("ORGANIZATION", "Finch Ltd")
HEAD, SENDER, BLOCK, FOOT, WINDOW = Place.LETTERHEAD, Place.SENDER, Place.BLOCK, Place.FOOT, Place.WINDOW
NUMBERED, REACHABLE = Place.NUMBERED, Place.REACHABLE
STREET = ("ADDRESS", "Quai 4\n29200 Brest")


def places(text: str, *found: tuple[str, str], called: tuple[str, ...] = ()) -> dict[str, set[Place]]:
    return {key: {*each} for key, each in places_of(mentions_in(text, *found), TextLines(text), NAMES, called).items()}


@pytest.mark.parametrize(
    ("below", "found", "expected"),
    [
        ("HRB 4711, Amtsgericht München", (), {REACHABLE}),
        ("Tel. 030 123", (("PHONE", "030 123"),), {REACHABLE}),
        ("VAT DE136695976", (("TAX_ID", "DE136695976"),), {NUMBERED}),
        ("USt-IdNr. DE136695976, IBAN DE1", (("TAX_ID", "DE136695976"), ("IBAN", "DE1")), {NUMBERED, REACHABLE}),
        ("Your VAT no. DE136695976", (("TAX_ID", "DE136695976"),), set()),
        ("USt-IdNr. des Kunden DE136695976", (("TAX_ID", "DE136695976"),), set()),
        ("Finch Ltd\nTel. 030 123", (FINCH, ("PHONE", "030 123")), set()),
        ("2 March 2026\nTel. 030 123", (("DATE", "2 March 2026"), ("PHONE", "030 123")), set()),
        ("Quai 4\t2 March 2026\nTel. 030 123", (("DATE", "2 March 2026"), ("PHONE", "030 123")), {REACHABLE}),
        ("Quai 4\tTel. 030 123", (("PHONE", "030 123"),), set()),
        ("\n" * 6 + "Tel. 030 123", (("PHONE", "030 123"),), set()),
    ],
)
def test_numbers_below_a_name_are_its_own(below: str, found: tuple[tuple[str, str], ...], expected: set[Place]) -> None:
    assert places(f"Acme GmbH\n{below}", ACME, *found)["acme"] == {HEAD} | expected


@pytest.mark.parametrize("mark", [" - ", ", ", " · ", " | ", " • ", " ● ", " – "])
def test_a_sender_shares_a_line_with_its_address(mark: str) -> None:
    text = f"Finch Ltd\nAcme GmbH{mark}Quai 4"
    assert places(text, FINCH, ACME, ("ADDRESS", "Quai 4"))["acme"] == {SENDER}
    assert places(text.replace("Acme GmbH", "Acme GmbH near"), FINCH, ACME, ("ADDRESS", "Quai 4"))["acme"] == set()


def test_a_name_above_an_address_has_a_block_unless_it_is_reached_there() -> None:
    text = "Acme GmbH\nFinch Ltd\nQuai 4\n29200 Brest"
    assert places(text, ACME, FINCH, STREET) == {"acme": {HEAD}, "finch": {BLOCK}}
    assert places(f"{text}\nTel. 1", ACME, FINCH, STREET, ("PHONE", "1"))["finch"] == {REACHABLE}


@pytest.mark.parametrize(("lines", "expected"), [(0, {BLOCK}), (1, set())])
def test_a_contact_some_lines_above_an_address_has_no_block(lines: int, expected: set[Place]) -> None:
    text = "Acme GmbH\nMax Muster\n" + "Einkauf\n" * lines + "Quai 4\n29200 Brest"
    assert places(text, ACME, ("PERSON", "Max Muster"), STREET)["maxmuster"] == expected


def test_a_firm_behind_the_amounts_is_at_the_foot_if_it_has_an_address() -> None:
    text = "Finch Ltd\nTotal 9.00\nAcme GmbH"
    amount = ("TOTAL_AMOUNT", "9.00")
    assert places(text, FINCH, amount, ACME)["acme"] == set()
    assert places(f"{text}, Quai 4", FINCH, amount, ACME, ("ADDRESS", "Quai 4"))["acme"] == {SENDER, FOOT}
    assert places(f"{text} Tel. 1", FINCH, amount, ACME, ("PHONE", "1"))["acme"] == {REACHABLE, FOOT}
    contact = text.replace("Acme GmbH", "Max Muster Tel. 1")
    assert places(contact, FINCH, amount, ("PERSON", "Max Muster"), ("PHONE", "1"))["maxmuster"] == {REACHABLE}


def test_the_first_address_is_a_window_where_another_firm_is_reached() -> None:
    text = "Finch Ltd\nQuai 4\n29200 Brest\nAcme GmbH"
    assert places(text, FINCH, STREET, ACME)["finch"] == {HEAD}
    reached = (FINCH, STREET, ACME, ("PHONE", "1"))
    assert places(f"{text}\nTel. 1", *reached)["finch"] == {BLOCK, WINDOW}
    assert places(f"{text}\nTel. 1", *reached, called=("finch",))["finch"] == {HEAD}
    numbered = "Finch Ltd\nVAT 1\nQuai 4\n29200 Brest\nAcme GmbH\nTel. 1"
    assert places(numbered, FINCH, ("TAX_ID", "1"), STREET, ACME, ("PHONE", "1"))["finch"] == {HEAD, NUMBERED}


@pytest.mark.parametrize(("url", "expected"), [("www.acmestone.example", {Place.HOST}), ("www.other.example", set())])
def test_the_web_address_is_made_of_the_sellers_name(url: str, expected: set[Place]) -> None:
    text = f"Finch Ltd\nAcme Stone GmbH\n{url}"
    found = places(text, FINCH, ("ORGANIZATION", "Acme Stone GmbH"), ("URL", url))
    assert found["acmestone"] == expected


def test_short_names_stand_in_web_addresses_by_chance() -> None:
    text = "BP AG\nwww.bpost.example"
    assert places(text, ("ORGANIZATION", "BP AG"), ("URL", "www.bpost.example")) == {"bp": {HEAD}}


@pytest.mark.parametrize("form", ["御中", " 様", "귀중"])
def test_a_form_of_address_marks_the_receiver(form: str) -> None:
    assert places(f"青空{form}", ("ORGANIZATION", "青空"))["青空"] == {HEAD, Place.ADDRESSEE}


@pytest.mark.parametrize(
    ("one", "other"), [("Acme", "ACME GmbH"), ("Acme, Inc.", "Acme"), ("Pichler e.U.", "Pichler"), ("GmbH", "gmbh")]
)
def test_a_firm_is_one_with_its_legal_form_or_without(one: str, other: str) -> None:
    assert firm(mention(0, "ORGANIZATION", one, 0)) == firm(mention(0, "ORGANIZATION", other, 0))


@pytest.mark.parametrize(
    ("left", "top", "page", "called", "is_window"),
    [
        (350.0, 60.0, 1, (), True),
        (350.0, 100.0, 1, (), True),
        (350.0, 160.0, 1, (), False),
        (120.0, 60.0, 1, (), False),
        (350.0, 60.0, 2, (), False),
        (350.0, 60.0, 1, ("acme",), False),
    ],
)
def test_a_block_with_a_tax_number_alone_is_a_window_beside_a_firm(
    left: float, top: float, page: int, called: tuple[str, ...], is_window: bool
) -> None:
    text = "Finch Ltd\nQuai 4\n29200 Brest\nVAT FR40303265045\nAcme GmbH\nTel. 030 123"
    found = mentions_in(text, FINCH, STREET, ("TAX_ID", "FR40303265045"), ACME, ("PHONE", "030 123"))
    found[0] = boxed(found[0], (60.0, 50.0, 160.0, 60.0))
    found[3] = boxed(found[3], (left, top, left + 100, top + 10), page=page)
    own = places_of(found, TextLines(text), NAMES, called)["finch"]
    assert (WINDOW in own) is is_window
    assert (HEAD in own) is not is_window
