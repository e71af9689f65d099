"""English, German, Dutch, Swedish, Danish and Norwegian."""

from __future__ import annotations

from service.core.fields.vocabulary.words import BillWords

ENGLISH = BillWords(
    total="total totals",
    gross="grand_total gross gross_amount gross_total total_gross",
    to_pay="amount_due total_due balance_due due_amount amount_payable amt_payable total_payable amount_to_pay to_pay "
    "please_pay final_total amount_owing balance_owing balance_to_pay balance_payable outstanding outstanding_balance "
    "amount_outstanding remaining_balance amount_now_due net_payable",
    rounded="rounded after_rounding rounded_total total_rounded",
    net="net_amount net_value net_of_tax taxable_amount total_net taxable_value taxable_amt taxable_total "
    "total_taxable assessable_value",
    net_or_total="net nett net_total nett_total",
    subtotal="subtotal sub_total total_before_tax",
    tax="tax taxes vat gst hst sst sales_tax service_tax cgst sgst igst utgst cess qst pst rst state_tax county_tax "
    "city_sales_tax district_tax use_tax sales_and_use_tax iva",
    sums="amount amt sales value",
    including="incl including inclusive inc included",
    excluding="excl excluding exclusive exc ex without w/o before",
    paid="cash paid tender tendered cash_received amount_received visa master mastercard amex credit_card debit_card "
    "credit debit card",
    change="change change_due cash_change",
    no_sum="qty quantity item items pcs pax point points unit_price capital hours weight per exchange_rate "
    "rate_of_exchange conversion_rate fx_rate",
    untaxed="city_tax tourist_tax tourism_levy tourism_fee occupancy_tax non_taxable non_taxed disbursements "
    "bottle_deposit container_deposit",
    tip="tip tips gratuity",
    service_charge="service_charge svc_chg serv_chg discretionary_service optional_service",
    shipping="shipping freight delivery handling postage carriage shipping_and_handling shipping_&_handling s&h p&p",
    withholding="withholding withholding_tax tax_withheld tds less_tds retention retainage",
    discount="saving savings saved disc discount discounts coupon voucher rebate promo promotion promo_code",
    prepaid="deposit deposits deposit_paid prepaid prepayment part_payment down_payment payment_on_account "
    "already_paid paid_to_date previous_payment previous_payments payments_received payment_received less_payments "
    "less_paid retainer_applied",
    brought_forward="balance_brought_forward brought_forward previous_balance opening_balance past_due "
    "past_due_amount prior_balance",
    rounding="round rounding rounding_adj* round_adj*",
    due="due due_date payable_by payable_until payment_by payment_until pay_by pay_until payment_due due_on due_by "
    "please_pay_by payment_due_date date_due",
    dated="date dated date_of_issue issued issue_date issued_on billing_date bill_date",
    another_day="delivery_date shipping_date service_date order_date print_date start_date end_date birth_date "
    "date_of_birth date_of_supply training_date discount_until expiry_date",
    bill="invoice receipt bill inv doc document",
    order="purchase_order order po p.o. your_order customer_po your_reference your_ref order_reference "
    "customer_reference client_reference",
    another_bill="related_invoice original_invoice corrected_invoice previous_invoice for_invoice ref_invoice "
    "invoice_ref linked_invoice credited_invoice",
    number="no nr num number id code n° n.",
    seller="from seller supplier vendor vendor_name remit_to billed_from issued_by sold_by service_provider "
    "shipped_by payee",
    buyer="bill_to billed_to invoice_to invoiced_to sold_to billing_address invoice_address attn messrs customer "
    "buyer client purchaser ship_to bill_to_party attention recipient payer account_holder",
    to="to att",
    currency="currency currency_code invoice_currency document_currency amounts_in all_amounts_in prices_in",
    credit="credit_note credit_memo credit_memorandum credit_invoice refund_note",
    correction="corrective_invoice correction_invoice adjustment_note",
    tax_number="vat vat_no vat_number vat_id vat_reg* vat_registration* vat_reg_no tax_id tax_no tax_number tax_reg* "
    "tin ein abn gstin gst_no gst_reg* gst_number uin fein federal_tax_id trn gst/hst",
    your="your",
    representative="tax_representative fiscal_representative tax_agent",
    other_number="serial serial_no serial_number s/n sn imei duns gln account_no account_number account routing "
    "routing_number sort_code bsb aba",
    debit="direct_debit direct_debited debit_your_account your_account your_bank_account your_bank "
    "we_will_debit we_will_collect will_be_debited will_be_collected debited_from collected_from mandate "
    "mandate_reference sepa_mandate charged_to_your payer's_account debtor's_account debtor_iban",
    transfer="transfer bank_transfer pay_to payable_to remit remit_to our_account payments_to",
    deposit="deposit deposits advance_payment advance_invoice prepayment_invoice part_payment "
    "progress_invoice interim_invoice part_invoice already_paid already_invoiced "
    "previously_invoiced less_paid on_account",
    carried="carried_forward brought_forward carried_over carry_over balance_b/f c/f b/f",
)

