"""Money, quantities and percentages are plain decimals with a currency or a unit; what has other words is text."""

from __future__ import annotations

from decimal import Decimal

import pytest
from babel.numbers import get_currency_precision, list_currencies

from service.core.decoding.value import Value, ValueKind
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

MONEY = """
EUR 1,200.00 = 1200.00 EUR
1.234,56 € = 1234.56 EUR
€1.234,56 = 1234.56 EUR
1 234,56 € = 1234.56 EUR
$1,234 = 1234 USD
$ 1,234.50 = 1234.50 USD
US$ 99.95 = 99.95 USD
USD 99.95 = 99.95 USD
C$ 12.00 = 12.00 CAD
A$12 = 12 AUD
HK$ 500 = 500 HKD
R$ 1.234,50 = 1234.50 BRL
£12.99 = 12.99 GBP
1'234.50 CHF = 1234.50 CHF
CHF 1’234.50 = 1234.50 CHF
Fr. 12.50 = 12.50
1 234,50 zł = 1234.50 PLN
28.400,00 TL = 28400.00 TRY
₺1.500,00 = 1500.00 TRY
1 500,00 руб. = 1500.00 RUB
2 000 ₽ = 2000 RUB
1 250 Kč = 1250 CZK
15 000 Ft = 15000 HUF
500 lei = 500 RON
RM 9.00 = 9.00 MYR
Rp 10.000 = 10000 IDR
₹1,23,456.50 = 123456.50 INR
Rs. 1,23,456.50 = 123456.50
₩12,000 = 12000 KRW
12,000원 = 12000 KRW
¥1,200 = 1200 JPY
１２００円 = 1200 JPY
￥2689.40 = 2689.40 CNY
100 元 = 100 CNY
3億円 = 300000000 JPY
1万円 = 10000 JPY
100 kr = 100
٥ € = 5 EUR
१०० रुपये = 100 INR
12,5 = 12.5
1.234.567 = 1234567
1,234,567.89 = 1234567.89
1.234,567 = 1234.567
0,125 = 0.125
1234,567 = 1234.567
500 US dollars = 500 USD
500 euros = 500 EUR
12 złotych polskich = 12 PLN
500 US-Dollar = 500 USD
-5.00 = -5.00
EUR -5.00 = -5.00 EUR
-$5 = -5 USD
$-50.00 = -50.00 USD
-233,47 € = -233.47 EUR
−233,47 € = -233.47 EUR
500,00- = -500.00
(1,234.00) = -1234.00
($5.00) = -5.00 USD
€ (5,00) = -5.00 EUR
(12,50 EUR) = -12.50 EUR
5,- € = 5 EUR
100,-- = 100
12.- = 12
12.— CHF = 12 CHF
$5M = 5000000 USD
$1.5 million = 1500000 USD
$2.5bn = 2500000000 USD
£1m = 1000000 GBP
10k = 10000
$10K = 10000 USD
1,2 M€ = 1200000 EUR
3 Mio. € = 3000000 EUR
1,2 Mrd. EUR = 1200000000 EUR
12 mln zł = 12000000 PLN
5 млн руб. = 5000000 RUB
3 milyon TL = 3000000 TRY
150\t225 = -
12 50 99 = -
5 EUR / USD = -
5 or 6 = -
between 5 and 6 = -
$15 per hour = -
1,234.567.89 = -
12.34.56 = -
five euros = -
EUR = -
10 EUR/kg = -
"""
PERCENT = """
19 % = 19
19% = 19
7,7% = 7.7
7.125 % = 7.125
1.234,5 % = 1234.5
-5 percent = -5
(2.5%) = -2.5
%20 = 20
21 procent = 21
19 Prozent = 19
5,5 pour cent = 5.5
15 por ciento = 15
20 процентов = 20
12％ = 12
٪15 = 15
100 = 100
5-7 % = -
19% MwSt = -
% = -
"""
QUANTITY = """
3 = 3
2.5 kg = 2.5 kilogram
2,5 kg = 2.5 kilogram
1 000 km = 1000 kilometer
100 m² = 100 square-meter
100 m2 = 100 square-meter
20 m3 = 20 cubic-meter
12 Std. = 12 hour
40 hours = 40 hour
3 h = 3 hour
1.5 Stunden = 1.5 hour
3 heures = 3 hour
2 Tage = 2 day
5 years = 5 year
3 Monate = 3 month
3 Stück = 3 piece
5 pcs = 5 piece
10 szt. = 10 piece
3個 = 3 piece
2 boxes = 2 box
x2 = 2
2 x = 2
12 l = 12 liter
500 ml = 500 milliliter
10 kWh = 10 kilowatt-hour
16 GB = 16 gigabyte
12 кг = 12 kilogram
1,234,567 kg = 1234567 kilogram
0,125 kg = 0.125 kilogram
5 M = 5 meter
12 people = -
two = -
2 - 3 kg = -
"""


