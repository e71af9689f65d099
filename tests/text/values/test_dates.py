"""Dates of many languages and ways of writing are ISO 8601; what two readings have is said to have them."""

from __future__ import annotations

import pytest

from service.core.decoding.value import ValueKind
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

CERTAIN = """
2026-03-12 = 2026-03-12
2026/3/2 = 2026-03-02
2018.04.05 = 2018-04-05
12.03.2026 = 2026-03-12
1.3.2026 = 2026-03-01
12. 3. 2026 = 2026-03-12
12.03.26 = 2026-03-12
31.12.99 = 1999-12-31
01.01.68 = 2068-01-01
25/12/2018 = 2018-12-25
12/25/2018 = 2018-12-25
15-01-2018 = 2018-01-15
11/23/2024 = 2024-11-23
05/05/2026 = 2026-05-05
15/01/18 = 2018-01-15
01/15/18 = 2018-01-15
20240912 = 2024-09-12
18/04/2018 5:18:08 P = 2018-04-18
2024-03-15T10:15:00Z = 2024-03-15
2024-03-15 10:15:00+01:00 = 2024-03-15
23.06.2024, 14:05 Uhr = 2024-06-23
6/23/2024 2:05 PM = 2024-06-23
12 March 2026 = 2026-03-12
March 12, 2026 = 2026-03-12
Mar 12 2026 = 2026-03-12
MARCH 12, 2026 = 2026-03-12
12-Mar-2026 = 2026-03-12
12 Mar 26 = 2026-03-12
12Mar2026 = 2026-03-12
2026 March 12 = 2026-03-12
3rd of May 2026 = 2026-05-03
January 2nd, 2023 = 2023-01-02
the 2nd day of January, 2023 = 2023-01-02
Sept. 9, 2021 = 2021-09-09
Thursday, March 12, 2026 = 2026-03-12
Sat, 12.04.2025 = 2025-04-12
12. März 2026 = 2026-03-12
12. MÄRZ 2026 = 2026-03-12
12. Maerz 2026 = 2026-03-12
12. Ma\u0308rz 2026 = 2026-03-12
Donnerstag, den 12. März 2026 = 2026-03-12
5. Jänner 2024 = 2024-01-05
30. Dez. 2023 = 2023-12-30
vom 1. Juli 2024 = 2024-07-01
5 Mai 2023 14:30 Uhr = 2023-05-05
le 12 mars 2026 = 2026-03-12
1er mars 2026 = 2026-03-01
mar. 12 mars 2024 = 2024-03-12
14 févr. 2024 = 2024-02-14
15 fevrier 2024 = 2024-02-15
31 août 2022 = 2022-08-31
3 décembre 2021 = 2021-12-03
12 de marzo de 2026 = 2026-03-12
1 de enero del 2024 = 2024-01-01
9 ago 2023 = 2023-08-09
martes, 3 de septiembre de 2024 = 2024-09-03
12 marzo 2026 = 2026-03-12
1º gennaio 2024 = 2024-01-01
4 ott 2022 = 2022-10-04
lunedì 8 luglio 2024 = 2024-07-08
12 maart 2026 = 2026-03-12
3 mei 2024 = 2024-05-03
zondag 1 december 2024 = 2024-12-01
12 de março de 2026 = 2026-03-12
7 de setembro de 2022 = 2022-09-07
5 out. 2021 = 2021-10-05
14 października 2024 = 2024-10-14
3 kwietnia 2024 r. = 2024-04-03
dnia 1 stycznia 2025 = 2025-01-01
9 января 1990 г. = 1990-01-09
2 ноября 2021 = 2021-11-02
15 мая 2024 года = 2024-05-15
1 сент. 2023 = 2023-09-01
21 Mart 2024 = 2024-03-21
12 Aralık 2023 = 2023-12-12
12 ağustos 2024 = 2024-08-12
5 OCAK 2022 = 2022-01-05
den 15 januari 2024 = 2024-01-15
3 maj 2024 = 2024-05-03
15. januar 2024 = 2024-01-15
1. juni 2023 = 2023-06-01
17. mai 2024 = 2024-05-17
15. tammikuuta 2024 = 2024-01-15
6. joulukuuta 2023 = 2023-12-06
15. ledna 2024 = 2024-01-15
28. října 2023 = 2023-10-28
15 ianuarie 2024 = 2024-01-15
3 mai 2023 = 2023-05-03
2026年3月12日 = 2026-03-12
２０２６年３月１２日 = 2026-03-12
令和6年6月15日 = 2024-06-15
令和元年5月1日 = 2019-05-01
平成30年12月31日 = 2018-12-31
昭和64年1月7日 = 1989-01-07
民國113年6月15日 = 2024-06-15
2024年 6月 15日 = 2024-06-15
2024년 6월 15일 = 2024-06-15
15 مارس 2024 = 2024-03-15
١٥ مارس ٢٠٢٤ = 2024-03-15
15 जनवरी 2024 = 2024-01-15
3 मई 2023 = 2023-05-03
1 kwi 2024 = 2024-04-01
March 2026 = 2026-03
März 2026 = 2026-03
JAN 2020 = 2020-01
Sept 2019 = 2019-09
Jan '20 = 2020-01
04/2017 = 2017-04
03.2026 = 2026-03
2017-04 = 2017-04
2023年12月 = 2023-12
2019 = 2019
Q3 2024 = 2024-Q3
2024 Q1 = 2024-Q1
3. Quartal 2024 = 2024-Q3
3e trimestre 2024 = 2024-Q3
T4 2023 = 2023-Q4
IV kwartał 2023 = 2023-Q4
2024年第3四半期 = 2024-Q3
2024년 2분기 = 2024-Q2
01/2020 - 03/2021 = 2020-01/2021-03
01.01.2024 – 31.03.2024 = 2024-01-01/2024-03-31
01 mars 2024 au 31 mars 2024 = 2024-03-01/2024-03-31
1. Januar 2024 bis 31. März 2024 = 2024-01-01/2024-03-31
June 2018 to May 2020 = 2018-06/2020-05
Jan 2019 – present = 2019-01/..
03/2021 – heute = 2021-03/..
2019-2021 = 2019/2021
2017/18 = 2017/2018
31.02.2026 = -
31/04/2024 = -
12 Brumaire 2026 = -
next Friday = -
Monday = -
12:30 = -
May 5 = -
2024-W12 = -
99 = -
1234567890 = -
12.03.2026.01 = -
00/00/0000 = -
Room 12, 2024 = -
"""
"""`-`: no date."""

