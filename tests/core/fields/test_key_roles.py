"""Keys of dates and numbers: what the words before them say, in every language."""

from __future__ import annotations

import time

import pytest

from service.core.fields.key_roles import (
    ANOTHER,
    MERE,
    bill_number_words,
    date_role,
    is_alone,
    is_named_as_bill,
    is_your_order,
    number_role,
    role_before,
)
from service.core.fields.lines import TextLines
from tests.support.mentions import mentions_in


def of_date(text: str) -> str | None:
    return date_role(TextLines(text), text.index("§"))


def of_number(text: str) -> str | None:
    return number_role(TextLines(text), text.index("§"))


@pytest.mark.parametrize(
    "key",
    ["Paid on", "Pagato con carta il", "Bezahlt am", "payée le", "pagado el", "pago em", "betaald op", "betald den",
     "betalt den", "zapłacono dnia", "zaplaceno dne", "оплачено", "ödendi", "maksettu", "お支払済", "已支付",
     "결제완료", "تم الدفع", "भुगतान किया", "dibayar pada", "achitat la", "''iDEAL'' op"],
)  # fmt: skip
def test_a_day_of_payment_is_another_day(key: str) -> None:
    assert of_date(f"{key} §") == ANOTHER


@pytest.mark.parametrize(
    "key",
    ["Acompte versé le", "Anzahlung geleistet am", "Angezahlt am", "Anticipo abonado el", "Devis accepté le",
     "per Estimate # 311 accepted", "Auftrag angenommen am", "Contract signed on"],
)  # fmt: skip
def test_a_day_of_a_deposit_or_of_an_agreement_is_another_day(key: str) -> None:
    assert of_date(f"{key} §") == ANOTHER


@pytest.mark.parametrize(
    "key",
    ["Next invoice", "Nächste Rechnung am", "Prochaine facture vers le", "próxima factura", "prossima bolletta",
     "volgende factuur", "nästa faktura", "næste regning", "neste faktura", "następna faktura", "příští faktura",
     "следующий счет", "sonraki fatura", "seuraava lasku", "次回請求日", "下次账单", "다음 청구", "الفاتورة القادمة",
     "अगला बिल", "tagihan berikutnya", "următoarea factură", "próxima fatura"],
)  # fmt: skip
def test_the_next_bill_is_another_day(key: str) -> None:
    assert of_date(f"{key} §") == ANOTHER


@pytest.mark.parametrize(
    "key",
    ["Expiry date", "VISA **** 1234 exp.", "gültig bis", "valable jusqu'au", "Date d'expiration", "válido hasta",
     "valido fino al", "geldig tot", "giltig t.o.m.", "gyldig til", "utløpsdato", "ważny do", "platí do",
     "действителен до", "son kullanma tarihi", "voimassa asti", "有効期限", "有效期至", "유효기간", "صالح حتى", "वैधता",
     "tarikh luput", "valabil până la", "válido até"],
)  # fmt: skip
def test_an_expiry_is_another_day(key: str) -> None:
    assert of_date(f"{key} §") == ANOTHER


@pytest.mark.parametrize(
    "key",
    ["Printed on", "Druckdatum:", "Stand:", "Saldo per", "solde au", "Balance as of", "Contract date", "Vertragsdatum",
     "Zählerstand", "meterstand", "Odczyt", "data umowy", "Order date", "date de commande", "Besteldatum", "born",
     "geboren am", "né le", "Order confirmation of our order no. 17 of", "votre commande n° 17 du", "Bestellung vom",
     "zu Rechnung 4711 vom", "Original invoice no. 4711 dated", "sur facture F-17 du", "Kunde 4711 vom",
     "Meter reading date:", "Next invoice date", "Abschlagsrechnung 17 vom"],
)  # fmt: skip
def test_other_days(key: str) -> None:
    assert of_date(f"{key} §") == ANOTHER