def rows(table: str) -> list[tuple[str, str]]:
    """Text and value of each line."""
    return [(text.replace("\\t", "\t"), value) for text, value in (x.rsplit(" = ", 1) for x in table[1:-1].split("\n"))]


def check(label: str, kind: ValueKind, text: str, value: str) -> None:
    found = read_value(label, text, DocumentContext(""))
    if value == "-":
        assert found == Value(ValueKind.TEXT, " ".join(text.split()))
        return
    number, _, unit = value.partition(" ")
    assert found == Value(kind, value, number=Decimal(number), unit=unit or None)


@pytest.mark.parametrize(("text", "value"), rows(MONEY))
def test_money(text: str, value: str) -> None:
    check("TOTAL_AMOUNT", ValueKind.MONEY, text, value)


@pytest.mark.parametrize(("text", "value"), rows(PERCENT))
def test_percentages(text: str, value: str) -> None:
    check("PERCENT", ValueKind.PERCENT, text, value)


@pytest.mark.parametrize(("text", "value"), rows(QUANTITY))
def test_quantities(text: str, value: str) -> None:
    check("QUANTITY", ValueKind.QUANTITY, text, value)


@pytest.mark.parametrize(
    ("document", "text", "value"),
    [
        ("Total CAD, tax GST", "$12.00", "12.00 CAD"),
        ("Invoice from Acme Pty Ltd, Sydney, Australia, to be paid", "$12.00", "12.00 AUD"),
        ("Invoice total of the order", "$12.00", "12.00 USD"),
        ("Faktura datum: belopp och moms, inte betald, förfallodatum", "120 kr", "120 SEK"),
        ("Faktura dato, beløb og moms, ikke betalt, forfaldsdato", "120 kr", "120 DKK"),
        ("Total in NOK", "120 kr", "120 NOK"),
        ("合計金额 发票 人民币", "¥120", "120 CNY"),
        ("Mumbai, India", "Rs. 500", "500 INR"),
        ("Karachi\nInvoice", "Rs 2,50,000", "250000 PKR"),
        ("220 8 Ave SW, Calgary, AB T2P 1J9\nGST 5%", "$12.00", "12.00 CAD"),
        ("Montréal (Québec) H2X 1Y4\nTPS 5 %, TVQ", "1 234,54 $", "1234.54 CAD"),
        ("Invoice total in Canadian dollars", "$12.00", "12.00 CAD"),
        ("call +1 403 555 0100", "$12.00", "12.00 CAD"),
        ("call +1 (212) 555-0100", "$12.00", "12.00 USD"),
        ("9 Quay St, Perth WA 6000", "$12.00", "12.00 AUD"),
        ("Auckland 1010\nGST 15%", "$12.00", "12.00 NZD"),
        ("Wan Chai, Hong Kong", "$12.00", "12.00 HKD"),
        ("Singapore 068808", "$12.00", "12.00 SGD"),
        ("R.F.C. TNO010203AB1\nIVA", "$1,234.50", "1234.50 MXN"),
        ("RUT 76.123.456-7", "$ 12.000", "12000 CLP"),
        ("NIT 900.123.456-7", "$ 12.000", "12000 COP"),
        ("CUIT 30-71234567-8", "$ 1.234,50", "1234.50 ARS"),
        ("Quito, Ecuador", "$12.00", "12.00 USD"),
        ("5013 Bergen\nFaktura", "kr 1 234,50", "1234.50 NOK"),
        ("8000 Aarhus C\nFaktura", "1.234,50 kr.", "1234.50 DKK"),
        ("411 05 Göteborg\nAtt betala", "1 234:50 kr", "1234.50 SEK"),
        ("101 Reykjavík\nVSK 24%", "12.500 kr", "12500 ISK"),
        ("8001 Zürich\nRechnung", "Fr. 1'234.50", "1234.50 CHF"),
        ("Giza, Egypt", "£ 500", "500 EGP"),
        ("Beirut\nInvoice", "£ 1,500", "1500 LBP"),
        ("Tunis\nFacture", "12,500 dinars", "12.500 TND"),
        ("Sheikh Zayed Road, Dubai", "Dhs. 500", "500 AED"),
        ("Casablanca, Maroc", "500 DH", "500 MAD"),
        ("Hi Sydney Carter", "$5.00", "5.00 USD"),
        ("(c) Acme SA 2025", "$ 1,250.00", "1250.00 USD"),
        ("Comercial del Sur SA 2025\nfactura de la fecha", "$ 1,250.00", "1250.00"),
        ("RFC 2822 compliant", "$ 1,250.00", "1250.00 USD"),
        ("Austin, TX 78701\nABN 2", "$ 1,250.00", "1250.00 USD"),
        ("Windows NT 1500, ACT 1998", "$ 1,250.00", "1250.00 USD"),
        ("Adelaide Rd, Unley SA 5061", "$ 1,250.00", "1250.00 AUD"),
        ("Barton ACT 2600", "$ 1,250.00", "1250.00 AUD"),
        ("ABN 51 824 753 556", "$ 1,250.00", "1250.00 AUD"),
        ("RFC: TNO010203AB1", "$ 1,250.00", "1250.00 MXN"),
        ("RFC emisor: TNO-010203-AB1", "$ 1,250.00", "1250.00 MXN"),
        ("Montre\u0301al, QC\nFacture", "$ 1,250.00", "1250.00 CAD"),
        ("211 20 Malmo\u0308\nAtt betala", "1 250,00 kr", "1250.00 SEK"),
        ("411 05 Go\u0308teborg\nFaktura", "1 250,00 kr", "1250.00 SEK"),
        ("Der Betrag ist mit der Rechnung zu zahlen", "1,5 Billionen EUR", "1500000000000 EUR"),
    ],
)
def test_the_document_settles_the_currency(document: str, text: str, value: str) -> None:
    assert read_value("MONEY", text, DocumentContext(document)).text == value


