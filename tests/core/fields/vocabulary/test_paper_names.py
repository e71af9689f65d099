"""Titles of papers in all languages: one text is what its title says."""

from __future__ import annotations

import pytest

from service.core.fields.kinds import PaperKind
from service.core.fields.paper_kind import PaperMatch, paper_kind
from tests.support.mentions import mention


def paper(text: str) -> PaperMatch:
    """Classify a text that has the entities of an invoice."""
    labels = ("SUPPLIER_NAME", "RECEIVER_NAME", "TOTAL_AMOUNT", "INVOICE_DATE", "DUE_DATE")
    return paper_kind(text, [mention(number, label, "x", 0) for number, label in enumerate(labels)])


TITLES = {
    PaperKind.PRO_FORMA: "Proforma factuur | Proformafaktura nr 12 | FACTURE PRO FORMA N° 2026-5 | "
    "Factura proforma 0012 | Fattura proforma n. 7/2026 | Fatura Pró-forma | Factură proformă seria PF nr. 8 | "
    "Faktura pro forma nr 3/2026 | Proforma faktura č. 5 | Счёт-проформа № 5 | Proforma Fatura | Proformalasku | "
    "プロフォーマインボイス | 形式发票 | 견적송장 | فاتورة مبدئية | प्रोफार्मा बीजक | Invois Proforma | "
    "Invoice (pro forma) | Rechnung – Proforma | PRO-FORMA INVOICE",
    PaperKind.DEBIT_NOTE: "Lastschriftanzeige | Belastungsanzeige Nr. 5 | Debetnota | Debitnota 77 | "
    "Note de débit n° 5 | Nota de débito ND-3 | Nota di debito n. 4 | Notă de debit | Nota obciążeniowa nr 5 | "
    "Nota debetowa | Vrubopis č. 1 | Дебет-нота № 3 | Borç dekontu | デビットノート | 借项通知单 | إشعار مدين | "
    "Nota debit | DEBIT MEMO",
    PaperKind.REMINDER: "3. Mahnung | Letzte Mahnung | Mahnung zu Rechnung 2026-5 | "
    "Zahlungserinnerung Nr. 12 | Erste Zahlungserinnerung | Herinnering | Aanmaning factuur 77 | "
    "Betalningspåminnelse | Påminnelse om faktura 552 | Rykkerskrivelse | Betalingspåmindelse | Purring | "
    "Inkassovarsel | Lettre de relance | 2ème relance | Mise en demeure | Rappel de paiement | "
    "Recordatorio de pago | Requerimiento de pago | Sollecito di pagamento | Aviso de cobrança | Somație de plată | "
    "Wezwanie do zapłaty | Ostateczne wezwanie do zapłaty | Przypomnienie o płatności | Upomínka | Výzva k úhradě | "
    "Напоминание об оплате | Ödeme hatırlatması | Maksumuistutus | Maksukehotus | 督促状 | 催款通知书 | 독촉장 | "
    "تذكير بالدفع | भुगतान अनुस्मारक | Peringatan pembayaran | FINAL NOTICE | Overdue invoice reminder | "
    "Past due notice | Reminder: invoice 77 is overdue | Second reminder – Invoice INV-9 | "
    "Subject: Payment reminder – invoice 55",
    PaperKind.STATEMENT: "Kontoauszug Nr. 7/2026 | Rekeningoverzicht | Bankafschrift | Kontoutdrag | "
    "Kontoudtog | Kontoutskrift | Relevé de compte | Relevé bancaire | Extracto bancario | Estado de cuenta | "
    "Estratto conto | Extrato bancário | Extras de cont | Wyciąg bankowy | Wyciąg z rachunku nr 5 | Výpis z účtu | "
    "Выписка по счету | Акт сверки взаимных расчетов | Hesap ekstresi | Tiliote | 取引明細書 | 对账单 | 거래내역서 | "
    "كشف حساب | खाता विवरण | Penyata akaun | STATEMENT | Account Statement | Monthly statement | "
    "Statement of Account as at 31.03.2026 | BANK STATEMENT",
    PaperKind.PAYSLIP: "Lohnabrechnung Mai 2026 | Verdienstabrechnung | Bezugsabrechnung 04/2026 | Entgeltabrechnung | "
    "Gehaltsabrechnung | Loonstrook | Salarisspecificatie | Lönespecifikation | Lønseddel | Lønnsslipp | "
    "Bulletin de paie | Fiche de paie | Nómina | Recibo de salarios | Busta paga | Cedolino | Recibo de vencimento | "
    "Holerite | Fluturaș de salariu | Pasek wynagrodzeń | Výplatní páska | Расчетный листок | Maaş bordrosu | "
    "Palkkalaskelma | 給与明細書 | 工资单 | 급여명세서 | قسيمة الراتب | वेतन पर्ची | Slip Gaji | PAY STUB | "
    "Payslip for May 2026",
    PaperKind.REMITTANCE_ADVICE: "Zahlungsavis | Gutschriftanzeige | Betalingsadvies | Betaalspecificatie | "
    "Betalningsbesked | Avis de paiement | Avis de virement | Aviso de pago | Avviso di bonifico | "
    "Aviso de pagamento | Aviz de plată | Awizo płatności | Avízo platby | Платежное поручение № 5 | "
    "Ödeme bildirimi | Maksuerittely | 支払通知書 | 付款通知 | 지급통지서 | إشعار تحويل | भुगतान सूचना | "
    "Notis bayaran | Payment advice | REMITTANCE ADVICE",
    PaperKind.PAYMENT_CONFIRMATION: "Zahlungsbestätigung | Betalingsbevestiging | Betalningsbekräftelse | "
    "Betalingsbekræftelse | Confirmation de paiement | Confirmación de pago | Justificante de pago | "
    "Conferma di pagamento | Comprovativo de pagamento | Comprovante de pagamento | Confirmare de plată | "
    "Potwierdzenie płatności | Potwierdzenie przelewu | Potvrzení o platbě | Подтверждение оплаты | Ödeme onayı | "
    "Maksuvahvistus | 入金確認書 | 付款凭证 | 입금확인서 | تأكيد الدفع | भुगतान की पुष्टि | Pengesahan pembayaran | "
    "Payment confirmation",
    PaperKind.ORDER_CONFIRMATION: "Auftragsbestätigung AB-2026/5 | Bestellbestätigung | Orderbevestiging | "
    "Orderbekräftelse | Ordererkännande | Ordrebekræftelse | Ordrebekreftelse | Confirmation de commande | "
    "Accusé de réception de commande | Confirmación de pedido | Conferma d'ordine | Confirmação de encomenda | "
    "Confirmare de comandă | Potwierdzenie zamówienia nr 5 | Potvrzení objednávky | Подтверждение заказа | "
    "Sipariş onayı | Tilausvahvistus | 注文請書 | 订单确认书 | 주문확인서 | تأكيد الطلب | आदेश पुष्टि | "
    "Pengesahan pesanan | ORDER ACKNOWLEDGEMENT | Booking confirmation | Buchungsbestätigung",
    PaperKind.OFFER: "Angebot Nr. 2026-11 | Kostenvoranschlag | Offerte | Offert | Tilbud | Devis n° 12 | "
    "Presupuesto | Cotización | Preventivo n. 5 | Orçamento | Ofertă de preț | Oferta nr 5/2026 | Wycena | "
    "Cenová nabídka | Nabídka č. 5 | Коммерческое предложение | Fiyat Teklifi | Tarjous | 見積書 | 御見積書 | "
    "报价单 | 견적서 | عرض سعر | कोटेशन | Sebut harga | ESTIMATE | Quote Q-55 | Price quotation",
    PaperKind.DELIVERY_NOTE: "Lieferschein Nr. 5 | Pakbon | Följesedel | Følgeseddel | Pakkseddel | "
    "Bon de livraison n° 5 | Albarán 55 | Nota de entrega | Documento di trasporto | D.D.T. n. 12 del 03/03/2026 | "
    "Guia de remessa | Aviz de însoțire a mărfii | WZ 12/2026 | Dodací list | Товарная накладная № 5 | "
    "Sevk İrsaliyesi | Lähetyslista | 納品書 | 送货单 | 납품서 | إشعار تسليم | डिलीवरी चालान | Nota penghantaran | "
    "Packing list | Goods received note | DISPATCH NOTE",
    PaperKind.WAYBILL: "Frachtbrief | CMR consignment note | Vrachtbrief | Fraktsedel | Lettre de voiture | "
    "Carta de porte | Polizza di carico | Konosament | Коносамент | 船荷証券 | 提单 | 선하증권 | Air waybill",
    PaperKind.RETURN_SLIP: "Rücksendeschein | Retourenschein | Retourbon | Retursedel | Bon de retour | "
    "Nota de devolución | Bolla di reso | Guia de devolução | Formularz zwrotu | İade formu | 返品伝票 | 退货单 | "
    "Returns form | RMA # 55",
    PaperKind.ORDER: "Bestellung Nr. 5 | Inkooporder | Inköpsorder 77 | Indkøbsordre | Innkjøpsordre | "
    "Bon de commande n° 5 | Orden de compra | Pedido 5512 | Ordine d'acquisto | Ordem de compra | "
    "Nota de encomenda | Comandă | Zamówienie nr 5/2026 | Objednávka č. 9 | Заказ поставщику № 5 | "
    "Satın alma siparişi | Ostotilaus | 注文書 | 采购订单 | 발주서 | أمر شراء | क्रय आदेश | Pesanan tempatan | "
    "PURCHASE ORDER No. 45001",
    PaperKind.PRICE_LIST: "Preisliste 2026 | Prijslijst | Prislista | Prisliste | Liste de prix | "
    "Tarif général | Lista de precios | Listino prezzi | Tabela de preços | Listă de prețuri | Cennik | Ceník | "
    "Прайс-лист | Fiyat listesi | Hinnasto | 価格表 | 价格表 | 가격표 | قائمة الأسعار | मूल्य सूची | Senarai harga | "
    "Price list",
    PaperKind.EXPENSE_REPORT: "Reisekostenabrechnung | Spesenabrechnung | Onkostendeclaratie | Reseräkning | "
    "Rejseafregning | Reiseregning | Note de frais | Nota de gastos | Nota spese | Nota de despesas | "
    "Decont de cheltuieli | Rozliczenie delegacji | Vyúčtování cesty | Авансовый отчет | Masraf formu | Matkalasku | "
    "経費精算書 | 报销单 | 경비정산서 | تقرير المصروفات | व्यय रिपोर्ट | Tuntutan perbelanjaan | Expense report",
    PaperKind.TIMESHEET: "Stundenzettel | Tätigkeitsnachweis | Urenstaat | Tidrapport | Timeseddel | "
    "Feuille de temps | Hoja de horas | Foglio ore | Folha de horas | Karta czasu pracy | Výkaz práce | Табель | "
    "Puantaj | Tuntilista | 勤務表 | 工时表 | 근무시간표 | Timesheet",
    PaperKind.TAX_ASSESSMENT: "Einkommensteuerbescheid 2025 | Grundsteuerbescheid | Aanslagbiljet | "
    "Skattebesked | Årsopgørelse | Avis d'imposition | Avis d'impôt 2026 | Avviso di accertamento | "
    "Nota de liquidação | Decizie de impunere | Platební výměr | Налоговое уведомление | Vergi tahakkuk fişi | "
    "Verotuspäätös | 納税通知書 | 税务通知书 | 납세고지서 | Notice of assessment",
    PaperKind.CONTRACT: "Mietvertrag | Kaufvertrag | Huurovereenkomst | Anställningsavtal | "
    "Contrat de location | Contrato de arrendamiento | Contratto di locazione | Umowa najmu | Kupní smlouva | "
    "Договор поставки № 5 | Kira sözleşmesi | Vuokrasopimus | 契約書 | 合同 | 계약서 | Lease agreement",
    PaperKind.INQUIRY: "Anfrage Nr. 5 | Offerteaanvraag | Demande de devis | Solicitud de presupuesto | "
    "Richiesta di offerta | Zapytanie ofertowe nr 5 | Poptávka | Tarjouspyyntö | 見積依頼書 | 询价单 | "
    "REQUEST FOR QUOTATION",
    PaperKind.CUSTOMS_DECLARATION: "Zollanmeldung | Déclaration en douane | Declaración aduanera | Bolletta doganale | "
    "Zgłoszenie celne | Таможенная декларация | 报关单 | Customs declaration",
    PaperKind.WORK_REPORT: "Arbeitsbericht | Werkbon | Rapport d'intervention | Rapporto di intervento | "
    "Protokół odbioru | Акт выполненных работ № 5 | 検収書 | Service report 7",
    PaperKind.VOUCHER: "Gutschein | Presentkort | Carte cadeau | Tarjeta regalo | Bon podarunkowy | 상품권 | "
    "Gift voucher",
    PaperKind.COMPLAINT: "Rechnungsreklamation | Reklamation | Mängelrüge | Réclamation | Reclamación | "
    "Reklamacja | Reklamace",
    PaperKind.INVOICE: "Rechnung | RECHNUNG Nr. 2026-5 | Factuur | Faktura | FAKTURA NR 552 | Facture n° 5 | "
    "FACTURA | Factura simplificada | Fattura | Fattura n. 12 del 3 marzo 2026 | Fattura accompagnatoria | Fatura | "
    "Fatura-Recibo FR 2026/5 | Factură fiscală | Faktura VAT 5/2026 | FAKTURA SPRZEDAŻY | "
    "Faktura - daňový doklad č. 5 | Счёт-фактура № 5 | Счет на оплату № 5 | e-Fatura | e-Arşiv Fatura | Lasku | "
    "請求書 | 御請求書 | 適格請求書 | ご請求書 | 发票 | 增值税专用发票 | 세금계산서 | 청구서 | فاتورة ضريبية | "
    "कर बीजक | Invois | Tax Invoice | INVOICE | Commercial Invoice | Sales Invoice 77 | Final invoice | "
    "Invoice No. INV-9 | Rechnung / Lieferschein | Lieferschein/Rechnung | Rechnung und Lieferschein | "
    "Invoice & Packing slip | Order invoice | Delivery note / Invoice | Fattura / DDT | Facture - Bon de livraison | "
    "Handwerkerrechnung | Stromrechnung | Honorarrechnung | Your electricity bill | Votre facture d'électricité | "
    "Ihre Rechnung vom 3. März 2026 | Facture d'acompte | Abschlagsrechnung Nr. 2 | Schlussrechnung | "
    "Rechnung zum Lieferschein 5512 | Invoice for order 88 | Fattura elettronica | Faktura korygująca nr 3 | "
    "Factura rectificativa R-5 | Bill | Water bill | 納品書兼請求書 | Nota Fiscal Eletrônica | DANFE | "
    "Retail Invoice/Bill | Electricity Bill | Invoice for May 2026 | Rechnung Mai 2026 | Facture de vente | "
    "Tax Invoice/Bill of Supply/Cash Memo | Regning",
    PaperKind.CREDIT_NOTE: "Gutschrift | Gutschrift Nr. 5 | Rechnungskorrektur | Stornorechnung | "
    "Creditnota | Kreditfaktura | Kreditnota | Avoir n° 5 | Facture d'avoir | Nota de crédito | Factura de abono | "
    "Nota di credito | Notă de credit | Dobropis | Hyvityslasku | İade faturası | 返還請求書 | 红字发票 | "
    "Credit note for invoice 77",
    PaperKind.RECEIPT: "Receipt | Sales receipt | Quittung | Kassenbon | Kassabon | Kvitto | Kvittering | "
    "Reçu | Ticket de caisse | Recibo | Scontrino fiscale | Ricevuta | Bon fiscal | Paragon fiskalny | Účtenka | "
    "Кассовый чек | Fiş | Kuitti | 領収書 | 收据 | 영수증 | إيصال | रसीद | Resit | Payment receipt | "
    "Receipt # 5512",
}
"""Titles of each kind, in the order of `phrases.LANGUAGES`."""