@pytest.mark.parametrize(
    "key",
    ["Delivery date", "Date of supply:", "Lieferdatum", "Leistungszeitraum", "date de livraison",
     "Période de facturation du", "fecha de entrega", "fecha de operación", "data di consegna", "leverdatum",
     "leveransdatum", "leveringsdato", "levert den", "data sprzedaży", "DUZP", "дата отгрузки", "teslim tarihi",
     "toimituspäivä", "納品日", "交货日期",
     "공급일자", "تاريخ التوريد", "आपूर्ति तिथि", "tarikh penghantaran", "data livrării", "data de saída",
     "Service period:", "Leistungszeitraum 01.02.2026 -"],
)  # fmt: skip
def test_a_supply_has_a_day_or_a_period(key: str) -> None:
    assert of_date(f"{key} §") == "SUPPLY_DATE"


@pytest.mark.parametrize(
    "key",
    ["2 % discount if paid by", "Skonto 2 % bis", "bei Zahlung bis", "escompte si paiement avant le", "pronto pago",
     "sconto se pagato entro il", "korting bij betaling voor", "kassarabatt till", "przy płatności do",
     "при оплате до"],
)  # fmt: skip
def test_a_day_for_a_discount(key: str) -> None:
    assert of_date(f"{key} §") == "DISCOUNT_DATE"


@pytest.mark.parametrize(
    ("line", "first", "second"),
    [
        ("Zahlbar bis {} mit 2 % Skonto (2,38 EUR), bis {} netto.", "DISCOUNT_DATE", "DUE_DATE"),
        ("Zahlung bis {} abzüglich 2 % Skonto oder bis {} ohne Abzug", "DISCOUNT_DATE", "DUE_DATE"),
        ("Zahlbar bis {} netto, bis {} mit 2 % Skonto", "DUE_DATE", "DISCOUNT_DATE"),
        ("Payable by {} with 2 % discount; otherwise by {} in full", "DISCOUNT_DATE", "DUE_DATE"),
        ("Le {} avec escompte de 2 %, le {} sans escompte", "DISCOUNT_DATE", "DUE_DATE"),
        ("Pagamento entro il {} con sconto del 2 %, il {} netto", "DISCOUNT_DATE", "DUE_DATE"),
        ("Te betalen voor {} met 2 % korting, uiterlijk {} zonder korting", "DISCOUNT_DATE", "DUE_DATE"),
        ("Fällig am {}  2 % Skonto bis {}", "DUE_DATE", "DISCOUNT_DATE"),
        ("Rechnung vom {} mit Anlagen, fällig {}", "INVOICE_DATE", "DUE_DATE"),
    ],
)
@pytest.mark.parametrize("day", ["22.03.2026", "2026-03-22", "22. März 2026", "March 22, 2026"])
def test_words_behind_a_date_say_whether_there_is_a_discount(line: str, first: str, second: str, day: str) -> None:
    text = line.format(day, day)
    places = text.index(day), text.rindex(day)
    assert [date_role(TextLines(text), place) for place in places] == [first, second]


@pytest.mark.parametrize(
    ("key", "role"),
    [
        ("Rechnung Nr. 4711 vom", "INVOICE_DATE"),
        ("Facture du", "INVOICE_DATE"),
        ("Fattura n. 412/2026 del", "INVOICE_DATE"),
        ("Invoice 4471 –", "INVOICE_DATE"),
        ("München, den", "INVOICE_DATE"),
        ("Lyon, le", "INVOICE_DATE"),
        ("Kraków, dnia", "INVOICE_DATE"),
        ("Rechnungs- und Lieferdatum:", "SUPPLY_DATE"),
        ("Rechnungsdatum/Lieferdatum:", "INVOICE_DATE"),
        ("Invoice date and delivery date", "INVOICE_DATE"),
        ("Direct debit on", "DUE_DATE"),
        ("Vervaldag:", "DUE_DATE"),
        ("Vous serez prélevé le", "DUE_DATE"),
        ("01/02/2026 –", ANOTHER),
        ("1 février 2026 au", ANOTHER),
        ("of all that was delivered by our friends there, on", None),
        ("we met on", None),
        ("", None),
    ],
)
def test_a_date_s_key(key: str, role: str | None) -> None:
    assert of_date(f"{key} §") == role


