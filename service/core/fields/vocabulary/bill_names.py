"""Names of bills in all languages of the vocabulary, and words for their numbers and days.

Rules:
- The notation and the order of languages are those of `paper_names`.
- `SPECIAL_BILLS` and `KEYS` are searched before `BILLS`: a "Stornorechnung" is also a "*rechnung".
"""

from __future__ import annotations

from service.core.fields.kinds import PaperKind
from service.core.fields.vocabulary.paper_names import PaperName
from service.core.fields.vocabulary.phrases import in_all_languages

SPECIAL_BILLS = (
    PaperName(
        PaperKind.CREDIT_NOTE,
        in_all_languages("credit") + " 贷项通知单 대변표 odobrenje "
        "кредитно_известие kreditinė_sąskaita kredītrēķins kreeditarve kreditreikningur hóa_đơn_điều_chỉnh_giảm "
        "ใบลดหนี้ חשבונית_זיכוי",
        "381",
    ),
    PaperName(
        PaperKind.INVOICE,
        in_all_languages("correction") + " corrected_invoice 修正請求書 opravná_faktúra",
        "384",
    ),
    PaperName(
        PaperKind.INVOICE,
        "prepayment_invoice advance_invoice advance_payment_invoice deposit_invoice down_payment_invoice "
        "*anzahlungsrechnung *vorauszahlungsrechnung *vorkasserechnung voorschotfactuur aanbetalingsfactuur "
        "förskottsfaktura forskudsfaktura forskuddsfaktura facture_d'acompte factura_de_anticipo fattura_di_acconto "
        "fattura_d'acconto fatura_de_adiantamento factură_de_avans factură_avans faktura_zaliczkowa zálohová_faktura "
        "авансовый_счет счет_на_аванс счет_на_предоплату счет_на_предоплату avans_faturası ennakkolasku előlegszámla "
        "előleg_számla τιμολόγιο_προκαταβολής zálohová_faktúra račun_za_avans predujmovni_račun avansa_rēķins "
        "前払請求書 预付款发票 선급금_청구서 فاتورة_دفعة_مقدمة अग्रिम_बीजक invois_deposit",
        "386",
    ),
    PaperName(
        PaperKind.INVOICE,
        "partial_invoice progress_invoice interim_invoice *teilrechnung *abschlagsrechnung deelfactuur termijnfactuur "
        "delfaktura acontofaktura facture_de_situation facture_partielle factura_parcial fattura_parziale "
        "fatura_parcial factură_parțială faktura_częściowa dílčí_faktura kısmi_fatura osalasku részszámla "
        "delna_faktura 中間請求書",
        "326",
    ),
    PaperName(
        PaperKind.INVOICE,
        "self_billed_invoice self_billing_invoice autofacture autofactura autofattura samofakturowanie",
        "389",
    ),
)
"""Bills whose names hold a plain bill's name, or that mean something else than a plain one."""

BILLS = (
    PaperName(
        PaperKind.RECEIPT,
        "receipt sales_receipt cash_receipt payment_receipt till_receipt *quittung *kassenbon kassenbeleg "
        "kassenzettel barbeleg kassabon kwitantie kvitto kassakvitto kvittering kassebon reçu ticket_de_caisse "
        "ticket_client recibo ticket_de_compra ricevuta scontrino scontrino_fiscale cupom_fiscal talão chitanță "
        "bon_fiscal paragon paragon_fiskalny účtenka paragonový_doklad чек кассовый_чек товарный_чек fiş kuitti "
        "領収書 領収証 レシート 收据 收據 小票 영수증 إيصال سند_قبض रसीद resit kuitansi nyugta απόδειξη apodeixi "
        "pokladničný_doklad blagajnički_račun касова_бележка kvitas čeks kviitung kassakviitung kvittun biên_lai "
        "ใบเสร็จรับเงิน קבלה",
    ),
    PaperName(
        PaperKind.INVOICE,
        "invoice bill regning e_invoice e_rechnung e_faktura e_fatura e_arşiv_fatura tax_invoice vat_invoice "
        "sales_invoice commercial_invoice cash_bill *rechnung *honorarnote factuur faktura slutfaktura "
        "samlingsfaktura samlefaktura kontantfaktura facture factura fattura fatura factură faktura_vat rachunek "
        "faktury faktura_daňový_doklad daňový_doklad счет счёт счет_фактура счёт_фактура "
        "универсальный_передаточный_документ lasku nota_fiscal nota_fiscal_eletrônica danfe 請求書 発票 インボイス "
        "发票 發票 账单 帳單 청구서 세금계산서 송장 فاتورة الفاتورة فاتورة_ضريبية बीजक चालान बिल कर_बीजक टैक्स_इनवॉइस "
        "invois faktur nota_honorari számla τιμολόγιο faktúra račun фактура рахунок рахунок_фактура sąskaita_faktūra "
        "pvm_sąskaita_faktūra sąskaita rēķins arve reikningur hóa_đơn ใบแจ้งหนี้ ใบกำกับภาษี חשבונית חשבונית_מס",
        "380",
    ),
)
"""Plain bills."""

KEYS = (
    PaperName(
        PaperKind.INVOICE,
        "invoice_number invoice_date invoice_id bill_number bill_date rechnungsnummer rechnungsnr rechnungs_nr "
        "rechnungsdatum belegnummer_rechnung factuurnummer factuurnr factuurdatum fakturanummer fakturanr "
        "fakturadatum fakturadato fakturadag n°_facture n°_de_facture numéro_facture numéro_de_facture "
        "date_de_facture date_facture nº_factura n.º_de_factura nº_de_factura número_de_factura número_factura "
        "fecha_de_factura fecha_factura numero_fattura data_fattura n._fattura nº_fatura número_da_fatura "
        "data_da_fatura nr_factură număr_factură data_facturii nr_faktury numer_faktury data_wystawienia_faktury "
        "číslo_faktury č._faktury номер_счета дата_счета fatura_no fatura_numarası fatura_tarihi laskun_numero "
        "laskun_päivä* laskun_pvm laskunro 請求書番号 請求番号 请求书编号 发票号码 发票号 发票代码 청구서_번호 "
        "송장_번호 رقم_الفاتورة تاريخ_الفاتورة बीजक_संख्या बिल_संख्या nombor_invois no_invois számla_száma "
        "számla_sorszáma číslo_faktúry broj_računa številka_računa sąskaitos_numeris rēķina_numurs arve_number "
        "tarikh_invois",
        "380",
    ),
)
"""Words for a bill's own number and day, which begin with its name or hold it."""

NO_NAMES = (
    "*berechnung *verrechnung *aufrechnung *umrechnung *hochrechnung *anrechnung *zurechnung reçu_le reçu_par "
    "bill_of_materials bill_of_sale bill_of_quantities bill_of_exchange"
)
"""Words that hold a bill's name and name none."""