@pytest.mark.parametrize(
    ("document", "text", "codes"),
    [
        ("Tax invoice GST 10%", "$12.00", "CAD AUD NZD SGD"),
        ("Acme, Cheyenne, WY 82001\nBill to: Finch, Toronto, ON M5V 2T6", "$12.00", "CAD USD"),
        ("Facture du client et le montant", "12,00 $", "CAD USD"),
        ("5013 Bergen\n8000 Aarhus C", "kr 12.00", "NOK DKK"),
    ],
)
def test_a_sign_of_several_countries_is_ambiguous_but_its_number_is_not(document: str, text: str, codes: str) -> None:
    found = read_value("MONEY", text, DocumentContext(document))
    assert (found.text, found.number, found.unit) == ("12.00", Decimal("12.00"), None)
    assert found.ambiguous == tuple(f"12.00 {code}" for code in codes.split())


@pytest.mark.parametrize(
    ("document", "text", "values"),
    [
        ("Total: KWD 12.345", "KWD 12.345", "12.345 KWD"),
        ("Total: KWD 12.345", "12.345", "12.345"),
        ("Price 3.250 KD", "3.250", "3.250"),
        ("Amount (KD)\nTotal   3.250", "3.250", "3.250"),
        ("Total BHD   2.250", "2.250", "2.250"),
        ("Acme SDN BHD\n789417-W", "2.250", "2250"),
        ("Acme Sdn BHD 12", "2.250", "2250"),
        ("JD 2019 graduate", "12,500", "12500"),
        ("Suite BD 4, Invoice and the total", "12,500", "12500"),
        ("KD 4711\nRechnung und der Betrag", "1.234", "1234"),
        ("Price KD 4.250", "1.234", "1.234"),
        ("Price JD. 1,234.250", "1.234", "1.234"),
        ("Tea 0.500", "2.250", "2250|2.250"),
        ("Facture et montant", "45,250 TND", "45.250 TND"),
        ("Net JOD 1,200.500", "JOD 1.250", "1.250 JOD"),
        ("Net JOD 1,200.500", "JOD 1,250", "1250 JOD"),
        ("Summe 1.200,50", "OMR 7.500", "7500 OMR"),
        ("Facture et montant", "BHD 7.500", "7500 BHD|7.500 BHD"),
        ("Invoice and the total", "KWD 12,345", "12345 KWD|12.345 KWD"),
        ("", "IQD 25,000", "25000 IQD"),
        ("", "IQD 12.345", "12345 IQD|12.345 IQD"),
        ("Invoice and the total", "1 278.61", "1278.61|278.61"),
        ("Die Rechnung und der Betrag von der", "1 278,61 €", "1278.61 EUR|278.61 EUR"),
        ("Die Rechnung und der Betrag von der", "€ 1 278,61", "1278.61 EUR"),
        ("Die Rechnung, 2.186,00", "1 278,61", "1278.61|278.61"),
        ("Die Rechnung, 2.186,00 und 1.278,61", "1 278,61", "1278.61"),
        ("Die Rechnung, 2.186,00", "1\u00a0278,61", "1278.61"),
        ("Die Rechnung, 2’186.00, Empfangsschein", "2 363.05", "2363.05"),
        ("Total 1 234 567,89", "1 278,61", "1278.61"),
        ("Invoice and the total", "1 050.00", "1050.00"),
        ("Invoice and the total: 1 278.61 EUR\nPaid", "1 278.61 EUR", "1278.61 EUR"),
        ("Die Rechnung und der Betrag: 1 278,61 €", "1 278,61 €", "1278.61 EUR"),
        ("Invoice and the total: 1 278.61 40.39", "1 278.61", "1278.61|278.61"),
        ("Invoice and the total", "1 234 567.89", "1234567.89"),
        ("Facture du client et le montant", "1 278,61", "1278.61"),
        ("Oslo, Norway: invoice and the total", "1 278,61 kr", "1278.61 NOK"),
        ("", "2 278.610 KWD", "2278.610 KWD|278.610 KWD"),
        ("", "KWD 2 278.610", "2278.610 KWD"),
        ("Facture du client et le montant", "2 278,610 DT", "2278.610 TND"),
        ("Invoice and the total, 1,250.500", "2 278.610 OMR", "2278.610 OMR|278.610 OMR"),
        ("", "1 234:50 kr", "1234.50"),
        ("", "1 234:50", "1234.50"),
        ("Facture et montant: 12,500 dinars", "12,500 dinars", "12.500"),
        ("Invoice and the total: 12,500 dinars", "12,500 dinars", "12500|12.500"),
    ],
)
def test_the_document_settles_the_number(document: str, text: str, values: str) -> None:
    found = read_value("MONEY", text, DocumentContext(document))
    assert "|".join(found.ambiguous or (found.text,)) == values