GERMAN = BillWords(
    total="summe gesamt gesamtsumme gesamtbetrag gesamtpreis gesamtbeitrag endbetrag endsumme rechnungsbetrag "
    "rechnungssumme",
    gross="brutto bruttosumme bruttobetrag rechnungssumme_brutto gesamtbetrag_brutto",
    to_pay="zu_zahlen zu_zahlender_betrag zu_zahlender_beitrag zahlbetrag zahlungsbetrag offener_betrag restbetrag "
    "noch_zu_zahlen restzahlung restforderung schlusszahlung verbleibender_betrag noch_offen",
    rounded="gerundet",
    net="netto nettobetrag nettosumme nettobeitrag warenwert",
    subtotal="zwischensumme positionssumme",
    tax="mwst mw.st. mehrwertsteuer ust umsatzsteuer steuer steuerbetrag mwst_betrag ust_betrag versicherungsteuer "
    "ust_satz mwst_satz",
    sums="betrag preis",
    including="inkl inki inklusive einschl einschließlich enthalten enthaltene darin",
    excluding="exkl exki exklusive ohne",
    paid="bar gegeben ec_karte ec_cash girocard kreditkarte kartenzahlung",
    change="rückgeld wechselgeld zurück",
    no_sum="skonto zuschlag zuschläge menge anzahl stück artikel punkte nettopreis bruttopreis einzelpreis stückpreis "
    "*listenpreis basisbetrag steuerbasisbetrag grundbetrag versicherungssumme wechselkurs umrechnungskurs devisenkurs",
    untaxed="kurtaxe ortstaxe kurabgabe bettensteuer beherbergungssteuer übernachtungssteuer citytax pfand leergut "
    "auslagen durchlaufende_posten steuerfrei*",
    tip="trinkgeld",
    service_charge="bedienungszuschlag servicepauschale bedienung",
    shipping="versand* porto fracht frachtkosten lieferkosten transportkosten",
    withholding="quellensteuer bauabzugsteuer steuerabzug sicherheitseinbehalt einbehalt",
    discount="rabatt* nachlass preisnachlass gutschein",
    prepaid="anzahlung anzahlungen abschlag abschläge abschlagszahlung abschlagszahlungen akonto a_conto "
    "vorauszahlung* teilzahlung* bereits_bezahlt bereits_gezahlt bereits_geleistet* bereits_erhalten* "
    "geleistete_zahlung* guthaben",
    brought_forward="saldovortrag alter_saldo offener_saldo vortrag rückstand",
    rounding="rundung rundungsdifferenz",
    due="fällig* zahlbar* zahlungsziel zahlen_bis zahlung_bis netto_bis fälligkeitsdatum fälligkeit zu_zahlen_bis "
    "zahlbar_bis",
    dated="datum rechnungsdatum belegdatum ausstellungsdatum ausgestellt_am rechnungstag",
    another_day="lieferdatum leistungsdatum liefertermin bestelldatum auftragsdatum druckdatum geburtsdatum skonto "
    "leistungszeitraum",
    bill="*rechnung *rechnungs beleg quittung quittungs re",
    order="bestellung bestell auftrag auftrags ihre_bestellung ihr_auftrag ihre_referenz ihr_zeichen bestellreferenz",
    another_bill="ursprungsrechnung originalrechnung bezugsrechnung zu_rechnung zur_rechnung bezug_rechnung "
    "storno_zu_rechnung",
    number="nr nummer",
    seller="verkäufer lieferant rechnungssteller rechnungsersteller absender auftragnehmer verkauft_von "
    "rechnungsaussteller leistungserbringer leistender anbieter zahlungsempfänger zahlbar_an",
    buyer="käufer kunde rechnungsempfänger leistungsempfänger empfänger rechnung_an rechnungsadresse "
    "rechnungsanschrift herrn auftraggeber lieferadresse lieferanschrift zahlungspflichtiger zahlbar_durch "
    "rechnungsnehmer",
    to="an firma",
    by="von",
    currency="währung rechnungswährung belegwährung währungscode beträge_in alle_beträge_in preise_in",
    credit="*gutschrift* *storno_rechnung *rechnungskorrektur",
    correction="*korrekturrechnung",
    tax_number="ust_id* ust_idnr ust_id_nr ustid* umsatzsteuer_id* umsatzsteuer_identifikationsnummer uid uid_nr "
    "steuernummer steuer_nr st._nr. st_nr stnr ust_nr mwst_nr atu vat_nr",
    your="ihr ihre ihrer ihrem",
    representative="fiskalvertreter* steuervertreter* steuerlicher_vertreter",
    other_number="seriennummer serien_nr geräte_nr gerätenummer fahrgestell* zähler_nr zählernummer konto_nr "
    "kontonummer blz bankleitzahl",
    debit="lastschrift* sepa_lastschrift* *abbuchung abgebucht abbuchen eingezogen einziehen bankeinzug "
    "einzugsermächtigung ihrem_konto ihrem_bankkonto ihr_konto ihrer_bankverbindung ihre_bankverbindung "
    "mandat* sepa_mandat* belastet belasten buchen_wir kontobelastung",
    transfer="überweis* banküberweisung unser_konto unserem_konto auf_das_konto auf_folgendes_konto zahlbar_an",
    deposit="*anzahlung* *abschlag* akonto* a_konto* *teilrechnung* *vorauszahlung* *vorschuss* "
    "*zwischenrechnung* bereits_bezahlt bereits_gezahlt bereits_berechnet bereits_verrechnet",
    carried="übertrag vortrag zwischensumme_übertrag übertrag_von",
)

