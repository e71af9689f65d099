"""Dates and identifiers of the model are whole, and nothing else moves."""

from __future__ import annotations

import pytest

from service.core.decoding.entities import Entity
from service.text.rules.span_extension import date_spans, era_dates, whole_dates, whole_identifiers, whole_periods
from service.text.values.context import DocumentContext

Marked = list[tuple[str, str]]


def entities(text: str, marked: Marked) -> list[Entity]:
    found, place = [], 0
    for label, part in marked:
        place = text.index(part, place)
        found.append(Entity(label, part, place, place + len(part), 0.9))
        place += len(part)
    return found


@pytest.mark.parametrize(
    ("text", "marked", "wanted"),
    [
        ("due 11/23/2024.", [("DATE", "23/2024")], [("DATE", "11/23/2024")]),
        ("due 12 March 2026, total", [("DUE_DATE", "12"), ("DUE_DATE", "March 2026")], [("DUE_DATE", "12 March 2026")]),
        ("am 12.03.2026 in", [("DATE", "12.03"), ("DATE", "2026")], [("DATE", "12.03.2026")]),
        ("since 12/5/2020", [("DATE", "12"), ("DATE", "5/2020")], [("DATE", "12/5/2020")]),
        ("March 12, 2026", [("DATE", "March 12")], [("DATE", "March 12, 2026")]),
        ("den 12. März 2026", [("INVOICE_DATE", "März")], [("INVOICE_DATE", "12. März 2026")]),
        ("vom März 2026", [("DATE", "2026")], [("DATE", "März 2026")]),
        ("12 de marzo de 2026", [("DATE", "marzo de 2026")], [("DATE", "12 de marzo de 2026")]),
        ("令和 2026年3月12日", [("DATE", "3月12日")], [("DATE", "2026年3月12日")]),
        ("Donnerstag, den 12. März 2026", [("DATE", "Donnerstag, den 12. März 2026")], None),
        ("Datum 12.03.2026", [("DATE", "Datum 12.03.2026")], None),
        ("01.01.2024 02.02.2024", [("INVOICE_DATE", "01.01"), ("DUE_DATE", "02.02.2024")],
         [("INVOICE_DATE", "01.01.2024"), ("DUE_DATE", "02.02.2024")]),
        ("due 12.03.2026³ in", [("DATE", "03.2026")], [("DATE", "12.03.2026")]),
        ("at 2025-09-02T23:30:00-07:00.", [("DATE", "2025-09-02T23")], [("DATE", "2025-09-02T23:30:00-07:00")]),
        ("at 20250902T2330Z", [("DATE", "20250902T2330Z")], None),
        ("2019 - 2021", [("DATE", "2019"), ("DATE", "2021")], None),
        ("Room 12 in 2026", [("DATE", "2026")], None),
        ("ao pleito de 2016.", [("DATE", "2016")], None),
        ("din anul 1945 sub", [("DATE", "anul 1945")], None),
        ("paid 31/02/2024", [("DATE", "02/2024")], None),
        ("12 March 2026", [("PERSON", "March")], None),
    ],
)  # fmt: skip
def test_whole_dates(text: str, marked: Marked, wanted: Marked | None) -> None:
    found = whole_dates(text, entities(text, marked), DocumentContext(text))
    assert [(each.label, each.text) for each in found] == (wanted or marked)
    assert all(text[each.start : each.end] == each.text for each in found)


