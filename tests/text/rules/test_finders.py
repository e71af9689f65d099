"""Each rule finds what has its grammar, whole and over line ends and cells, and leaves what only looks like it."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.text.rules import contact_rules
from service.text.rules.rule_matches import LONGEST_CHARACTERS, STEP_CHARACTERS, Strength
from service.text.rules.rule_set import FINDERS, FinderName, RuleSet
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

Rows = list[tuple[str, list[str]]]


def found(rule: FinderName, text: str, weakest: Strength = Strength.LIKELY) -> list[str]:
    findings = list(FINDERS[rule][1](text, DocumentContext(text)))
    return [text[each.start : each.end] for each in findings if each.strength >= weakest]


@pytest.mark.parametrize(
    ("rule", "text", "wanted"),
    [
        ("email", "Write to jane.doe+x@acme.example, or Max <max@acme.co.uk>.",
         ["jane.doe+x@acme.example", "max@acme.co.uk"]),
        ("email", "info@localhost. mailto:a@b.de info@münchen.example",
         ["info@localhost", "a@b.de", "info@münchen.example"]),
        ("email", "@handle, a@b, x@y@z.de, 5@ 3 EUR, name@", []),
        ("url", "See https://acme.example/a?b=1). And www.acme.example, (http://x.org/a_(b)).",
         ["https://acme.example/a?b=1", "www.acme.example", "http://x.org/a_(b)"]),
        ("url", "acme.com; github.com/acme/gleaner; shop.acme.de",
         ["acme.com", "github.com/acme/gleaner", "shop.acme.de"]),
        ("url", "jane@acme.com S.p.A. e.g. this.Is end.It 12.50 v1.2.3 file.txt z.B.", []),
        ("phone", "tel:(+82) 10-9030-1843, fax (+49 30 1234567)", ["(+82) 10-9030-1843", "+49 30 1234567"]),
        ("phone", "call +49 (0)30 123 45 67 or +1 425 555 0100 ext. 12",
         ["+49 (0)30 123 45 67", "+1 425 555 0100 ext. 12"]),
        ("phone", "Tel.: 030/1234567, Fax: (030) 123 45 68", ["030/1234567", "(030) 123 45 68"]),
        ("phone", "Phone:\n358 0594 and 085 175 7641-Office", ["358 0594", "085 175 7641"]),
        ("phone", "To be paid by the due date, Seattle, USA. (425) 555-0100", ["(425) 555-0100"]),
        ("phone", "Bestellung: 2018-471331, GTIN 4012345001235, am 12.03.2026, 1.234.567,89 EUR, 2019 - 2021", []),
        ("iban", "IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFFXXX", ["DE89 3704 0044 0532 0130 00"]),
        ("iban", "GB82WEST12345698765432, FR14 2004 1010 0505 0001 3M02 606.",
         ["GB82WEST12345698765432", "FR14 2004 1010 0505 0001 3M02 606"]),
        ("iban", "IBAN: DE89 3704 0044 0532 0130 01", ["DE89 3704 0044 0532 0130 01"]),
        ("iban", "Käufer-IBAN : DE5467894567876500", ["DE5467894567876500"]),
        ("iban", "DE89 3704 0044 0532 0130 01, order AB12 3456, NR12", []),
        ("iban", "Konto 88 1140 2004 0000 3102 7788 1420, 88114020040000310277881420",
         ["88 1140 2004 0000 3102 7788 1420"]),
        ("iban", "Nr rachunku: 88114020040000310277881420", ["88114020040000310277881420"]),
        ("iban", "88 1140 2004 0000 3102 7788 1421", []),
        ("iban", "DE89 3704 0044.0532 0130 00 BIC, DE89. 3704 0044 0532 0130 00",
         ["DE89 3704 0044.0532 0130 00", "DE89. 3704 0044 0532 0130 00"]),
        ("iban", "DE89 37O4 0044 0532 O130 00", ["DE89 37O4 0044 0532 O130 00"]),
        ("iban", "NOOR 2024, AO12 3456 7890", []),
        ("bic", "BIC: COBADEFFXXX SWIFT/BIC code DEUTDEFF", ["COBADEFFXXX", "DEUTDEFF"]),
        ("bic", "CUSTOMER ACCOUNTS COBADEFF", []),
        ("tax_id", "USt-IdNr. DE 136 695 976 IBAN", ["DE 136 695 976"]),
        ("tax_id", "FR 40 303 265 045, ESB58378431, CHE-107.787.577 MWST",
         ["FR 40 303 265 045", "ESB58378431", "CHE-107.787.577 MWST"]),
        ("tax_id", "VAT no. DE136695977", ["DE136695977"]),
        ("tax_id", "NIP 856-734-62-15, P.IVA 00743110157 Tel, CNPJ: 16.727.230/0001-97",
         ["856-734-62-15", "00743110157", "16.727.230/0001-97"]),
        ("tax_id", "St-Nr 181/815/08155, Steuernr.: 181/815/08155", ["181/815/08155", "181/815/08155"]),
        ("tax_id", "Employer identification number: 91-1144442, EIN 91-1144442", ["91-1144442", "91-1144442"]),
        ("tax_id", "İ's CNPJ: 16.727.230/0001-97", ["16.727.230/0001-97"]),
        ("tax_id", "DE136695977 IT systems 2024, NIP 856-734-62-16, NO 12", []),
        ("card", "4111 1111 1111 1111 and 3782 822463 10005", ["4111 1111 1111 1111", "3782 822463 10005"]),
        ("card", "my card 630427373398, Visa 4111 1111 1111 1112", ["630427373398", "4111 1111 1111 1112"]),
        ("card", "4111111111111111", ["4111111111111111"]),
        ("card", "GTIN 4012345001235, 4111 1111 1111 1112, 1234 5678 9012 3456", []),
        ("percent", "19 % VAT, 7,5% or 21 procent, %20 KDV, -5%", ["19 %", "7,5%", "21 procent", "%20", "-5%"]),
        ("percent", "a%20b, 100 %%, 1.234.567%, ISO 27001", []),
    ],
)  # fmt: skip
def test_what_a_rule_finds(rule: FinderName, text: str, wanted: list[str]) -> None:
    assert found(rule, text) == wanted


@pytest.mark.parametrize(
    ("rule", "text", "wanted"),
    [
        ("iban", "DE89 3704 0044 0532 0130 01", "DE89 3704 0044 0532 0130 01"),
        ("iban", "DE89 3704 0044 0532", "DE89 3704 0044 0532"),
        ("bic", "at COBADEFF", "COBADEFF"),
        ("tax_id", "DE136695977", "DE136695977"),
        ("phone", "12 34 56 78", "12 34 56 78"),
    ],
)
def test_what_looks_like_something_only_sets_borders(rule: FinderName, text: str, wanted: str) -> None:
    assert found(rule, text) == []
    assert wanted in found(rule, text, Strength.BOUNDS)


@pytest.mark.parametrize("before", [STEP_CHARACTERS - 9, STEP_CHARACTERS - 1, 3 * STEP_CHARACTERS - 4])
def test_a_finding_across_two_steps_is_found_once(before: int) -> None:
    text = " " * before + "jane@acme.example" + " " * LONGEST_CHARACTERS
    assert found("email", text) == ["jane@acme.example"]


@given(st.sampled_from(sorted(FINDERS)), st.text(alphabet="+(1 2)3.DEat@-/w%\nIBAN:4é️₂", max_size=80))
@settings(deadline=None)
def test_findings_lie_in_the_text_from_left_to_right(rule: FinderName, text: str) -> None:
    findings = list(FINDERS[rule][1](text, DocumentContext(text)))
    assert all(0 <= each.start < each.end <= len(text) for each in findings)
    assert all(0.0 <= each.score <= 1.0 for each in findings)


@given(st.sampled_from(sorted(FINDERS)), st.text(alphabet="123 456\u00a0.:/-(+wWpPact%％@deStNr", max_size=60))
@settings(deadline=None)
def test_a_sign_only_spares_a_search(rule: FinderName, text: str) -> None:
    signs = "\n" * 40 + "19 % www.acme.example 11 22 33 44 cnpj"
    with_signs = FINDERS[rule][1](text + signs, DocumentContext(text))
    assert [each for each in with_signs if each.end <= len(text)] == list(FINDERS[rule][1](text, DocumentContext(text)))


PLAIN_EMAIL = re.compile(
    r"(?<![\w.+%'@-])[\w+%-][\w.+%'-]{0,63}@(?:localhost|(?:\w[\w-]{0,62}\.){1,6}[^\W\d_]{2,24})(?![\w@]|-\w|\.\w)"
)
"""An address as one pattern, searched from its beginning."""


def pieces_of(*pieces: str) -> st.SearchStrategy[str]:
    """Texts that are put together of these."""
    return st.lists(st.sampled_from(pieces), max_size=16).map("".join)


@given(pieces_of("@", "a", "b.de", ".", "x.org", "-", "1", "+", "'", " ", "\n", "localhost", "é", "long" * 17))
@settings(deadline=None)
def test_mail_is_found_from_its_domain_as_it_is_from_its_beginning(text: str) -> None:
    findings = FINDERS["email"][1](text, DocumentContext(text))
    assert [(each.start, each.end) for each in findings] == [each.span() for each in PLAIN_EMAIL.finditer(text)]


@given(pieces_of("www.", "w", "http://", "ftp", "://", "a", "b.de", ".com", ".", "1.", "@", "-", " ", "(", "/x", "ſ"))
@settings(deadline=None)
def test_web_addresses_found_by_signs_equal_those_of_a_full_scan(text: str) -> None:
    plain = [each.span() for each in contact_rules._URL.finditer(text)]
    assert [each.span() for each in contact_rules._addresses(text)] == plain


@given(pieces_of("NIP", "ein", "İva", "ſteuernummer", "EIN ", ": ", " ", "12-3456789", "856-734-62-16", "x", " " * 27))
@settings(deadline=None)
def test_a_text_without_a_tax_word_before_a_number_has_no_such_number(text: str) -> None:
    spared = list(FINDERS["tax_id"][1](text, DocumentContext(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.text.rules.number_rules._has_tax_word", lambda _: True)
        assert spared == list(FINDERS["tax_id"][1](text, DocumentContext(text)))


RULES = RuleSet(find=tuple(FINDERS))
LABELS = {label for label, _ in FINDERS.values()}
IBAN = ("IBAN", "DE89370400440532013000")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Konto DE89 3704 0044\n0532 0130 00 bei", [IBAN]),
        ("Konto DE89 3704 0044 0532\r\n  0130 00", [IBAN]),
        ("IBAN DE89\t3704\t0044\t0532\t0130\t00\n", [IBAN]),
        ("IBAN | DE89 | 3704 | 0044 | 0532 | 0130 | 00 |", [IBAN]),
        ("IBAN D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0", [IBAN]),
        ("IBAN\n" + "\n".join("DE89370400440532013000") + "\n", [IBAN]),
        ("IBAN: DE89 3704 0044 0532 0130 00BIC COBADEFFXXX", [IBAN, ("BIC", "COBADEFFXXX")]),
        ("IBANDE89370400440532013000", [IBAN]),
        ("DE89\u200b3704\u200b0044\u00ad0532\u20600130\ufeff00", [IBAN]),
        ("Compte FR14 2004 1010 0505\n0001 3M02 606", [("IBAN", "FR1420041010050500013M02606")]),
        ("jane.\u00addoe@\u200bacme.example", [("EMAIL", "jane.doe@acme.example")]),
        ("+49\u200b 89 \u00ad1234567", [("PHONE", "+49891234567")]),
        ("Tel. +49 89 1234-\n5678", [("PHONE", "+498912345678")]),
        ("VAT DE 136 695\n976", [("TAX_ID", "DE136695976")]),
        ("Card 4111 1111\n1111 1111", [("ID_NUMBER", "4111111111111111")]),
        ("DE89 3704 0044 0532 0130 00\nGB33BUKB20201555555555", [IBAN, ("IBAN", "GB33BUKB20201555555555")]),
        ("VAT DE136695976\n12345", [("TAX_ID", "DE136695976")]),
        ("Kunde DE 12\n34567 Berlin", []),
        ("Code DE89 3704 0044\n0532 0130 01", []),
    ],
)  # fmt: skip
def test_identifiers_in_pieces(text: str, wanted: list[tuple[str, str]]) -> None:
    context = DocumentContext(text)
    found = RULES.apply(context, [], LABELS, LABELS)
    assert [(each.label, read_value(each.label, each.text, context).text) for each in found] == wanted
    assert all(text[each.start : each.end] == each.text for each in found)
    assert all(read_value(each.label, each.text, context).valid is not False for each in found)


@pytest.mark.parametrize(
    "unit", ["A ", "A B 1\t\n 2\t", "3704\n", "DE89 ", "D\t", "4111\n", "DE89  3  7", "DO.", "12 1234 "]
)
def test_pieces_that_never_end_take_linear_time(unit: str) -> None:
    begin = time.thread_time()
    RULES.apply(DocumentContext("DE89 "), [], LABELS, LABELS)
    text = "IBAN DE89 " + unit * (200_000 // len(unit))
    RULES.apply(DocumentContext(text), [], LABELS, LABELS)
    assert time.thread_time() - begin < 10
