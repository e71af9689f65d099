"""German, Dutch, Swedish, Danish and Norwegian."""

from __future__ import annotations

from service.core.fields.vocabulary.words import BillWords

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