@pytest.mark.parametrize(
    ("text", "marked", "wanted"),
    [
        ("Zeitraum: 01.09. - 30.09.2025", [("DATE", "01.09."), ("DATE", "30.09.2025")], "01.09. - 30.09.2025"),
        ("September 1 - 15, 2025", [("DATE", "September 1"), ("DATE", "15, 2025")], "September 1 - 15, 2025"),
        ("Sep 28 to Oct 4, 2025", [("DUE_DATE", "Sep 28"), ("DUE_DATE", "Oct 4, 2025")], "Sep 28 to Oct 4, 2025"),
        ("Periodo: 1 al 15 de mayo de 2025", [("QUANTITY", "1"), ("DATE", "15 de mayo de 2025")],
         "1 al 15 de mayo de 2025"),
        ("du 1er au 15 mars 2025", [("DATE", "15 mars 2025")], "1er au 15 mars 2025"),
        ("Zeit 1.–15. Mai 2025", [("DATE", "15. Mai 2025")], "1.–15. Mai 2025"),
        ("vom 1. bis zum 15. Mai 2025", [("DATE", "15. Mai 2025")], "1. bis zum 15. Mai 2025"),
        ("с 1 по 15 мая 2025 г. в", [("DATE", "1"), ("DATE", "15 мая 2025 г.")], "1 по 15 мая 2025 г."),
        ("期間 2025年9月1日～15日", [("DATE", "2025年9月1日")], "2025年9月1日～15日"),
        ("2025-09-01 – 2025-09-30", [("DATE", "2025-09-01"), ("DATE", "2025-09-30")], None),
        ("Page 5 - 12 March 2026", [("DATE", "12 March 2026")], None),
        ("REG #2- 25/12/2016 13:51", [("DATE", "25/12/2016")], None),
        ("28/05/18 11:23 - 28/05/18 11:40", [("DATE", "28/05/18"), ("DATE", "28/05/18")], None),
        ("Artikel 7-12.03.2026", [("DATE", "12.03.2026")], None),
        ("Periode: 7-12.03.2026", [("DATE", "12.03.2026")], "7-12.03.2026"),
        ("Invoice 12 to 15 March 2026", [("INVOICE_ID", "12"), ("DATE", "15 March 2026")], None),
        ("Invoice: 5 - 12 March 2026", [("INVOICE_DATE", "12 March 2026")], None),
        ("Invoice (5 - 12 March 2026", [("INVOICE_DATE", "12 March 2026")], None),
        ("Total: 5 bis 12.03.2026", [("DUE_DATE", "12.03.2026")], None),
        ("Ver. 2.1 – 12.03.2026", [("DATE", "12.03.2026")], None),
        ("Version 2.1 - 12 mars 2026", [("INVOICE_DATE", "12 mars 2026")], None),
        ("Période : 1 - 12 mars 2026", [("INVOICE_DATE", "12 mars 2026")], "1 - 12 mars 2026"),
        ("Leistungszeitraum: 1.-12. März 2026", [("INVOICE_DATE", "12. März 2026")], "1.-12. März 2026"),
        ("Leistung: 1 - 12. März 2026", [("DATE", "12. März 2026")], "1 - 12. März 2026"),
        ("Billing period (1 - 12 March 2026)", [("DUE_DATE", "12 March 2026")], "1 - 12 March 2026"),
        ("01.09 - 30.09.2025", [("DATE", "30.09.2025")], "01.09 - 30.09.2025"),
        ("01/09 - 30/09/2025", [("DATE", "30/09/2025")], "01/09 - 30/09/2025"),
        ("Pos. 3 bis 15. Mai 2025", [("DATE", "15. Mai 2025")], None),
        ("von Anna Mai - 5. Juni 2025", [("PERSON", "Anna Mai"), ("DATE", "5. Juni 2025")], None),
        ("The - March 2025", [("DATE", "March 2025")], None),
    ],
)  # fmt: skip
def test_pieces_of_a_period_are_one_date(text: str, marked: Marked, wanted: str | None) -> None:
    found = whole_periods(text, entities(text, marked), DocumentContext(text))
    assert [(each.label, each.text) for each in found] == ([("DATE", wanted)] if wanted else marked)
    assert all(text[each.start : each.end] == each.text for each in found)


@pytest.mark.parametrize("syllable", ["e\u0301", "u\u0308", "का", "कि"])
def test_a_long_word_with_marks_is_searched_for_dates_in_bounded_time(syllable: str) -> None:
    text = f"{syllable * 20_000} 12 March 2026"
    assert [text[start:end] for start, end in date_spans(text)] == ["12 March 2026"]


@pytest.mark.parametrize(
    ("text", "marked", "wanted"),
    [
        ("No. INV-20931.", [("INVOICE_ID", "20931")], [("INVOICE_ID", "INV-20931")]),
        ("(RE/2024/17-A)", [("INVOICE_ID", "2024")], [("INVOICE_ID", "RE/2024/17-A")]),
        ("Nr.:12345", [("INVOICE_ID", "2345")], [("INVOICE_ID", "12345")]),
        ("PO 4500-1, due", [("PURCHASE_ORDER", "4500")], [("PURCHASE_ORDER", "4500-1")]),
        ("a-1 b-2", [("INVOICE_ID", "1"), ("ID_NUMBER", "2")], [("INVOICE_ID", "a-1"), ("ID_NUMBER", "b-2")]),
        ("Acme-77", [("SUPPLIER_NAME", "Acme"), ("ID_NUMBER", "7")], [("SUPPLIER_NAME", "Acme"), ("ID_NUMBER", "77")]),
        ("No. INV-20931¹ of", [("INVOICE_ID", "20931¹")], [("INVOICE_ID", "INV-20931")]),
        ("x" * 99, [("ID_NUMBER", "xxxx")], None),
        ("12-34", [("PERSON", "12")], None),
    ],
)  # fmt: skip
def test_whole_identifiers(text: str, marked: Marked, wanted: Marked | None) -> None:
    found = whole_identifiers(text, entities(text, marked))
    assert [(each.label, each.text) for each in found] == (wanted or marked)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("発行日 R5.3.1", ["R5.3.1"]),
        ("お支払期限 令和5年3月31日まで", ["令和5年3月31日"]),
        ("開立日期 民國114年3月15日", ["民國114年3月15日"]),
        ("平成30年4月1日から令和元年5月1日", ["平成30年4月1日", "令和元年5月1日"]),
        ("日付 R5.13.1", []),
        ("Release R5.3.1", []),
    ],
)
def test_dates_of_eras(text: str, wanted: list[str]) -> None:
    assert [text[each.start : each.end] for each in era_dates(text, DocumentContext(text))] == wanted


def test_an_amount_that_is_a_date_of_an_era_is_a_date() -> None:
    text = "期限 R5.3.31 金額 R5.30"
    model = entities(text, [("TOTAL_AMOUNT", "R5.3.31"), ("MONEY", "R5.30")])
    assert [each.label for each in whole_dates(text, model, DocumentContext(text))] == ["DATE", "MONEY"]


def test_a_date_has_the_era_before_it() -> None:
    text = "発行日 令和5年3月1日"
    (found,) = whole_dates(text, entities(text, [("INVOICE_DATE", "3月1日")]), DocumentContext(text))
    assert (found.label, found.text) == ("INVOICE_DATE", "令和5年3月1日")