DUTCH = BillWords(
    total="totaal totaalbedrag eindtotaal factuurbedrag",
    gross="totaal_incl bruto",
    to_pay="te_betalen te_voldoen openstaand_bedrag nog_te_betalen resterend_bedrag",
    rounded="afgerond",
    net="netto nettobedrag totaal_excl",
    subtotal="subtotaal",
    tax="btw btw_bedrag",
    sums="bedrag",
    including="inclusief",
    excluding="exclusief zonder",
    paid="contant pin bankpas ontvangen",
    change="wisselgeld",
    no_sum="aantal stuksprijs wisselkoers koers",
    untaxed="toeristenbelasting statiegeld emballage voorschotten onbelast",
    tip="fooi",
    shipping="verzendkosten bezorgkosten vracht",
    discount="korting",
    prepaid="aanbetaling reeds_betaald reeds_voldaan voorschot vooruitbetaling vooruitbetaald",
    brought_forward="vorig_saldo openstaand_saldo saldo_vorige",
    rounding="afronding",
    due="vervaldatum betaaldatum betalen_voor uiterlijk te_betalen_voor uiterste_betaaldatum vervalt_op",
    dated="factuurdatum datum_factuur opgemaakt_op",
    another_day="leverdatum leveringsdatum besteldatum",
    bill="factuur bon kassabon",
    order="bestelling bestel uw_bestelling inkooporder uw_referentie uw_kenmerk",
    another_bill="oorspronkelijke_factuur betreft_factuur",
    seller="verkoper leverancier afzender verkocht_door",
    buyer="klant koper factuur_aan afnemer ontvanger geadresseerde factuuradres afleveradres",
    to="aan",
    by="van",
    currency="valuta factuurvaluta bedragen_in",
    credit="creditnota creditfactuur credit_nota credit_factuur",
    correction="correctiefactuur",
    tax_number="btw_nummer btw_nr btw_id btw_identificatienummer ob_nummer btw",
    your="uw jouw",
    representative="fiscaal_vertegenwoordiger",
    other_number="serienummer serie_nr rekeningnummer",
    debit="automatische_incasso incasso geïncasseerd incasseren afgeschreven afschrijven machtiging "
    "machtigingskenmerk uw_rekening uw_bankrekening je_rekening mandaat",
    transfer="overmaken over_te_maken overboeking onze_rekening op_rekening",
    deposit="aanbetaling* voorschot* termijnfactuur deelfactuur vooruitbetaling* reeds_betaald reeds_gefactureerd",
    carried="transport overbrengen transporteren",
)

