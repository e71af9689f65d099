"""Captions of the columns of a table of goods, in all languages.

The notation is that of `words`. The order is that of the languages: English, Germanic, Romance, other European, Asian.
"""

from __future__ import annotations

CAPTIONS = {
    "item": (
        "description descriptions item items product product_description product_name service services details "
        "particulars goods description_of_goods work task activity charge title bezeichnung beschreibung leistung "
        "leistungen artikel artikelbezeichnung produkt text tätigkeit ware omschrijving beschrijving beskrivning "
        "benämning produkt vara beskrivelse varebeskrivelse tekst vare ydelse désignation designation libellé "
        "description descripción concepto producto servicio artículo detalle descrizione prodotto servizio articolo "
        "descrição produto serviço designação denumire descriere produse opis nazwa nazwa_towaru "
        "nazwa_towaru_lub_usługi usługa popis název položka označení наименование описание товар услуга açıklama ürün "
        "malzeme mal_hizmet hizmet kuvaus tuote nimike selite megnevezés termék tétel leírás termék_megnevezése "
        "megnevezése περιγραφή είδος περιγραφή_είδους 品名 品目 商品名 内容 摘要 項目 名称 品名・仕様 商品 项目 "
        "货物名称 货物或应税劳务名称 품목 품명 내용 상품명 الوصف البيان الصنف विवरण वस्तु keterangan barang perkara "
        "butiran deskripsi nama_barang"
    ),
    "quantity": (
        "qty quantity shipped delivered quant. units hours hrs days nights usage count pcs no._of_units menge anzahl "
        "stück std. stunden menge_einheit aantal hoeveelheid antal mängd kvantitet mengde antall qté qte quantité "
        "nombre nb cantidad cant. cant unid. unidades uds. quantità q.tà qtà q.ta qta quantidade qtd. qtd qt. qtde "
        "cantitate cant. ilość množství počet кол_во количество к_во miktar adet määrä kpl mennyiség menny. ποσότητα "
        "ποσ. 数量 個数 数 수량 الكمية मात्रा kuantiti jumlah_unit qty_unit bil_unit"
    ),
    "unit": (
        "unit um u/m uom u.o.m. units_of_measure einheit einh. eenheid enhet enhed unité unite unidad unità u.m. "
        "unidade un. jm j.m. jedn. jednotka mj ед. ед.изм. ед._изм. birim yksikkö egység me. m.e. mennyiségi_egység "
        "μ.μ. μονάδα μονάδα_μέτρησης 単位 单位 단위 الوحدة इकाई kemasan"
    ),
    "price": (
        "price unit_price net list net_price price_per_unit price_each each rate unit_cost cost_per_unit unit_rate "
        "hourly_rate list_price cost preis einzelpreis e_preis ep vk_preis stückpreis preis_pro_einheit einheitspreis "
        "nettopreis satz stundensatz prijs prijs_per_stuk stukprijs eenheidsprijs tarief prijs_per_eenheid à_pris "
        "a_pris pris styckpris enhetspris enhedspris stk._pris stk_pris p.u. p.u._ht pu pu_ht prix prix_unitaire "
        "prix_unit. prix_unitaire_ht tarif precio precio_unitario precio_unit. p._unit. prezzo prezzo_unitario "
        "prezzo_unit. preço preço_unitário preço_unit. pr._unit. vl._unit. v._unit v._unitário valor_unitário "
        "vlr_unit preț preț_unitar pret_unitar cena cena_jedn. cena_jednostkowa cena_netto cena_brutto cena_za_mj "
        "jedn._cena jednotková_cena цена цена_за_ед. fiyat birim_fiyat hinta yksikköhinta à_hinta a_hinta egységár "
        "nettó_egységár τιμή τιμή_μονάδας τιμή_μον. 単価 单价 單價 단가 السعر سعر_الوحدة दर मूल्य harga harga_unit "
        "harga_satuan seunit"
    ),
    "amount": (
        "amount total line_total row_total line_amount total_price total_amount net_amount value taxable_value sum "
        "extended_price ext._price extension subtotal gross_amount amt charges betrag gesamt gesamtpreis g_preis gp "
        "summe zeilenbetrag gesamtbetrag nettobetrag bruttobetrag netto brutto positionsbetrag gesamt_netto "
        "gesamt_brutto bedrag totaal totaalprijs prijs_incl._btw prijs_excl._btw totaal_excl._btw totaal_incl._btw "
        "belopp summa beløb beløp sum i_alt total_dkk montant montant_ht montant_ttc total_ht total_ttc prix_total "
        "prix_total_ht importe importe_total precio_total total_€ importo totale prezzo_totale valor valor_total "
        "preço_total vl._total v._total vlr_total valoare valoarea suma wartość wartość_netto wartość_brutto kwota "
        "razem celkem cena_celkem částka celkem_bez_dph celkem_s_dph сумма стоимость всего tutar toplam tutarı "
        "yhteensä summa veroton_yhteensä érték nettó_érték bruttó_érték összeg összesen αξία καθαρή_αξία σύνολο "
        "συνολική_αξία 金額 金额 小計 合計金額 价税合计 금액 공급가액 المبلغ المجموع الإجمالي राशि रकम कुल amaun "
        "jumlah jumlah_harga total_harga"
    ),
    "tax": (
        "% tax taxes vat vat_% vat_rate vat_amount tax_% tax_rate tax_amount gst hst cgst sgst igst sst sales_tax "
        "gst_% gst_amount mwst mw.st. mwst_satz mwst_% ust ust_satz ust_% steuer steuersatz steuerbetrag btw btw_% "
        "btw_bedrag moms moms_% momssats mva mva_% tva taux_tva tva_% taux montant_tva iva tipo_iva iva_% importe_iva "
        "aliquota aliq. icms ipi iss cota_tva valoare_tva vat_[%] stawka_vat kwota_vat stawka dph sazba_dph dph_% ндс "
        "ставка_ндс сумма_ндс ставка kdv kdv_oranı kdv_tutarı alv alv_% áfa áfa_% áfa_kulcs áfa_érték áfa_összeg "
        "φ.π.α. φ.π.α._% ποσό_φ.π.α. αξία_φ.π.α. 税率 消費税 税額 税额 세액 부가세 الضريبة ضريبة कर जीएसटी cukai ppn"
    ),
    "discount": (
        "disc. disc discount disc._% discount_% rebate rabatt rabatt_% nachlass korting rabat rabat_% remise remise_% "
        "descuento dto. dto sconto sconto_% desconto desc. reducere upust zniżka sleva скидка iskonto indirim alennus "
        "ale_% kedvezmény engedmény έκπτωση έκπτωση_% έκπτ. έκπτ._% 値引 割引 折扣 할인 الخصم छूट diskaun diskon"
    ),
    "other": (
        "ordered pos. pos position no. no # nr. nr line lp lp. l.p. s.no sl._no sr._no sr._no. item_no item_no. "
        "item_code item_number code product_code part part_no part_no. part_number sku article_no ref. ref reference "
        "hsn hsn/sac sac hsn_code date serial_no art._nr. art._nr artikel_nr. artikel_nr artikelnummer art. datum "
        "lfd._nr. lfd._nr code_article réf. réf référence codice código cód. cod. fecha data codigo ncm cst cfop kod "
        "indeks pkwiu cn kód № п/п артикул sıra stok_kodu koodi tuotenumero sorszám ssz. cikkszám vtsz κωδικός κωδ. "
        "α/α 番号 品番 日付 日期 序号 编号 번호 코드 التاريخ رقم क्रमांक तारीख bil kod_barang tarikh taxes_code "
        "period"
    ),
}
"""Kind of column → its captions."""

UNITS = (
    "ea each pc pcs piece pieces unit units box can tub hrs hours hour month kg g l m km sqm ml gal lb st stk stk. "
    "stück std std. stunden psch pauschal paket karton koli adet ks hod szt szt. godz buc timer styk uur stuks "
    "heures pce pces uds ud ore pz шт кг 本 個 式 枚 月 台 箱 件 套 个 개 통 सं"
)
"""Units, which a model may take for goods."""

NO_ROWS = (
    "carried_forward carry_over balance_forward you_saved total_savings card_payment amount_tendered übertrag "
    "sie_sparen gespart transporteren överföring overført à_reporter suma_y_sigue suma_anterior riporto a_transportar "
    "transporte do_przeniesienia z_przeniesienia převod перенос devir siirto 繰越 前ページより 承上页 이월 baki_wang"
)
"""Words for a line of a table or of a receipt that is no row of goods, beside sums and payments."""