@pytest.mark.parametrize(
    ("key", "role"),
    [
        ("Customer no.", ANOTHER),
        ("N° client", ANOTHER),
        ("Kundennummer:", ANOTHER),
        ("Číslo smlouvy", ANOTHER),
        ("Numer licznika", ANOTHER),
        ("Sales order", ANOTHER),
        ("Datum: 17. Anzahlungsrechnung Nr.", ANOTHER),
        ("Anzahlungsrechnung Nr.", "INVOICE_ID"),
        ("FACTURE D'ACOMPTE N°", "INVOICE_ID"),
        ("Ihr Auftrag vom 02.03.2026, Nr.", "PURCHASE_ORDER"),
        ("Numero documento:", "INVOICE_ID"),
        ("Creditnummer:", "INVOICE_ID"),
        ("SAMLINGSFAKTURA", "INVOICE_ID"),
        ("Rechnung / Lieferschein Nr.", "INVOICE_ID"),
        ("Facture et bon de livraison n°", "INVOICE_ID"),
        ("Lieferschein Nr.", ANOTHER),
        ("Uw bestelbon", "PURCHASE_ORDER"),
        ("Nr.:", MERE),
        ("発行日 2026年5月12日 番号", MERE),
        ("Room no.", None),
        ("Cod. Fisc.", None),
        ("Order no.", "PURCHASE_ORDER"),
        ("Your PO", "PURCHASE_ORDER"),
        ("Customer's order no.", "PURCHASE_ORDER"),
        ("Vaše objednávka č.", "PURCHASE_ORDER"),
        ("Invoice no.", "INVOICE_ID"),
        ("OCR-nummer", "PAYMENT_REFERENCE"),
        ("KID", "PAYMENT_REFERENCE"),
        ("Viitenumero:", "PAYMENT_REFERENCE"),
        ("Betalingskenmerk", "PAYMENT_REFERENCE"),
        ("Variabilní symbol:", "PAYMENT_REFERENCE"),
        ("Verwendungszweck: Rechnung", "PAYMENT_REFERENCE"),
        ("Please quote invoice no.", "PAYMENT_REFERENCE"),
        ("tytułem:", "PAYMENT_REFERENCE"),
        ("you have", None),
    ],
)
def test_a_number_s_key(key: str, role: str | None) -> None:
    assert of_number(f"{key} §") == role


def test_a_deposit_with_an_amount_is_that_of_another_bill() -> None:
    assert of_number("Anzahlungsrechnung Nr. § -500,00") == ANOTHER
    assert of_number("less deposit §") == ANOTHER


def test_a_mere_number_may_have_its_word_above() -> None:
    assert of_number("Nº\tSérie\n§\t1") == MERE


@pytest.mark.parametrize(
    ("key", "role"),
    [
        ("Számla kelte:", "INVOICE_DATE"),
        ("Kelt:", "INVOICE_DATE"),
        ("Fizetési határidő:", "DUE_DATE"),
        ("Esedékesség", "DUE_DATE"),
        ("Teljesítés kelte", "SUPPLY_DATE"),
        ("Teljesítés időpontja:", "SUPPLY_DATE"),
        ("Rendelés dátuma:", ANOTHER),
        ("Következő leolvasás:", ANOTHER),
        ("Ημερομηνία έκδοσης:", "INVOICE_DATE"),
        ("Ημ/νία:", "INVOICE_DATE"),
        ("Ημερομηνία λήξης:", "DUE_DATE"),
        ("Πληρωμή έως", "DUE_DATE"),
        ("Ημερομηνία παράδοσης", "SUPPLY_DATE"),
        ("Ημερομηνία παραγγελίας", ANOTHER),
    ],
)
def test_hungarian_and_greek_days(key: str, role: str) -> None:
    assert of_date(f"{key} §") == role