SWEDISH = BillWords(
    total="totalt summa slutsumma totalbelopp",
    gross="summa_inkl_moms brutto",
    to_pay="att_betala kvar_att_betala",
    rounded="avrundat",
    net="netto nettobelopp summa_exkl_moms",
    subtotal="delsumma",
    tax="moms momsbelopp",
    sums="belopp",
    including="inklusive varav",
    excluding="exklusive",
    paid="kontant kontokort betalkort mottaget",
    change="växel",
    no_sum="antal växelkurs valutakurs",
    untaxed="pant",
    tip="dricks",
    shipping="frakt fraktkostnad",
    discount="rabatt",
    prepaid="förskott handpenning redan_betalt tidigare_betalt a_conto",
    brought_forward="ingående_saldo tidigare_saldo",
    rounding="öresavrundning avrundning",
    due="förfallodatum förfaller betalas_senast oss_tillhanda_senast",
    dated="fakturadatum utställd",
    another_day="leveransdatum orderdatum beställningsdatum",
    bill="faktura kvitto",
    order="beställning er_beställning inköpsorder ert_ordernr er_order",
    another_bill="avser_faktura ursprunglig_faktura krediterar_faktura",
    seller="säljare leverantör avsändare utställare",
    buyer="köpare kund fakturamottagare mottagare fakturaadress leveransadress beställare",
    by="från",
    to="till",
    currency="valuta belopp_i",
    credit="kreditfaktura kreditnota",
    tax_number="momsreg* moms_nr momsnummer momsregistreringsnummer vat_nr org_nr* organisationsnummer",
    your="er ert era ditt din kundens köparens",
    representative="skatterepresentant fiskal_representant",
    other_number="serienummer serienr kontonummer",
    debit="autogiro dras_från debiteras_från ert_konto ditt_konto medgivande",
    transfer="överför* inbetalning vårt_konto betala_till",
    deposit="*förskott* handpenning delfaktura a_contofaktura aconto* redan_betalt redan_fakturerat",
    carried="transport överföring",
)

DANISH = BillWords(
    total="i_alt total_beløb samlet_beløb",
    gross="i_alt_inkl_moms",
    to_pay="at_betale til_betaling restbeløb",
    net="i_alt_ekskl_moms beløb_ekskl_moms nettobeløb",
    subtotal="subtotal",
    tax="moms momsbeløb",
    sums="beløb",
    including="heraf",
    excluding="ekskl eksklusive",
    paid="kontant dankort modtaget",
    change="byttepenge retur",
    no_sum="antal valutakurs vekselkurs",
    untaxed="pant",
    tip="drikkepenge",
    shipping="fragt",
    discount="rabat",
    prepaid="forudbetaling aconto depositum allerede_betalt",
    brought_forward="tidligere_saldo overført_saldo",
    rounding="øreafrunding",
    due="forfald* betalingsfrist betales_senest",
    dated="dato fakturadato",
    another_day="leveringsdato ordredato",
    bill="faktura bon",
    order="ordre rekvisitions deres_ordre",
    another_bill="vedr_faktura oprindelig_faktura",
    seller="sælger leverandør afsender udsteder",
    buyer="køber kunde modtager faktureringsadresse leveringsadresse faktureres_til",
    by="fra",
    to="til",
    currency="valuta beløb_i",
    credit="kreditnota kreditfaktura",
    tax_number="cvr cvr_nr se_nr momsnr moms_nr",
    your="jeres dit din deres købers",
    representative="fiskal_repræsentant",
    other_number="serienummer kontonummer",
    debit="betalingsservice jeres_konto din_konto trækkes_fra hæves_på leverandørservice",
    transfer="overfør* indbetal* vores_konto",
    deposit="*forskud* aconto* a_conto* acontofaktura delfaktura ratefaktura allerede_betalt "
    "allerede_faktureret depositum",
    carried="overført transport",
)

NORWEGIAN = BillWords(
    total="totalt sum",
    to_pay="å_betale restbeløp",
    net="netto_beløp sum_eks_mva",
    subtotal="delsum",
    tax="mva",
    excluding="eks",
    bill="faktura kvittering",
    paid="kontanter bankkort",
    change="veksel",
    no_sum="antall valutakurs vekslingskurs",
    untaxed="pant",
    tip="driks",
    shipping="frakt",
    discount="rabatt",
    prepaid="forskudd forskuddsbetaling allerede_betalt",
    brought_forward="tidligere_saldo",
    rounding="avrunding",
    due="forfallsdato betales_innen",
    seller="selger leverandør avsender utsteder",
    buyer="kjøper mottaker fakturaadresse leveringsadresse",
    credit="kreditnota kreditfaktura",
    tax_number="org_nr organisasjonsnummer mva_nr orgnr foretaksregisteret",
    your="deres din ditt",
    representative="skatterepresentant",
    other_number="serienummer kontonummer",
    debit="avtalegiro trekkes_fra belastes din_konto deres_konto",
    transfer="overfør* innbetal* vår_konto til_konto",
    deposit="*forskudd* akonto* a_konto* avdragsfaktura delfaktura allerede_betalt allerede_fakturert",
    carried="overført",
)
