"""Sentences that say what a paper is or is not, in all languages of the vocabulary.

Rules:
- The phrases of a kind are in the notation of `words`, in the order of `phrases.LANGUAGES` (English, German, Dutch, …).
- "This is not a tax invoice" is none: an invoice of a small business says so, and is to be paid.
- "Do not pay" is none: a bill that is collected by direct debit says so.
- An order's mail thanks for the order, or says that it was received or has been sent; a bill may do so as well.
"""

from __future__ import annotations

from collections.abc import Mapping

NO_BILL, CUSTOMS, PAID, ORDERED = "no bill", "customs", "paid", "ordered"
"""Kinds of sentences: the paper is no bill; it is made for the customs; a payment has come in; an order has."""

SENTENCES: Mapping[str, str] = {
    NO_BILL: "not_an_invoice not_a_bill is_no_invoice is_no_bill not_a_demand_for_payment "
    "not_a_request_for_payment ist_keine_rechnung stellt_keine_rechnung_dar gilt_nicht_als_rechnung "
    "ist_nicht_als_rechnung is_geen_factuur geldt_niet_als_factuur är_inte_en_faktura är_ingen_faktura "
    "er_ikke_en_faktura er_ingen_faktura ikke_en_regning n'est_pas_une_facture ne_constitue_pas_une_facture "
    "ne_vaut_pas_facture ne_tient_pas_lieu_de_facture no_es_una_factura no_es_factura no_constituye_factura "
    "no_constituye_una_factura no_válido_como_factura no_válida_como_factura non_è_una_fattura non_è_fattura "
    "non_costituisce_fattura non_costituisce_una_fattura non_vale_come_fattura non_sostituisce_la_fattura "
    "não_é_uma_fatura não_é_fatura não_constitui_fatura não_serve_de_fatura não_substitui_a_fatura nu_este_o_factură "
    "nu_este_factură nu_constituie_factură nu_ține_loc_de_factură nie_jest_fakturą nie_jest_faktura "
    "nie_stanowi_faktury není_faktura není_fakturou neslouží_jako_faktura не_является_счетом не_является_счётом "
    "не_является_счетом_на_оплату fatura_değildir fatura_yerine_geçmez ei_ole_lasku 請求書ではありません "
    "請求書ではございません 不是发票 非发票 不作为发票 不作发票 不是账单 非發票 청구서가_아닙니다 청구서가_아님 "
    "ليست_فاتورة ليس_فاتورة لا_تعتبر_فاتورة ليس_بفاتورة बीजक_नहीं बिल_नहीं चालान_नहीं bukan_invois bukan_bil",
    CUSTOMS: "for_customs_purposes_only for_customs_only value_for_customs_purposes value_for_customs_only "
    "no_commercial_value nur_für_zollzwecke nur_für_den_zoll kein_handelswert ohne_handelswert "
    "alleen_voor_douanedoeleinden zonder_handelswaarde endast_för_tulländamål utan_kommersiellt_värde "
    "kun_til_toldformål uden_handelsværdi kun_for_tollformål uniquement_pour_la_douane pour_la_douane_uniquement "
    "sans_valeur_commerciale solo_para_fines_aduaneros solo_a_efectos_aduaneros sin_valor_comercial "
    "ai_soli_fini_doganali solo_per_uso_doganale senza_valore_commerciale apenas_para_fins_aduaneiros "
    "sem_valor_comercial numai_în_scopuri_vamale fără_valoare_comercială tylko_do_celów_celnych "
    "bez_wartości_handlowej pouze_pro_celní_účely bez_obchodní_hodnoty только_для_таможенных_целей "
    "без_коммерческой_ценности yalnızca_gümrük ticari_değeri_yoktur vain_tullausta_varten ei_kaupallista_arvoa "
    "通関目的のみ 通関用 商業価値なし 仅供海关 无商业价值 통관용 상업적_가치_없음 للأغراض_الجمركية_فقط "
    "بدون_قيمة_تجارية केवल_सीमा_शुल्क untuk_tujuan_kastam_sahaja tiada_nilai_komersial",
    PAID: "received_your_payment your_payment_has_been_received your_payment_was_received "
    "your_payment_was_successful payment_has_been_processed ihre_zahlung_erhalten ihre_zahlung_ist_eingegangen "
    "zahlung_ist_bei_uns_eingegangen uw_betaling_ontvangen uw_betaling_is_ontvangen mottagit_din_betalning "
    "mottagit_er_betalning modtaget_din_betaling modtaget_jeres_betaling mottatt_din_betaling mottatt_betalingen "
    "reçu_votre_paiement reçu_votre_règlement votre_paiement_a_été hemos_recibido_su_pago recibido_su_pago "
    "recibido_tu_pago ricevuto_il_suo_pagamento ricevuto_il_vostro_pagamento ricevuto_il_tuo_pagamento "
    "recebemos_o_seu_pagamento recebemos_seu_pagamento am_primit_plata plata_dumneavoastră_a_fost "
    "otrzymaliśmy_płatność otrzymaliśmy_państwa_płatność przyjęliśmy_płatność obdrželi_jsme_vaši_platbu "
    "přijali_jsme_vaši_platbu мы_получили_ваш_платеж ваш_платеж_получен ödemenizi_aldık ödemeniz_alındı "
    "olemme_vastaanottaneet_maksu* maksunne_on_vastaanotettu ご入金を確認 お支払いを確認 入金を確認 "
    "我们已收到您的付款 已收到您的付款 결제가_완료 입금이_확인 입금을_확인 استلمنا_دفعتكم تم_استلام_دفعتك "
    "हमें_आपका_भुगतान आपका_भुगतान_प्राप्त kami_telah_menerima_bayaran pembayaran_anda_telah_diterima",
    ORDERED: "thank_you_for_your_order thanks_for_your_order thank_you_for_ordering thanks_for_ordering "
    "your_order_has your_order_is your_order_was we_received_your_order we_have_received_your_order order_placed "
    "order_received order_shipped order_dispatched order_confirmed "
    "dank_für_ihre_bestellung dank_für_deine_bestellung dank_für_ihren_einkauf dank_für_deinen_einkauf "
    "ihre_bestellung_ist ihre_bestellung_wurde deine_bestellung_ist deine_bestellung_wurde ihre_bestellung_bei "
    "bestellung_erhalten bestellung_eingegangen bestellung_versendet bestellung_versandt "
    "bedankt_voor_je_bestelling bedankt_voor_uw_bestelling dank_voor_je_bestelling dank_voor_uw_bestelling "
    "je_bestelling_is uw_bestelling_is bestelling_ontvangen bestelling_verzonden "
    "tack_för_din_beställning tack_för_din_order din_order_är din_beställning_är din_order_har din_beställning_har "
    "tak_for_din_ordre tak_for_din_bestilling din_ordre_er din_bestilling_er takk_for_bestillingen "
    "takk_for_din_bestilling takk_for_din_ordre ordren_er_sendt "
    "merci_pour_votre_commande merci_de_votre_commande remercions_de_votre_commande remercions_pour_votre_commande "
    "votre_commande_a_été votre_commande_est commande_expédiée commande_reçue "
    "gracias_por_tu_pedido gracias_por_su_pedido gracias_por_tu_compra gracias_por_su_compra tu_pedido_ha "
    "su_pedido_ha tu_pedido_está su_pedido_está pedido_enviado pedido_recibido "
    "grazie_per_il_tuo_ordine grazie_per_il_suo_ordine grazie_per_l'ordine grazie_per_il_tuo_acquisto "
    "il_tuo_ordine_è il_suo_ordine_è ordine_spedito ordine_ricevuto "
    "obrigado_pela_sua_encomenda obrigado_pela_sua_compra obrigado_pelo_seu_pedido a_sua_encomenda_foi "
    "o_seu_pedido_foi seu_pedido_foi encomenda_enviada "
    "mulțumim_pentru_comand* comanda_ta_a comanda_dumneavoastră_a "
    "dziękujemy_za_zamówienie dziękujemy_za_złożenie_zamówienia twoje_zamówienie_zostało zamówienie_zostało "
    "děkujeme_za_objednávku děkujeme_za_vaši_objednávku vaše_objednávka_byla objednávka_byla "
    "спасибо_за_заказ спасибо_за_ваш_заказ ваш_заказ_отправлен ваш_заказ_принят ваш_заказ_оформлен "
    "siparişiniz_için_teşekkür* siparişiniz_alındı siparişiniz_kargo* kiitos_tilauksesta* tilauksesi_on "
    "kiitos_tilauksestasi köszönjük_a_rendelés* ďakujeme_za_objednávku hvala_za_naročilo hvala_na_narudžbi "
    "ご注文ありがとうございます ご注文いただき ご注文を承り ご注文の商品を発送 感谢您的订购 感谢您的订单 您的订单已 "
    "感謝您的訂購 您的訂單已 주문해_주셔서 주문이_완료 주문이_접수 상품이_발송 "
    "شكرا_لطلبك شكرا_على_طلبك تم_شحن_طلبك تم_استلام_طلبك "
    "आपके_ऑर्डर_के_लिए आपका_ऑर्डर terima_kasih_atas_pesanan* pesanan_anda_telah terima_kasih_kerana_membuat_pesanan",
}
"""Sentences that say what a paper is, whatever its labels: kind of sentence → its phrases."""
