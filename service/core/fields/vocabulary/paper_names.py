"""Names of papers that are no bills, in all languages of the vocabulary.

Rules:
- A row's phrases are in the notation of `words`, in the order of `phrases.LANGUAGES` (English, German, Dutch, …). Names
  in further languages are last: a paper that is no bill must not be booked as one, whatever else is read of it.
- They are searched before a bill's names: "Auftragsbestätigung", "Rechnungsreklamation", "pro forma invoice".
- A word with other meanings ("confirmation") is no name alone.
- A row's code is that of UNTDID 1001 that the name itself says; a name without one leaves it open.
"""

from __future__ import annotations

from typing import NamedTuple

from service.core.fields.kinds import PaperKind
from service.core.fields.vocabulary import contract_words


class PaperName(NamedTuple):
    """Names of one kind of paper; `code`: what they say in UNTDID 1001."""

    kind: PaperKind
    phrases: str
    code: str | None = None


PAPERS = (
    PaperName(
        PaperKind.PRO_FORMA,
        "pro_forma proforma pro_forma_invoice proforma_invoice proforma* proforma_rechnung pro_forma_rechnung "
        "customs_invoice zollrechnung faktura_proforma proforma_faktura fatura_proforma proformalasku счет_проформа "
        "プロフォーマ* 見積送り状 形式发票 形式發票 견적송장 프로포마* فاتورة_مبدئية فاتورة_أولية فاتورة_شكلية "
        "प्रोफार्मा* प्रोफॉर्मा* invois_proforma díjbekérő előszámla προτιμολόγιο zálohová_výzva predračun "
        "проформа_фактура рахунок_проформа išankstinė_sąskaita ettemaksuarve forfaktura hóa_đơn_chiếu_lệ חשבונית_עסקה",
        "325",
    ),
    PaperName(
        PaperKind.DEBIT_NOTE,
        "debit_note debit_memo debit_advice lastschriftanzeige belastungsanzeige lastschriftnote debetnota debitnota "
        "debetnote note_de_débit nota_de_débito nota_débito nota_de_cargo nota_di_debito nota_di_addebito "
        "notă_de_debit notă_debit nota_debetowa nota_obciążeniowa vrubopis дебет_нота дебетовое_авизо borç_dekontu "
        "borç_notu veloituslasku デビットノート 借方票 借项通知单 借項通知單 차변표 إشعار_مدين डेबिट_नोट nota_debit "
        "terhelő_értesítő ťarchopis terećenje bremepis дебитно_известие χρεωστικό_σημείωμα debetinė_sąskaita "
        "debetarve",
        "383",
    ),
    PaperName(
        PaperKind.REMINDER,
        "payment_reminder reminder reminder_notice overdue_notice past_due_notice final_notice second_notice "
        "dunning_letter dunning_notice final_demand overdue_reminder invoice_reminder *mahnung* *zahlungserinnerung* "
        "zahlungsaufforderung mahnschreiben rechnungserinnerung betalingsherinnering aanmaning herinnering "
        "ingebrekestelling betalningspåminnelse påminnelse kravbrev inkassokrav betalingspåmindelse rykker* "
        "rykkerbrev betalingspåminnelse purring inkassovarsel relance lettre_de_relance rappel_de_paiement rappel "
        "mise_en_demeure relance_de_paiement facture_de_rappel recordatorio_de_pago recordatorio "
        "requerimiento_de_pago aviso_de_vencimiento reclamación_de_pago sollecito sollecito_di_pagamento "
        "avviso_di_sollecito diffida_di_pagamento aviso_de_cobrança lembrete_de_pagamento "
        "aviso_de_pagamento_em_atraso somație_de_plată notificare_de_plată înștiințare_de_plată somație "
        "wezwanie_do_zapłaty przypomnienie_o_płatności ponaglenie monit upomnienie upomínka výzva_k_úhradě "
        "výzva_k_zaplacení upomienka напоминание_об_оплате претензия требование_об_оплате уведомление_о_задолженности "
        "ödeme_hatırlatması ödeme_hatırlatma ihtarname ödeme_ihtarı maksumuistutus maksukehotus maksumuistutuslasku "
        "督促状 催告書 支払督促* 催款单 催款通知* 催款函 付款提醒 독촉장 납부독촉* 지급_독촉* 연체_안내* تذكير_بالدفع "
        "تذكير_بالسداد إشعار_تأخر भुगतान_अनुस्मारक भुगतान_स्मरण* अनुस्मारक peringatan_pembayaran notis_peringatan "
        "surat_peringatan fizetési_felszólítás fizetési_emlékeztető υπενθύμιση_πληρωμής upomienka opomena opomin "
        "напомняне_за_плащане нагадування_про_оплату priminimas_apmokėti atgādinājums meeldetuletus innheimtuviðvörun "
        "greiðsluáminning nhắc_nhở_thanh_toán",
    ),
    PaperName(
        PaperKind.STATEMENT,
        "*kreditkartenabrechnung wertpapierabrechnung depotabrechnung depotauszug extrato_de_conta_corrente "
        "estratto_conto_corrente statement_of_account* account_statement bank_statement customer_statement "
        "monthly_statement supplier_statement vendor_statement card_statement credit_card_statement "
        "statement_of_invoices open_items *kontoauszug* rechnungsaufstellung offene_posten offene_postenliste "
        "kontokorrentauszug saldenbestätigung rekeningafschrift rekeningoverzicht bankafschrift openstaande_posten "
        "kontoutdrag kontoutskrift *kontoudtog* *kontoutskrift* reskontrautdrag relevé_de_compte* relevé_bancaire "
        "extrait_de_compte* relevé_de_factures relevé_client extracto_de_cuenta extracto_bancario estado_de_cuenta "
        "extracto_de_movimientos estratto_conto extrato_de_conta extrato_bancário extrato_da_conta conta_corrente "
        "extras_de_cont fișă_de_cont wyciąg_bankowy wyciąg_z_rachunku wyciąg_z_konta zestawienie_faktur výpis_z_účtu "
        "bankovní_výpis výpis_účtu выписка_по_счету выписка_по_счёту банковская_выписка акт_сверки* hesap_ekstresi "
        "hesap_özeti hesap_dökümü cari_hesap_ekstresi tiliote saldovahvistus 取引明細書 口座明細* 残高証明書 "
        "入出金明細* 对账单 對帳單 对帐单 账户明细 银行流水 거래명세 거래내역서 계좌_거래내역* 잔액증명서 كشف_حساب "
        "كشف_الحساب खाता_विवरण बैंक_विवरण penyata_akaun penyata_bank rekening_koran számlakivonat folyószámla_kivonat "
        "κατάσταση_λογαριασμού výpis_z_účtu izvod izvadak_po_računu izpisek извлечение_по_сметка виписка_по_рахунку "
        "sąskaitos_išrašas konta_izraksts kontoväljavõte reikningsyfirlit sao_kê aged_receivables trial_balance "
        "transaction_report umsatzübersicht saldenliste tilgungsplan rechnungsliste invoice_list liste_des_factures "
        "elenco_fatture lista_de_facturas",
    ),
    PaperName(
        PaperKind.PAYSLIP,
        "payslip pay_slip payslips wage_slip salary_slip pay_stub paystub pay_statement earnings_statement "
        "statement_of_earnings payroll_statement *gehaltsabrechnung* *lohnabrechnung* *entgeltabrechnung* "
        "*bezügeabrechnung* *bezugsabrechnung *verdienstabrechnung *verdienstbescheinigung vergütungsabrechnung "
        "lohnausweis gehaltszettel lohnzettel *gehaltsmitteilung "
        "*bezügemitteilung *bezügenachweis loonstrook* *salarisstrook* *salarisspecificatie loonbrief "
        "*loonspecificatie loonafrekening salarisafrekening *uitkeringsspecificatie lönespecifikation lönespec "
        "lönebesked lønseddel lønspecifikation lønnsslipp lønnslipp bulletin_de_paie bulletin_de_salaire "
        "fiche_de_paie bulletin_de_paye fiche_de_salaire nómina recibo_de_salarios recibo_de_nómina recibo_de_sueldo "
        "hoja_de_salario boleta_de_pago busta_paga cedolino cedolino_paga prospetto_paga recibo_de_vencimento* "
        "recibo_de_salário holerite contracheque contra_cheque folha_de_pagamento fluturaș* fluturaș_de_salariu "
        "fișă_de_salariu stat_de_plată pasek_wynagrodzeń pasek_płacowy lista_płac odcinek_wypłaty výplatní_páska "
        "výplatní_lístek výplatnice расчетный_листок расчётный_листок расчетный_лист maaş_bordrosu ücret_bordrosu "
        "bordro ücret_hesap_pusulası palkkalaskelma palkkakuitti palkkaerittely 給与明細* 給料明細* 賞与明細* 工资单 "
        "工資單 工资条 薪资单 薪資單 급여명세서 급여_명세서 임금명세서 قسيمة_راتب قسيمة_الراتب كشف_راتب كشف_الراتب "
        "वेतन_पर्ची वेतन_स्लिप slip_gaji penyata_gaji bérjegyzék bérlap fizetési_jegyzék εκκαθαριστικό_μισθοδοσίας "
        "výplatná_páska platna_lista plačilna_lista isplatna_lista фиш_за_заплата розрахунковий_листок "
        "atlyginimo_lapelis algas_lapiņa palgaleht launaseðill phiếu_lương",
    ),
    PaperName(
        PaperKind.REMITTANCE_ADVICE,
        "remittance_advice remittance_slip remittance_notice payment_advice advice_of_payment zahlungsavis "
        "*zahlungsavise* gutschriftanzeige gutschriftsanzeige überweisungsavis betalingsadvies betaalspecificatie "
        "betalingsspecificatie betalningsbesked utbetalningsavi utbetalningsbesked betalingsadvis* remitteringsnota "
        "betalingsavis avis_de_paiement avis_de_virement avis_de_règlement bordereau_de_paiement avis_de_crédit "
        "aviso_de_pago aviso_de_transferencia remesa_de_pago aviso_de_abono avviso_di_bonifico distinta_di_pagamento "
        "aviso_de_pagamento aviso_de_transferência aviso_de_lançamento aviz_de_plată ordin_de_plată awizo_płatności "
        "zawiadomienie_o_płatności awizo_zapłaty avízo_platby avízo_o_platbě platební_avízo авизо_о_платеже "
        "платежное_поручение платёжное_поручение уведомление_о_платеже ödeme_bildirimi ödeme_tavsiyesi maksuilmoitus "
        "maksuerittely 支払通知書 支払通知 支払明細書 振込通知書 汇款通知* 付款通知* 匯款通知* 지급통지서 송금통지서 "
        "송금_통지서 지급_통지서 إشعار_تحويل إشعار_حوالة إشعار_دفع भुगतान_सलाह भुगतान_सूचना प्रेषण_सलाह nasihat_pembayaran "
        "notis_bayaran makluman_pembayaran átutalási_értesítő ειδοποίηση_πληρωμής avízo_o_úhrade obavijest_o_plaćanju "
        "obvestilo_o_plačilu авизо_за_плащане mokėjimo_pranešimas makseteatis greiðslutilkynning",
    ),
    PaperName(
        PaperKind.PAYMENT_CONFIRMATION,
        "transfer_receipt justificante_de_transferencia justificante_bancario überweisungsbeleg avis_d'opération "
        "contabile_di_bonifico payment_confirmation confirmation_of_payment payment_received payment_acknowledgement "
        "transfer_confirmation proof_of_payment zahlungsbestätigung zahlungseingangsbestätigung zahlungseingang "
        "überweisungsbestätigung einzahlungsbestätigung betalingsbevestiging betaalbevestiging betalningsbekräftelse "
        "betalingsbekræftelse betalingsbekreftelse confirmation_de_paiement attestation_de_paiement "
        "confirmation_de_virement confirmación_de_pago justificante_de_pago comprobante_de_pago "
        "comprobante_de_transferencia conferma_di_pagamento attestazione_di_pagamento conferma_di_bonifico "
        "confirmação_de_pagamento comprovativo_de_pagamento comprovante_de_pagamento comprovativo_de_transferência "
        "confirmare_de_plată confirmare_plată dovada_plății potwierdzenie_płatności potwierdzenie_zapłaty "
        "potwierdzenie_przelewu potvrzení_platby potvrzení_o_platbě potvrzení_o_zaplacení подтверждение_оплаты "
        "подтверждение_платежа ödeme_onayı ödeme_dekontu maksuvahvistus maksutosite 入金確認* 支払確認書 入金通知 "
        "付款确认* 付款凭证 付款確認* 지불_확인* 입금확인* 입금_확인* 결제_확인* تأكيد_الدفع تأكيد_السداد भुगतान_पुष्टि* "
        "भुगतान_की_पुष्टि pengesahan_pembayaran pengesahan_bayaran fizetési_visszaigazolás befizetés_visszaigazolása "
        "επιβεβαίωση_πληρωμής potvrdenie_platby potvrda_o_plaćanju potrdilo_o_plačilu потвърждение_за_плащане "
        "підтвердження_оплати mokėjimo_patvirtinimas maksekinnitus greiðslustaðfesting xác_nhận_thanh_toán "
        "zuwendungsbestätigung spendenbescheinigung",
    ),
    PaperName(
        PaperKind.ORDER_CONFIRMATION,
        "order_confirmation sales_order_confirmation order_acknowledgement order_acknowledgment "
        "acknowledgement_of_order confirmation_of_order booking_confirmation reservation_confirmation "
        "*auftragsbestätigung* *bestellbestätigung* bestellungsbestätigung buchungsbestätigung "
        "*reservierungsbestätigung orderbestätigung orderbevestiging bestelbevestiging opdrachtbevestiging "
        "boekingsbevestiging reserveringsbevestiging orderbekräftelse orderbekräftning orderbekräftigelse "
        "ordererkännande beställningsbekräftelse bokningsbekräftelse ordrebekræftelse bestillingsbekræftelse "
        "ordrebekreftelse bestillingsbekreftelse bookingbekræftelse confirmation_de_commande accusé_de_commande "
        "accusé_de_réception_de_commande confirmation_de_réservation confirmación_de_pedido confirmación_del_pedido "
        "confirmación_de_reserva conferma_d'ordine conferma_ordine conferma_dell'ordine conferma_di_prenotazione "
        "conferma_di_ordine confirmação_de_encomenda confirmação_de_pedido confirmação_do_pedido "
        "confirmação_da_encomenda confirmação_de_reserva confirmare_de_comandă confirmare_comandă "
        "confirmarea_comenzii potwierdzenie_zamówienia potwierdzenie_rezerwacji potvrzení_objednávky "
        "potvrzení_rezervace подтверждение_заказа sipariş_onayı sipariş_teyidi rezervasyon_onayı tilausvahvistus "
        "varausvahvistus 注文請書 受注確認書 注文確認* 発注請書 ご注文確認* 订单确认* 訂單確認* 주문확인* 주문_확인* "
        "수주확인서 تأكيد_الطلب تأكيد_طلب تأكيد_الطلبية आदेश_पुष्टि* ऑर्डर_पुष्टि* आदेश_की_पुष्टि pengesahan_pesanan "
        "konfirmasi_pesanan megrendelés_visszaigazolás rendelés_visszaigazolás visszaigazolás επιβεβαίωση_παραγγελίας "
        "potvrdenie_objednávky potvrda_narudžbe potrditev_naročila потвърждение_на_поръчка підтвердження_замовлення "
        "užsakymo_patvirtinimas tellimuse_kinnitus pöntunarstaðfesting xác_nhận_đơn_hàng אישור_הזמנה itinerary "
        "travel_itinerary reisebestätigung cancellation_confirmation stornobestätigung stornierungsbestätigung "
        "kündigungsbestätigung annuleringsbevestiging",
    ),
    PaperName(
        PaperKind.INQUIRY,
        "request_for_quotation request_for_quote rfq price_inquiry anfrage preisanfrage angebotsanfrage "
        "offerteaanvraag prijsaanvraag offertförfrågan prisförfrågan prisforespørsel demande_de_devis demande_de_prix "
        "solicitud_de_cotización solicitud_de_presupuesto richiesta_di_offerta richiesta_di_preventivo "
        "pedido_de_cotação pedido_de_orçamento cerere_de_ofertă zapytanie_ofertowe poptávka запрос_цен "
        "запрос_коммерческого_предложения teklif_talebi tarjouspyyntö 見積依頼書 询价单 견적의뢰서 طلب_عرض_سعر "
        "कोटेशन_अनुरोध permintaan_sebut_harga ajánlatkérés",
    ),
    PaperName(
        PaperKind.OFFER,
        "quotation quote offer sales_quote sales_quotation price_quote price_quotation estimate cost_estimate "
        "proposal *angebot angebots kostenvoranschlag offerte kostenschätzung preisangebot* prijsopgave prijsofferte "
        "offert prisförslag kostnadsförslag anbud tilbud pristilbud devis offre_de_prix proposition_commerciale "
        "offre_commerciale presupuesto cotización oferta oferta_comercial preventivo offerta preventivo_di_spesa "
        "orçamento cotação proposta_comercial ofertă ofertă_de_preț deviz oferta_handlowa wycena kosztorys nabídka "
        "cenová_nabídka коммерческое_предложение смета предложение_цены teklif fiyat_teklifi proforma_teklif tarjous "
        "hinta_arvio 見積書 御見積書 お見積書 見積 报价单 報價單 报价 견적서 견적 عرض_سعر عرض_أسعار عرض_السعر कोटेशन "
        "निविदा दर_प्रस्ताव मूल्य_प्रस्ताव sebut_harga penawaran_harga árajánlat ajánlat προσφορά cenová_ponuka ponuka "
        "ponuda ponudba оферта комерційна_пропозиція pasiūlymas piedāvājums hinnapakkumine tilboð báo_giá ใบเสนอราคา "
        "הצעת_מחיר",
    ),
    PaperName(
        PaperKind.DELIVERY_NOTE,
        "delivery_note delivery_challan delivery_slip delivery_docket delivery_receipt packing_slip packing_list "
        "packing_note despatch_note dispatch_note despatch_advice dispatch_advice goods_received_note goods_receipt "
        "proof_of_delivery *lieferschein* warenbegleitschein packliste packzettel wareneingangsschein liefernachweis "
        "warenausgangsschein pakbon paklijst leveringsbon leverbon afleverbon följesedel packsedel leveranssedel "
        "plocksedel følgeseddel pakkeseddel leveringsseddel pakkseddel bon_de_livraison bordereau_de_livraison "
        "bulletin_de_livraison liste_de_colisage bordereau_d'expédition bon_de_réception albarán albarán_de_entrega "
        "nota_de_entrega lista_de_empaque guía_de_remisión lista_de_embalaje documento_di_trasporto ddt "
        "bolla_di_consegna bolla_di_accompagnamento d.d.t. packing_list nota_di_consegna guia_de_remessa "
        "guia_de_transporte nota_de_encomenda_entregue romaneio aviz_de_însoțire* aviz_de_expediție "
        "wydanie_zewnętrzne dokument_wz wz list_przewozowy specyfikacja_wysyłki dowód_dostawy dodací_list balicí_list "
        "товарная_накладная накладная товарно_транспортная_накладная упаковочный_лист irsaliye sevk_irsaliyesi "
        "teslimat_notu e_irsaliye çeki_listesi lähete lähetyslista pakkausluettelo rahtikirja 納品書 出荷案内書 "
        "送り状 送货单 送貨單 出货单 发货单 装箱单 거래명세서 납품서 인수증 포장명세서 إشعار_تسليم مذكرة_تسليم "
        "سند_تسليم بيان_التعبئة إذن_تسليم डिलीवरी_नोट डिलीवरी_चालान सुपुर्दगी_नोट वितरण_नोट पैकिंग_सूची nota_penghantaran "
        "nota_serahan surat_jalan senarai_pembungkusan szállítólevél δελτίο_αποστολής otpremnica dobavnica "
        "стокова_разписка видаткова_накладна krovinio_važtaraštis pavadzīme saateleht fylgiseðill phiếu_giao_hàng "
        "ใบส่งของ תעודת_משלוח pick_list picking_list kommissionierschein versandbestätigung versandanzeige "
        "shipping_confirmation shipment_notification verzendbevestiging avis_d'expédition aviso_de_envío "
        "avviso_di_spedizione",
    ),
    PaperName(
        PaperKind.WAYBILL,
        "bill_of_lading bills_of_lading sea_waybill air_waybill waybill consignment_note frachtbrief* ladeschein "
        "konnossement cognossement vrachtbrief fraktsedel fragtbrev fraktbrev lettre_de_voiture connaissement "
        "conocimiento_de_embarque carta_de_porte polizza_di_carico lettera_di_vettura conhecimento_de_embarque "
        "conhecimento_de_transporte scrisoare_de_transport* konosament nákladní_list коносамент konşimento "
        "taşıma_senedi konossementti 船荷証券 提单 提單 선하증권 بوليصة_شحن लदान_पत्र बिल_ऑफ_लैडिंग bil_muatan "
        "surat_muatan",
    ),
    PaperName(
        PaperKind.CUSTOMS_DECLARATION,
        "customs_declaration export_declaration zollanmeldung zollerklärung ausfuhrerklärung ausfuhranmeldung "
        "douaneaangifte tulldeklaration tolldeklarasjon toldangivelse déclaration_en_douane declaración_aduanera "
        "declaración_de_aduana dichiarazione_doganale bolletta_doganale declaração_aduaneira declarație_vamală "
        "zgłoszenie_celne celní_prohlášení таможенная_декларация gümrük_beyannamesi tulli_ilmoitus "
        "tulliselvitysilmoitus 輸出申告書 輸入申告書 报关单 報關單 수출신고서 수입신고서 بيان_جمركي सीमा_शुल्क_घोषणा "
        "borang_kastam vámáru_nyilatkozat",
    ),
    PaperName(
        PaperKind.RETURN_SLIP,
        "return_merchandise_authorization return_material_authorization rma rma_form return_slip return_note "
        "returns_note return_form returns_form return_label return_authorization return_authorisation return_receipt "
        "returns_slip goods_return_note rücksendeschein retourenschein retoureschein rücklieferschein retourschein "
        "retourenformular rücksendeformular retourbon retourformulier retournota retursedel returformulär returseddel "
        "returskema returskjema bon_de_retour bordereau_de_retour nota_de_devolución albarán_de_devolución "
        "hoja_de_devolución bolla_di_reso modulo_di_reso nota_di_reso nota_de_devolução guia_de_devolução "
        "notă_de_retur formular_de_retur formularz_zwrotu protokół_zwrotu zwrot_towaru reklamační_list "
        "dodací_list_vratka vratka возвратная_накладная акт_возврата iade_formu iade_fişi palautuslomake "
        "palautuslähete 返品伝票 返品書 返品票 退货单 退貨單 반품서 반품전표 반품_신청서 سند_إرجاع إشعار_إرجاع "
        "वापसी_पर्ची वापसी_नोट nota_pemulangan borang_pemulangan visszáru_bizonylat visszáru δελτίο_επιστροφής "
        "povratnica vratný_list grąžinimo_lapas tagastusleht",
    ),
    PaperName(
        PaperKind.COMPLAINT,
        "invoice_complaint notice_of_defects rechnungsreklamation reklamation mängelrüge mängelanzeige klacht "
        "reklamationsanmälan reklamation_af_faktura reklamasjon réclamation reclamación reclamo reclamação reclamație "
        "reklamacja reklamace рекламация şikayet reklamaatio クレーム通知* 投诉单 클레임 شكوى शिकायत aduan",
    ),
    PaperName(
        PaperKind.ORDER,
        "purchase_order order_form sales_order work_order blanket_order customer_order release_order *bestellung "
        "*bestellschein *bestellformular auftragserteilung kaufauftrag arbeitsauftrag inkooporder bestelling "
        "bestelbon opdrachtbon inköpsorder beställning rekvisition indkøbsordre købsordre bestilling innkjøpsordre "
        "bon_de_commande commande ordre_d'achat bulletin_de_commande orden_de_compra pedido orden_de_pedido "
        "hoja_de_pedido ordine_d'acquisto ordine_di_acquisto ordine buono_d'ordine ordem_de_compra encomenda "
        "nota_de_encomenda pedido_de_compra comandă comandă_de_achiziție zamówienie zlecenie objednávka заказ "
        "заказ_поставщику заказ_на_покупку satın_alma_siparişi sipariş_formu sipariş_fişi tilaus ostotilaus 注文書 "
        "発注書 采购订单 採購訂單 采购单 订货单 발주서 주문서 구매주문서 أمر_شراء طلب_شراء أمر_الشراء क्रय_आदेश "
        "खरीद_आदेश pesanan_belian pesanan_tempatan surat_pesanan megrendelés megrendelőlap παραγγελία narudžbenica "
        "naročilnica поръчка замовлення užsakymas pasūtījums tellimus pöntun đơn_đặt_hàng ใบสั่งซื้อ הזמנת_רכש",
    ),
    PaperName(
        PaperKind.PRICE_LIST,
        "price_list pricelist price_sheet price_guide price_catalogue rate_card tariff_sheet preisliste* "
        "preisübersicht preisverzeichnis "
        "prijslijst tarievenlijst prislista prisliste tarif_général liste_de_prix liste_des_prix grille_tarifaire "
        "tarifs lista_de_precios tarifa_de_precios listino_prezzi listino lista_de_preços tabela_de_preços "
        "listă_de_prețuri lista_prețurilor cennik ceník прайс_лист прейскурант fiyat_listesi hinnasto 価格表 料金表 "
        "价格表 價目表 价目表 가격표 단가표 قائمة_الأسعار قائمة_أسعار मूल्य_सूची दर_सूची senarai_harga daftar_harga "
        "árlista árjegyzék τιμοκατάλογος cenník cjenik cenik ценова_листа kainoraštis cenrādis hinnakiri verðlisti "
        "bảng_giá",
    ),
    PaperName(
        PaperKind.EXPENSE_REPORT,
        "expense_report expense_claim expenses_claim travel_expense_report travel_expenses expense_sheet "
        "mileage_claim reisekostenabrechnung spesenabrechnung auslagenabrechnung reisekostenantrag reisekosten "
        "declaratieformulier onkostendeclaratie onkostennota reisdeclaratie reseräkning utläggsredovisning "
        "rejseafregning udlægsafregning utgiftsrapport reiseregning utleggsskjema note_de_frais état_de_frais "
        "nota_de_gastos hoja_de_gastos informe_de_gastos liquidación_de_gastos nota_spese rimborso_spese "
        "relatório_de_despesas nota_de_despesas mapa_de_despesas decont_de_cheltuieli raport_de_cheltuieli "
        "rozliczenie_wydatków rozliczenie_delegacji rozliczenie_kosztów_podróży vyúčtování_výdajů cestovní_příkaz "
        "vyúčtování_cesty авансовый_отчет авансовый_отчёт masraf_formu harcama_raporu masraf_raporu matkalasku "
        "kulukorvaus* kululasku 経費精算書 旅費精算書 交通費精算書 报销单 費用報銷單 费用报销单 差旅报销单 경비정산서 "
        "경비_보고서 지출결의서 출장비_정산서 تقرير_المصروفات تقرير_مصاريف व्यय_रिपोर्ट खर्च_विवरण tuntutan_perbelanjaan "
        "laporan_perbelanjaan útiköltség_elszámolás kiküldetési_rendelvény εξοδολόγιο vyúčtovanie_výdavkov "
        "putni_nalog potni_nalog разходен_отчет avanso_apyskaita kuluaruanne ferðareikningur",
    ),
    PaperName(
        PaperKind.WORK_REPORT,
        "work_report service_report completion_certificate certificate_of_completion arbeitsbericht regiebericht "
        "montagebericht servicebericht abnahmeprotokoll werkbon servicerapport arbetsrapport arbejdsrapport "
        "arbeidsrapport rapport_d'intervention fiche_d'intervention bon_d'intervention procès_verbal_de_réception "
        "parte_de_trabajo informe_de_servicio acta_de_entrega rapporto_di_intervento rapporto_di_lavoro "
        "verbale_di_collaudo relatório_de_serviço relatório_de_intervenção proces_verbal_de_recepție protokół_odbioru "
        "předávací_protokol акт_выполненных_работ* акт_оказанных_услуг* iş_teslim_tutanağı servis_formu "
        "huoltoraportti työraportti 検収書 作業完了報告書 验收单 完工单 작업완료서 검수확인서 محضر_استلام कार्य_पूर्णता* "
        "laporan_kerja teljesítési_igazolás",
    ),
    PaperName(
        PaperKind.TIMESHEET,
        "timesheet time_sheet hours_statement stundenzettel stundennachweis arbeitszeitnachweis tätigkeitsnachweis "
        "leistungsnachweis urenstaat urenbriefje werkbriefje tidrapport tidsrapport timeseddel timesedler timeliste "
        "feuille_de_temps relevé_d'heures feuille_d'heures hoja_de_horas parte_de_horas foglio_ore foglio_presenze "
        "rapportino folha_de_horas fișă_de_pontaj pontaj karta_czasu_pracy ewidencja_czasu_pracy výkaz_práce "
        "výkaz_hodin табель табель_учета_рабочего_времени puantaj zaman_çizelgesi tuntilista tuntilaskelma "
        "tuntikortti 勤務表 作業報告書 タイムシート 工时表 考勤表 근무시간표 작업일지 كشف_ساعات_العمل سجل_الدوام "
        "समय_पत्रक lembaran_masa helaian_masa munkaidő_nyilvántartás jelenléti_ív δελτίο_χρόνου evidencija_rada "
        "časovnica darbo_laiko_žiniaraštis tööajaleht",
    ),
    PaperName(
        PaperKind.TAX_ASSESSMENT,
        "aanslag tax_assessment notice_of_assessment tax_bill tax_return *steuerbescheid* gebührenbescheid "
        "abgabenbescheid beitragsbescheid steuererklärung belastingaanslag aanslagbiljet voorlopige_aanslag "
        "skattebesked slutskattebesked årsopgørelse skatteopgørelse skatteoppgjør skattemelding avis_d'imposition "
        "avis_d'impôt avis_de_taxe* taxe_foncière liquidación_tributaria liquidación_de_impuestos "
        "avviso_di_accertamento avviso_di_liquidazione cartella_di_pagamento cartella_esattoriale nota_de_liquidação "
        "liquidação_de_imposto* demonstração_de_liquidação_de_irs decizie_de_impunere decyzja_podatkowa "
        "decyzja_w_sprawie_podatku* platební_výměr налоговое_уведомление vergi_tahakkuk* tahakkuk_fişi "
        "vergi_ihbarnamesi verotuspäätös veropäätös 納税通知書 課税明細書 税务通知书 稅單 完税证明 납세고지서 "
        "세금고지서 إشعار_ضريبي ربط_ضريبي कर_निर्धारण* notis_taksiran adóhatározat adóértesítő εκκαθαριστικό_σημείωμα "
        "daňový_výmer porezno_rješenje odločba_o_davku податково_повідомлення mokesčio_pranešimas maksuteade "
        "álagningarseðill",
    ),
    PaperName(
        PaperKind.VOUCHER,
        "gift_voucher gift_card gift_certificate gutschein geschenkgutschein wertgutschein cadeaubon presentkort "
        "gavekort bon_cadeau chèque_cadeau carte_cadeau cheque_regalo tarjeta_regalo vale_regalo buono_regalo "
        "cheque_prenda vale_presente card_cadou karta_podarunkowa bon_podarunkowy dárkový_poukaz "
        "подарочный_сертификат hediye_çeki hediye_kartı lahjakortti ギフト券 商品券 礼品卡 礼券 상품권 قسيمة_هدية "
        "उपहार_वाउचर baucar_hadiah ajándékutalvány",
    ),
    PaperName(
        PaperKind.CONTRACT,
        "insurance_policy policy_schedule certificate_of_insurance versicherungsschein versicherungspolice "
        "verzekeringspolis polisblad försäkringsbrev forsikringspolice forsikringsbevis police_d'assurance "
        "póliza_de_seguro polizza_assicurativa apólice_de_seguro poliță_de_asigurare polisa_ubezpieczeniowa "
        "pojistná_smlouva страховой_полис sigorta_poliçesi vakuutuskirja 保険証券 保险单 보험증권 وثيقة_تأمين "
        "बीमा_पॉलिसी polisi_insurans *vertrag contract service_agreement lease_agreement rental_agreement "
        "loan_agreement framework_agreement employment_contract purchase_agreement sales_contract *overeenkomst "
        "*kontrakt *avtal *avtale *aftale contrat* contrato contratto umowa smlouva договор* sözleşme* *sözleşmesi "
        "*sopimus 契約書 合同 合同书 合約 계약서 عقد अनुबंध संविदा perjanjian kontrak surat_perjanjian szerződés "
        "*szerződés σύμβαση συμφωνητικό zmluva ugovor pogodba договір sutartis līgums leping samningur hợp_đồng "
        f"biztosítási_kötvény {contract_words.NAMES}",
    ),
)
"""Papers that are no bills."""

ALONE = (
    PaperName(PaperKind.STATEMENT, "statement"),
    PaperName(PaperKind.ORDER, "order"),
    PaperName(PaperKind.RECEIPT, "ticket"),
)
"""Names that count only as a cell without any other word."""