@pytest.mark.parametrize(
    ("key", "role"),
    [
        ("Számla sorszáma:", "INVOICE_ID"),
        ("Számlaszám:", "INVOICE_ID"),
        ("Nyugta száma:", "INVOICE_ID"),
        ("Sorszám:", MERE),
        ("Megrendelés száma:", "PURCHASE_ORDER"),
        ("Bankszámlaszám:", ANOTHER),
        ("Adószám:", ANOTHER),
        ("Eredeti számla száma:", ANOTHER),
        ("Közlemény:", "PAYMENT_REFERENCE"),
        ("Αριθμός τιμολογίου:", "INVOICE_ID"),
        ("Τιμολόγιο αρ.", "INVOICE_ID"),
        ("Αριθμός παραγγελίας:", "PURCHASE_ORDER"),
        ("ΑΦΜ:", ANOTHER),
        ("Κωδικός πελάτη:", ANOTHER),
        ("Κωδικός πληρωμής:", "PAYMENT_REFERENCE"),
    ],
)
def test_hungarian_and_greek_numbers(key: str, role: str) -> None:
    assert of_number(f"{key} §") == role


def test_a_sentence_goes_on_from_the_line_above() -> None:
    assert of_date("Pronto pago 1 % si se abona\nantes del §") == "DISCOUNT_DATE"
    assert of_date("Pronto pago 1 % si se abona\nAntes del §") is None


def test_the_cell_above_is_a_key_too() -> None:
    assert of_date("Number\tPaid on\n17\t§") == ANOTHER
    assert of_number("Number\tCustomer no.\nA\t§") == ANOTHER


@pytest.mark.parametrize(
    ("key", "is_yours"), [("Your PO", True), ("Bestelling:", True), ("Order no.", False), ("Auftrag", False)]
)
def test_an_order_may_be_named_as_the_buyer_s(key: str, *, is_yours: bool) -> None:
    assert is_your_order(TextLines(f"{key} 17"), len(key) + 1) is is_yours


@pytest.mark.parametrize(("key", "named"), [("Invoice date", True), ("Date", False), ("Credit note", False)])
def test_a_key_may_name_a_bill(key: str, *, named: bool) -> None:
    assert is_named_as_bill(TextLines(f"{key} 17"), len(key) + 1) is named


def test_words_of_a_bill_s_number_are_those_at_the_key_s_end() -> None:
    found = bill_number_words("original invoice no. ")
    assert found is not None
    assert (found[0], found[1]["number"]) == (ANOTHER, "no")
    assert bill_number_words("customer no. ") is None


def test_a_mention_has_the_role_of_its_kind() -> None:
    text = "Invoice 17 due 2 March 2026"
    number, day = mentions_in(text, ("ID_NUMBER", "17"), ("DATE", "2 March 2026"))
    assert [role_before(TextLines(text), each) for each in (number, day)] == ["INVOICE_ID", "DUE_DATE"]


@pytest.mark.parametrize("words", ["order ", "invoice no. ", "rechnung vom ", "date/", "a b, den ", "po#"])
def test_keys_are_read_in_short_time(words: str) -> None:
    text = words * (100_000 // len(words))
    lines = TextLines(text)
    began = time.thread_time()
    for start in range(50_000, 50_200):
        date_role(lines, start)
        number_role(lines, start)
    assert time.thread_time() - began < 2


def test_a_date_of_a_line_without_cells_is_alone() -> None:
    text = f"{'word ' * 60}12 March 2026"
    (day,) = mentions_in(text, ("DATE", "12 March 2026"))
    assert is_alone(TextLines(text), day)
    assert not is_alone(TextLines(text[200:]), day._replace(start=day.start - 200, end=day.end - 200))