ROWS = [tuple(line.rsplit(" = ", 1)) for line in CERTAIN.strip().splitlines()]


@pytest.mark.parametrize(("text", "value"), ROWS)
def test_a_date_that_is_certain(text: str, value: str) -> None:
    found = read_value("DUE_DATE", text, DocumentContext(""))
    if value == "-":
        assert (found.kind, found.text) == (ValueKind.TEXT, text)
    else:
        assert (found.kind, found.text, found.ambiguous) == (ValueKind.DATE, value, ())


@pytest.mark.parametrize(
    ("text", "by_day", "by_month"),
    [
        ("03/04/2025", "2025-04-03", "2025-03-04"),
        ("3-4-2025", "2025-04-03", "2025-03-04"),
        ("1/2/24", "2024-02-01", "2024-01-02"),
        ("21 lis 2023", "2023-11-21", "2023-10-21"),
        ("12/11/2020 10:00", "2020-11-12", "2020-12-11"),
    ],
)
def test_a_date_with_two_readings_has_both_and_keeps_its_text(text: str, by_day: str, by_month: str) -> None:
    found = read_value("DATE", text, DocumentContext(""))
    assert (found.kind, found.text, found.ambiguous) == (ValueKind.DATE, text, (by_day, by_month))


@pytest.mark.parametrize(
    ("document", "value"),
    [
        ("Invoice date 03/04/2025, due 15/01/2026", "2025-04-03"),
        ("Invoice date 03/04/2025, due 01/15/2026", "2025-03-04"),
        ("Invoice date 03/04/2025 due date, total amount USD 12.00", "2025-03-04"),
        ("Invoice date 03/04/2025, Acme Ltd, London, United Kingdom", "2025-04-03"),
        ("Invoice date 03/04/2025, call +1 425 555 0100", "2025-03-04"),
        ("Invoice date 03/04/2025, billing@acme.co.uk", "2025-04-03"),
        ("Date de la facture : 03/04/2025, montant total de la facture", "2025-04-03"),
        ("Data da fatura 03/04/2025, valor total, CPF, rua das Flores", "2025-04-03"),
        ("Fecha de la factura 03/04/2025 importe total calle Mayor", "2025-04-03"),
    ],
)
def test_the_document_settles_which_reading_it_is(document: str, value: str) -> None:
    assert read_value("DATE", "03/04/2025", DocumentContext(document)).text == value


def test_dates_of_both_orders_in_one_document_settle_nothing() -> None:
    found = read_value("DATE", "03/04/2025", DocumentContext("15/01/2025 and 01/15/2025"))
    assert found.ambiguous == ("2025-04-03", "2025-03-04")


def test_two_digits_come_year_first_in_east_asia_only() -> None:
    assert read_value("DATE", "24/06/05", DocumentContext("領収書です 24/06/05")).text == "2024-06-05"
    assert read_value("DATE", "24/06/05", DocumentContext("")).text == "2005-06-24"