NUMBERS = {0: ("12,345", "1,234,567"), 2: ("12.34", "1,234.56"), 3: ("12.345", "1,234.567")}
"""Decimals of a currency → amounts as English writes them."""
SHOWING = {".": "Invoice and the total: 1,000.50 and 0.500", ",": "Die Rechnung und der Betrag: 1.000,50 und 0,500"}
"""Decimal mark → a document whose other amounts show it."""


@pytest.mark.parametrize("code", sorted(list_currencies() - {"GHC"}))
@pytest.mark.parametrize("mark", SHOWING)
def test_every_currency_is_read_in_four_forms(code: str, mark: str) -> None:
    """All but GHC, which stands for today's cedi."""
    for number in NUMBERS[get_currency_precision(code) if get_currency_precision(code) in NUMBERS else 2]:
        plain = number.replace(",", "")
        there = number if mark == "." else number.translate(str.maketrans(",.", ".,"))
        for text in (f"{code} {there}", f"{there} {code}"):
            assert read_value("MONEY", text, DocumentContext(SHOWING[mark])).text == f"{plain} {code}"
            found = read_value("MONEY", text, DocumentContext(""))
            assert f"{plain} {code}" in (found.ambiguous or (found.text,))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ninety (90) days", "90 day"),
        ("90) days", "90 day"),
        ("(90) days", "90 day"),
        ("thirty-six (36) months", "36 month"),
        ("30 (dreißig) Tage", "30 day"),
    ],
)
def test_a_number_that_is_also_written_out_is_read(text: str, value: str) -> None:
    check("QUANTITY", ValueKind.QUANTITY, text, value)


def test_a_quantity_with_three_digits_after_one_separator_is_ambiguous() -> None:
    found = read_value("QUANTITY", "1.250 kg", DocumentContext(""))
    assert found == Value(
        ValueKind.QUANTITY, "1.250 kg", ambiguous=("1250 kilogram", "1.250 kilogram"), unit="kilogram"
    )
    assert read_value("QUANTITY", "1.250 kg", DocumentContext("Summe 12,50")).text == "1250 kilogram"
    assert read_value("QUANTITY", "1.250 kg", DocumentContext("Total 12.50")).text == "1.250 kilogram"


def test_money_is_ambiguous_where_its_separator_is_the_decimal_mark() -> None:
    found = read_value("MONEY", "1.234 EUR", DocumentContext("Total 12.50"))
    assert (found.text, found.ambiguous) == ("1.234 EUR", ("1234 EUR", "1.234 EUR"))
