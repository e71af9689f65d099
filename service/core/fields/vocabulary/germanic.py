"""English, German, Dutch, Swedish, Danish and Norwegian."""

from __future__ import annotations

from service.core.fields.vocabulary.words import BillWords

ENGLISH = BillWords(
    total="total totals",
    gross="grand_total gross gross_amount gross_total total_gross",
    to_pay="amount_due total_due balance_due due_amount amount_payable amt_payable total_payable amount_to_pay to_pay "
    "please_pay final_total amount_owing balance_owing balance_to_pay balance_payable outstanding outstanding_balance "
    "amount_outstanding current_payment_due payment_due current_amount_due pay_this_amount remaining_balance "
    "amount_now_due net_payable",
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
    tax_base="base tax_base taxable_base vat_base net_of on",
    exempt="exempt tax_exempt vat_exempt exempted zero_rated zero_rate reverse_charge reverse_charged gst_free "
    "out_of_scope outside_the_scope not_subject_to no_vat no_tax no_sales_tax non_taxable intra_community_supply",
    early_payment="early_payment prompt_payment cash_discount early_settlement settlement_discount if_paid_within "
    "if_paid_by discount_if_paid",
    untaxed="city_tax tourist_tax tourism_levy tourism_fee occupancy_tax non_taxable non_taxed disbursements "
    "bottle_deposit container_deposit",
    tip="tip tips gratuity",
    service_charge="service_charge service_fee svc_chg serv_chg discretionary_service optional_service",
    shipping="shipping freight delivery handling postage carriage shipping_and_handling shipping_&_handling s&h p&p",
    withholding="withholding withholding_tax tax_withheld cis cis_tax cis_deduction tds less_tds retention retainage",
    discount="saving savings saved disc discount discounts coupon voucher rebate promo promotion promo_code",
    prepaid="deposit deposits deposit_paid prepaid prepayment part_payment down_payment payment_on_account "
    "already_paid paid_to_date previous_payment previous_payments payments_received payment_received less_payments "
    "less_paid retainer_applied",
    brought_forward="balance_brought_forward brought_forward previous_balance unpaid_balance previous_unpaid_balance "
    "opening_balance past_due past_due_amount prior_balance",
    rounding="round rounding rounding_adj* round_adj*",
    due="due due_date payable_by payable_until payment_by payment_until pay_by pay_until payment_due due_on due_by "
    "please_pay_by payment_due_date date_due direct_debit_date direct_debit_on will_be_debited_on "
    "will_be_debited_on_or_after will_be_collected_on will_be_charged_on payable_on pay_before due_before "
    "latest_payment_date last_date_for_payment payment_date",
    dated="date dated date_of_issue issued issue_date issued_on billing_date bill_date",
    supply="delivery_date date_of_delivery delivery_dates delivered delivered_on date_delivered shipping_date "
    "ship_date shipped shipped_on date_shipped shipment_date dispatch_date despatch_date dispatched_on "
    "date_of_dispatch service_date service_dates date_of_service dates_of_service service_period supply_date "
    "date_of_supply period_of_supply supply_period billing_period billed_period invoice_period invoicing_period "
    "period_covered period_of_service performance_date performance_period training_date training_dates "
    "work_carried_out work_done delivery supply service_rendered period rental_period usage_period statement_period "
    "tuition_period",
    discount_until="discount_until discount_by discount_date discount_if_paid_by if_paid_by if_paid_before "
    "if_paid_on_or_before if_you_pay_by if_payment_is_received_by if_received_by early_payment_by discount",
    another_day="accepted accepted_on signed_on approved_on "
    "order_date print_date start_date end_date birth_date date_of_birth expiry_date date_of_order "
    "order_placed ordered ordered_on po_date printed printed_on printed_at date_printed born dob expiry expiration "
    "expiration_date expires expires_on expired exp exp_date valid valid_until valid_till valid_to valid_from "
    "valid_thru valid_through good_thru good_until paid paid_on paid_in_full date_paid payment_received "
    "payment_received_on received_on received card_payment visa mastercard maestro amex paypal ideal klarna "
    "apple_pay google_pay debited debited_on charged_on collected_on next_invoice next_bill next_statement "
    "next_payment next_billing next_billing_date next_charge next_meter_reading renewal_date renewal renews "
    "renews_on as_of as_at as_on balance_as_of balance_on contract_date date_of_contract contract_start contract_end "
    "agreement_date meter_reading meter_read reading_date read_on last_reading previous_reading latest_reading "
    "quote_date quotation_date offer_date expected_delivery estimated_delivery delivery_expected expected_by "
    "check_in check_out arrival departure arrival_date departure_date warranty_until last_payment last_bill "
    "last_invoice previous_bill contract_since member_since customer_since downloaded_on exported_on revision "
    "not_valid_after not_valid_before accepted accepted_on approved_on signed_on",
    bill="invoice receipt bill inv doc document",
    bill_number="rcti cn credit_ref",
    order="order order_reference order_ref p.o./s.o.",
    your_order="your_order your_po your_p.o. your_purchase_order customer_po customer_p.o. customer_order "
    "purchase_order po p.o. your_ref your_reference customer_reference client_reference buyer_order buyer's_order "
    "buyers_order customer's_order client_po",
    another_bill="related_invoice original_invoice corrected_invoice previous_invoice for_invoice ref_invoice "
    "invoice_ref linked_invoice credited_invoice proforma_invoice pro_forma_invoice initial_invoice invoice_credited "
    "credit_against_invoice in_respect_of_invoice against_invoice earlier_invoice replaces_invoice invoice_corrected "
    "refers_to_invoice reference_to_invoice original_bill regarding_invoice re_invoice relating_to_invoice "
    "for_our_invoice",
    another_number="customer client acct a/c contract agreement meter policy member membership delivery_note "
    "delivery_docket packing_slip packing_list quote quotation offer project job_no sales_order our_order "
    "our_order_ref company company_reg* registration reg. vat_reg* tax_registration terminal approval auth* tracking "
    "vehicle patient phone tel fax supplier vendor customer_account mandate creditor supply_number mpan mprn",
    number="no nr num number id code n° n.",
    reference="payment_reference payment_ref reference_for_payment remittance_reference please_quote "
    "please_quote_reference quote_reference quoting_reference reference_to_quote please_quote_when_paying "
    "structured_communication creditor_reference bank_reference payment_id communication_for_your_payment "
    "payment_communication bacs_reference reference_on_payment giro_reference bpay_ref",
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
    total="summe gesamtleistung gesamt gesamtsumme gesamtbetrag gesamtpreis gesamtbeitrag endbetrag endsumme "
    "rechnungsbetrag rechnungssumme",
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
    tax_base="auf basis bemessungsgrundlage basisbetrag steuerbasisbetrag von",
    exempt="steuerfrei* steuerschuldnerschaft* reverse_charge_verfahren kleinunternehmer* umsatzsteuerfrei* ust_frei "
    "mwst_frei nicht_steuerbar* innergemeinschaftliche* §_19_ustg",
    early_payment="skonto skontobetrag",
    untaxed="kurtaxe ortstaxe kurabgabe bettensteuer beherbergungssteuer übernachtungssteuer citytax pfand leergut "
    "auslagen durchlaufende_posten steuerfrei*",
    tip="trinkgeld",
    service_charge="bedienungszuschlag servicepauschale bedienung",
    shipping="versand* porto fracht frachtkosten lieferkosten transportkosten",
    withholding="quellensteuer bauabzugsteuer steuerabzug sicherheitseinbehalt einbehalt",
    discount="rabatt* nachlass preisnachlass gutschein",
    prepaid="anzahlung anzahlungen abschlag abschläge abschlagszahlung abschlagszahlungen abschlagsrechnung* akonto "
    "a_conto vorauszahlung* teilzahlung* bereits_bezahlt bereits_gezahlt bereits_geleistet* bereits_erhalten* "
    "geleistete_zahlung* guthaben",
    brought_forward="saldovortrag alter_saldo offener_saldo vortrag rückstand",
    rounding="rundung rundungsdifferenz",
    due="fällig* zahlbar* zahlungsziel zahlen_bis zahlung_bis netto_bis fälligkeitsdatum fälligkeit zu_zahlen_bis "
    "zahlbar_bis abbuchung_am lastschrift_am einzug_am zahltermin fällig_am wird_abgebucht_am zahlungstermin "
    "bis_spätestens zahlung_spätestens_am",
    dated="datum rechnungsdatum belegdatum ausstellungsdatum ausgestellt_am rechnungstag",
    supply="lieferdatum lieferungsdatum liefertag leistungsdatum leistungstag leistungszeitraum lieferzeitraum "
    "leistungszeit leistungsmonat liefermonat lieferzeitpunkt leistungszeitpunkt liefer_und_leistungsdatum lieferung "
    "lieferung_am geliefert geliefert_am leistung_am leistung_vom leistung leistungserbringung ausgeführt_am "
    "versanddatum versendet_am versandt_am abrechnungszeitraum abrechnungsmonat rechnungszeitraum abrechnungsperiode "
    "rechnungsperiode verbrauchszeitraum leistungsperiode zeitraum *zeitraum* lieferzeit",
    discount_until="skonto skonto_bis skontofrist skontodatum skontotermin skontierbar_bis skontofähig_bis "
    "bei_zahlung_bis bei_zahlung_bis_zum bei_zahlung_bis_spätestens bei_zahlungseingang_bis bei_zahlung_innerhalb",
    another_day="geleistet_am angezahlt_am eingegangen_am angenommen_am "
    "liefertermin bestelldatum auftragsdatum druckdatum geburtsdatum bestellt_am gedruckt gedruckt_am "
    "ausgedruckt_am geboren geboren_am geb. gültig_bis gültig_ab gültig_von gültig_vom gültigkeit ablaufdatum "
    "läuft_ab_am verfallsdatum haltbar_bis mhd bezahlt bezahlt_am gezahlt_am beglichen_am zahlungseingang "
    "zahlungseingang_am zahlung_erhalten* zahlung_vom eingegangen_am erhalten_am abgebucht abgebucht_am belastet_am "
    "eingezogen_am sofortüberweisung nächste_rechnung nächste_abrechnung nächste_zahlung nächster_abschlag "
    "nächste_abbuchung nächste_ablesung nächste_fälligkeit stand stand_vom saldo saldo_per saldo_zum kontostand* "
    "vertragsdatum vertragsbeginn vertragsende vertrag_vom vertragslaufzeit_bis abgelesen_am ablesedatum ablesung "
    "ablesetag zählerstand* angebotsdatum eingangsdatum anreise abreise beginn mitglied_seit kunde_seit "
    "erstzulassung ez verlängert_sich_am nächste_rechnung_erhalten_sie_am belegdruck angenommen_am unterzeichnet_am",
    bill="*rechnung *rechnungs beleg quittung quittungs re",
    order="auftrag auftrags",
    your_order="ihre_bestellung ihr_auftrag ihre_bestell ihre_referenz ihr_zeichen bestellreferenz bestellung "
    "bestell kundenbestellung kundenbestell",
    another_bill="ursprungsrechnung originalrechnung bezugsrechnung zu_rechnung zur_rechnung bezug_rechnung "
    "storno_zu_rechnung proforma_rechnung laut_rechnung gemäß_rechnung gem._rechnung zu_unserer_rechnung "
    "auf_rechnung ursprüngliche_rechnung rechnung_storniert betrifft_rechnung korrigiert_rechnung "
    "gutschrift_zu_rechnung stornierte_rechnung",
    another_number="kunden kunde vertrags vertrag vertragskonto zähler lieferschein angebots angebot projekt "
    "projekts mitglieds mandats mandatsreferenz gläubiger_id gläubiger_identifikations* serien versicherungs "
    "versicherungsschein handelsregister hrb hra steuer ust_id* uid* debitoren debitor kreditoren lieferanten konto "
    "kundenkonto buchungskonto kassen vorgangs unser_auftrag unsere_auftrags marktlokation marktlokations malo tel. "
    "telefon fax kostenstelle auftragsbestätigung kd",
    number="nr nummer",
    reference="verwendungszweck zahlungsreferenz zahlungszweck bitte_angeben bei_zahlung_angeben "
    "bei_zahlung_bitte_angeben qr_referenz esr_referenz kundendaten zahlungshinweis zahlungsbetreff",
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
    to_pay="te_betalen te_voldoen openstaand_bedrag nog_te_betalen openstaand resterend_bedrag",
    rounded="afgerond",
    net="netto nettobedrag totaal_excl",
    subtotal="subtotaal",
    tax="btw btw_bedrag",
    sums="bedrag",
    including="inclusief",
    excluding="exclusief zonder",
    paid="contant voldaan pin bankpas ontvangen",
    change="wisselgeld",
    no_sum="aantal stuksprijs wisselkoers koers",
    tax_base="over grondslag maatstaf",
    exempt="verlegd btw_verlegd vrijgesteld vrijgesteld_van_btw intracommunautaire*",
    early_payment="betalingskorting korting_voor_contante_betaling korting_bij_betaling kredietbeperking",
    untaxed="toeristenbelasting statiegeld emballage voorschotten onbelast",
    tip="fooi",
    shipping="verzendkosten bezorgkosten vracht",
    discount="korting",
    prepaid="aanbetaling reeds_betaald reeds_voldaan voorschot vooruitbetaling vooruitbetaald",
    brought_forward="vorig_saldo openstaand_saldo saldo_vorige",
    rounding="afronding",
    due="vervaldatum betaaldatum betalen_voor uiterlijk te_betalen_voor uiterste_betaaldatum vervalt_op vervaldag "
    "uiterlijk_op betaaltermijn_tot te_betalen_uiterlijk wordt_afgeschreven_op automatische_incasso_op",
    dated="factuurdatum datum_factuur opgemaakt_op datum",
    supply="leverdatum leveringsdatum datum_levering geleverd geleverd_op levering levering_op prestatiedatum "
    "datum_prestatie leveringsperiode factuurperiode facturatieperiode periode verzenddatum verzonden_op "
    "uitgevoerd_op verbruiksperiode dienstdatum",
    discount_until="korting_bij_betaling_voor bij_betaling_voor bij_betaling_vóór bij_betaling_tot "
    "bij_betaling_uiterlijk betalingskorting_tot betalingskorting korting_contant kredietbeperking",
    another_day="besteldatum bestelling_van besteld_op afdrukdatum afgedrukt_op geprint_op geboortedatum geboren "
    "geldig_tot geldig_van geldig_vanaf geldigheid vervaldatum_kaart verloopt_op verloopt houdbaar_tot betaald "
    "betaald_op voldaan voldaan_op ontvangen_op betaling_ontvangen* afgeschreven_op geïncasseerd_op ideal_op "
    "bancontact volgende_factuur volgende_afrekening volgende_betaling volgende_incasso stand_per saldo_per saldo "
    "meterstand* opgenomen_op opnamedatum contractdatum ingangsdatum einddatum begindatum startdatum offertedatum "
    "aankomst vertrek klant_sinds",
    bill="factuur bon kassabon *factuur",
    bill_number="creditnummer credit_nummer creditnr",
    your_order="uw_bestelling uw_bestel uw_order uw_referentie uw_kenmerk inkooporder uw_inkooporder uw_ordernummer "
    "bestelling bestel uw_bestelbon bestelbon",
    another_bill="oorspronkelijke_factuur betreft_factuur proforma_factuur op_factuur voor_factuur "
    "gecrediteerde_factuur creditering_factuur correctie_op_factuur",
    another_number="klant klanten debiteur debiteuren contract meter offerte project pakbon levering leverancier kvk "
    "kvk_nummer relatie rekening lidmaatschaps polis ean_code dossier onze_order ons_order mandaat ondernemings btw "
    "btw_nummer tel.",
    number="nummer",
    reference="betalingskenmerk betaalkenmerk kenmerk_betaling gestructureerde_mededeling mededeling "
    "onder_vermelding_van o.v.v. ovv omschrijving_betaling betaalreferentie betalingsreferentie",
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
    tax_base="underlag",
    exempt="momsfri* omvänd_skattskyldighet omvänd_betalningsskyldighet",
    early_payment="kassarabatt",
    untaxed="pant",
    tip="dricks",
    shipping="frakt fraktkostnad",
    discount="rabatt",
    prepaid="förskott handpenning redan_betalt tidigare_betalt a_conto",
    brought_forward="ingående_saldo tidigare_saldo",
    rounding="öresavrundning avrundning",
    due="förfallodatum förfaller betalas_senast oss_tillhanda_senast förfallodag betala_senast sista_betalningsdag "
    "dras_den autogiro_dras",
    dated="fakturadatum utställd datum fakturans_datum",
    supply="leveransdatum levererad levererat levererad_den leverans leveransdag utförd utfört leveransperiod "
    "faktureringsperiod fakturaperiod avser_period avser_perioden period tjänsteperiod skickad_den utleveransdatum "
    "leveranstid lev_datum lev.datum",
    discount_until="kassarabatt kassarabatt_till vid_betalning_senast vid_betalning_före rabatt_vid_betalning",
    another_day="orderdatum beställningsdatum beställd beställd_den utskriftsdatum utskriven utskrivet födelsedatum "
    "född giltig_till giltig_t.o.m. giltigt_till giltig_från giltighet utgångsdatum går_ut bäst_före betald betalt "
    "betald_den betalades inbetald mottagen_den debiterad debiterat dragen nästa_faktura nästa_betalning "
    "nästa_avläsning saldo_per saldo avläst avläsning avläsningsdatum mätarställning* avtalsdatum startdatum "
    "slutdatum offertdatum ankomst avresa kund_sedan",
    bill="faktura kvitto *faktura",
    your_order="er_beställning ert_ordernr er_order ert_order ert_inköpsorder inköpsorder er_referens ert_ref "
    "beställning beställnings",
    another_bill="avser_faktura ursprunglig_faktura krediterar_faktura proformafaktura kredit_av_faktura "
    "gäller_faktura ursprungsfaktura",
    another_number="kund avtals avtal mätar offert projekt följesedel följesedels leverantörs organisations org "
    "konto medlems anläggnings vår_order vårt_order bankgiro bg plusgiro pg momsreg* tel.",
    number="nummer",
    reference="ocr ocr_nummer ocr_nr betalningsreferens referensnummer_vid_betalning ange_vid_betalning "
    "meddelande_till_mottagare ange_referens",
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
    tax_base="momsgrundlag",
    exempt="momsfri* omvendt_betalingspligt",
    early_payment="kontantrabat",
    untaxed="pant",
    tip="drikkepenge",
    shipping="fragt",
    discount="rabat",
    prepaid="forudbetaling aconto depositum allerede_betalt",
    brought_forward="tidligere_saldo overført_saldo",
    rounding="øreafrunding",
    due="forfald* betalingsfrist betales_senest forfaldsdato sidste_betalingsdato sidste_rettidige_betalingsdag "
    "betalingsdato betales_den trækkes_den trækkes_via_betalingsservice",
    dated="dato fakturadato",
    supply="leveringsdato leveret leveret_den levering leveringsdag leveringsperiode faktureringsperiode "
    "afregningsperiode periode afsendelsesdato afsendt ydelsesdato udført_den forbrugsperiode",
    discount_until="kontantrabat kontantrabat_til ved_betaling_senest ved_betaling_inden rabat_ved_betaling",
    another_day="ordredato bestillingsdato bestilt bestilt_den udskriftsdato udskrevet født fødselsdato gyldig_til "
    "gyldig_fra gyldighed udløbsdato udløber mindst_holdbar_til betalt betalt_den indbetalt modtaget_den trukket "
    "hævet_den debiteret næste_faktura næste_regning næste_betaling næste_aflæsning saldo_pr. saldo opgjort_pr. "
    "aflæst aflæsning aflæsningsdato målerstand* kontraktdato aftaledato startdato slutdato tilbudsdato ankomst "
    "afrejse kunde_siden",
    bill="faktura bon *faktura",
    bill_number="kreditnr kreditnummer",
    order="ordre",
    your_order="deres_ordre deres_ref deres_reference jeres_ordre rekvisitions rekvisition indkøbsordre købsordre",
    another_bill="vedr_faktura oprindelig_faktura proformafaktura kreditering_af_faktura krediteret_faktura",
    another_number="kunde kundenr aftale aftalenr kontrakt måler tilbuds tilbud projekt følgeseddel følgeseddels "
    "leverandør cvr cvr_nr konto kontonr medlems installations vores_ordre reg. tlf. debitor",
    number="nummer",
    reference="betalings_id betalingsid betalingsreference fik kortart oplys_ved_betaling angiv_ved_betaling "
    "tekst_til_modtager meddelelse_til_modtager betalingsidentifikation",
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
    bill="faktura kvittering *faktura",
    order="bestilling bestillings",
    another_bill="proformafaktura kreditering_av_faktura gjelder_faktura opprinnelig_faktura",
    another_number="kunde kundenr avtale kontrakt måler tilbuds prosjekt pakkseddel leverandør org organisasjons "
    "orgnr konto kontonr medlems anleggs vår_ordre tlf.",
    number="nummer",
    reference="kid kid_nummer kid_nr betalingsreferanse merk_betalingen melding_til_mottaker oppgi_ved_betaling",
    your_order="deres_bestilling deres_ordre deres_ref innkjøpsordre rekvisisjon",
    paid="kontanter bankkort",
    change="veksel",
    no_sum="antall valutakurs vekslingskurs",
    tax_base="grunnlag",
    exempt="avgiftsfri* omvendt_avgiftsplikt snudd_avregning",
    early_payment="kontantrabatt",
    untaxed="pant",
    tip="driks",
    shipping="frakt",
    discount="rabatt",
    prepaid="forskudd forskuddsbetaling allerede_betalt",
    brought_forward="tidligere_saldo",
    rounding="avrunding",
    due="forfallsdato betales_innen forfall betalingsfrist betales_senest siste_betalingsfrist trekkes_den",
    dated="fakturadato dato",
    supply="leveringsdato levert levert_den levering leveringsperiode faktureringsperiode fakturaperiode periode "
    "forsendelsesdato sendt_den utført_den forbruksperiode tjenesteperiode",
    discount_until="kontantrabatt kontantrabatt_til ved_betaling_innen ved_betaling_senest rabatt_ved_betaling",
    another_day="ordredato bestillingsdato bestilt utskriftsdato utskrevet født fødselsdato gyldig_til gyldig_fra "
    "utløpsdato utløper best_før betalt betalt_den innbetalt mottatt_den trukket belastet_den neste_faktura "
    "neste_regning neste_betaling neste_avlesning saldo_per saldo avlest avlesning avlesningsdato målerstand* "
    "kontraktsdato avtaledato startdato sluttdato tilbudsdato ankomst avreise kunde_siden",
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