@pytest.mark.parametrize("kind", TITLES)
def test_the_same_text_is_what_its_title_says(kind: PaperKind) -> None:
    for title in TITLES[kind].split(" | "):
        text = f"Acme Handel\nHauptstr. 1\nFinch Ltd\n\n{title}\n\nPos  Text  Summe\n1  Oak  100.00\nTotal  120.00\n"
        found = paper(text)
        assert (title, found.kind, found.title(text)) == (title, kind, title)


@pytest.mark.parametrize(
    ("title", "kind", "code"),
    [
        ("Angebot", PaperKind.OFFER, None),
        ("Auftragsbestätigung", PaperKind.ORDER_CONFIRMATION, None),
        ("Lieferschein", PaperKind.DELIVERY_NOTE, None),
        ("Bestellung", PaperKind.ORDER, None),
        ("Proforma-Rechnung", PaperKind.PRO_FORMA, "325"),
        ("Zahlungserinnerung", PaperKind.REMINDER, None),
        ("Kontoauszug", PaperKind.STATEMENT, None),
        ("Quotation", PaperKind.OFFER, None),
        ("Order confirmation", PaperKind.ORDER_CONFIRMATION, None),
        ("Delivery note", PaperKind.DELIVERY_NOTE, None),
        ("Purchase order", PaperKind.ORDER, None),
        ("Pro forma invoice", PaperKind.PRO_FORMA, "325"),
        ("Payment reminder", PaperKind.REMINDER, None),
        ("Statement of account", PaperKind.STATEMENT, None),
        ("Remittance advice", PaperKind.REMITTANCE_ADVICE, None),
        ("Debit note", PaperKind.DEBIT_NOTE, "383"),
    ],
)
def test_sixteen_titles_over_one_text(title: str, kind: PaperKind, code: str | None) -> None:
    text = f"Acme GmbH\n{title} 2026-5\nFinch Ltd\n3 March 2026\nOak 100.00\nNet 100.00\nVAT 20.00\nTotal EUR 120.00"
    assert (paper(text).kind, paper(text).document_type) == (kind, code)
    assert paper(text.replace(title, "Invoice")).document_type == "380"
