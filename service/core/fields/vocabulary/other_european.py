"""Polish, Czech, Russian, Turkish and Finnish."""

from __future__ import annotations

from service.core.fields.vocabulary.words import BillWords

POLISH = BillWords(
    total="razem suma ogółem łącznie",
    gross="wartość_brutto kwota_brutto razem_brutto brutto suma_pln",
    to_pay="do_zapłaty razem_do_zapłaty pozostało_do_zapłaty pozostaje_do_zapłaty",
    net="wartość_netto kwota_netto razem_netto netto",
    tax="ptu podatek kwota_vat suma_ptu vat stawka_vat",
    sums="kwota wartość",
    including="w_tym",
    excluding="bez",
    paid="gotówka karta zapłacono",
    change="reszta",
    no_sum="ilość cena_netto cena_jednostkowa kurs kurs_waluty",
    tax_base="od podstawa",
    exempt="zw np oo odwrotne_obciążenie zwolnion* nie_podlega",
    early_payment="skonto za_wcześniejszą_płatność",
    untaxed="kaucja opłata_miejscowa",
    tip="napiwek",
    shipping="wysyłka koszt_dostawy",
    discount="rabat upust",
    prepaid="zaliczka zaliczki zadatek wpłacono",
    brought_forward="saldo_poprzednie",
    due="termin_płatności płatne_do termin_zapłaty data_płatności zapłata_do płatność_do termin do_zapłaty_do "
    "zostanie_pobrana_dnia",
    dated="data_wystawienia wystawiono wystawiono_dnia",
    supply="data_dostawy data_sprzedaży data_wykonania_usługi data_wykonania data_dokonania_dostawy "
    "data_dostawy/wykonania_usługi dostarczono dostarczono_dnia dostawa okres_rozliczeniowy okres_rozliczenia "
    "za_okres okres okres_usługi data_wysyłki wysłano data_zakończenia_dostawy",
    discount_until="skonto_do skonto rabat_przy_płatności_do przy_płatności_do przy_zapłacie_do",
    another_day="data_zamówienia zamówiono zamówiono_dnia zamówienie_z_dnia wydrukowano data_wydruku data_urodzenia "
    "urodzony ważny_do ważna_do ważne_do ważność data_ważności data_wygaśnięcia wygasa zapłacono zapłacono_dnia "
    "opłacono opłacono_dnia data_zapłaty data_wpłaty wpłacono otrzymano_dnia data_otrzymania pobrano_dnia "
    "obciążono_dnia następna_faktura kolejna_faktura następny_rachunek następna_płatność następny_odczyt stan_na "
    "stan_na_dzień saldo_na saldo odczyt data_odczytu odczyt_z_dnia data_umowy umowa_z_dnia data_rozpoczęcia "
    "data_zakończenia początek koniec data_oferty przyjazd wyjazd klient_od ostatnia_płatność blik",
    bill="faktura faktura_vat rachunek paragon faktury",
    order="zamówienie zamówienia",
    your_order="wasze_zamówienie państwa_zamówienie zamówienie_klienta zamówienia_klienta nr_zamówienia_klienta "
    "zamówienie_kupującego",
    another_bill="do_faktury dotyczy_faktury faktura_pierwotna faktura_proforma faktura_pro_forma poprzednia_faktura "
    "korekta_do_faktury nr_faktury_korygowanej faktury_korygowanej faktury_pierwotnej do_faktury_nr",
    another_number="klienta klient umowy umowa licznika licznik oferty oferta projektu wz dokumentu_wz rachunku "
    "konta konto polisy nip pesel dostawcy ppe seryjny zlecenia kontrahenta tel. bdo",
    number="numer nr",
    reference="tytułem tytuł_przelewu tytuł_płatności w_tytule_przelewu referencja_płatności identyfikator_płatności "
    "numer_referencyjny_płatności",
    seller="sprzedawca wystawca usługodawca",
    buyer="nabywca płatnik zamawiający",
    by="od",
    to="dla",
    currency="waluta kwoty_w",
    credit="nota_kredytowa",
    correction="korekta_faktury faktura_korygująca faktura_korekta",
    tax_number="nip nip_ue nr_vat vat_ue",
    your="państwa twój twoje pana pani nabywcy klienta",
    representative="przedstawiciel_podatkowy",
    other_number="numer_seryjny nr_seryjny regon krs",
    debit="polecenie_zapłaty poleceniem_zapłaty obciążymy obciążenie_rachunku państwa_konto państwa_rachunek "
    "twojego_konta twoje_konto zgoda_na_obciążenie pobierzemy pobrana_z",
    transfer="przelew przelewem nasze_konto na_konto na_rachunek",
    deposit="zaliczk* zaliczkow* zadatek przedpłat* faktura_zaliczkowa już_zapłacono",
    carried="z_przeniesienia do_przeniesienia",
)

CZECH = BillWords(
    total="celkem celková_částka",
    gross="celkem_s_dph částka_s_dph",
    to_pay="k_úhradě celkem_k_úhradě zbývá_uhradit doplatek zbývá_k_úhradě",
    net="základ základ_daně celkem_bez_dph",
    subtotal="mezisoučet",
    tax="dph daň",
    sums="částka",
    including="včetně",
    excluding="bez",
    paid="hotovost hotově kartou zaplaceno",
    change="vráceno",
    no_sum="množství počet cena_za_kus kurz směnný_kurz",
    exempt="osvobozen* přenesená_daňová_povinnost režim_přenesení",
    early_payment="skonto",
    untaxed="záloha_na_obaly",
    tip="spropitné",
    shipping="doprava poštovné",
    discount="sleva",
    prepaid="záloha uhrazeno zaplacená_záloha odečet_zálohy",
    brought_forward="předchozí_zůstatek",
    rounding="zaokrouhlení",
    due="splatnost splatnosti datum_splatnosti uhraďte_do zaplatit_do splatné splatná_dne datum_úhrady_do "
    "bude_strženo_dne splatno",
    dated="datum_vystavení vystaveno datum dne",
    supply="datum_dodání dodáno dodáno_dne dodání duzp duzpl datum_uskutečnění_plnění "
    "datum_uskutečnění_zdanitelného_plnění datum_uskut._plnění datum_zdanitelného_plnění datum_zdan._plnění "
    "den_uskutečnění_plnění uskutečnění_plnění zúčtovací_období fakturační_období fakturované_období období "
    "datum_odeslání odesláno datum_plnění datum_usk*._zdan*._pln* usk*._zdan*._pln*",
    discount_until="skonto_do skonto při_úhradě_do při_platbě_do sleva_při_platbě_do",
    another_day="datum_objednávky objednáno objednáno_dne objednávka_ze_dne datum_tisku vytištěno vytištěno_dne "
    "datum_narození narozen platnost_do platí_do platnost datum_expirace expirace vyprší zaplaceno zaplaceno_dne "
    "uhrazeno uhrazeno_dne datum_úhrady přijato_dne datum_přijetí strženo_dne příští_faktura další_faktura "
    "příští_platba příští_odečet stav_k stav_ke_dni zůstatek_k zůstatek odečet datum_odečtu odečteno datum_smlouvy "
    "smlouva_ze_dne začátek konec datum_nabídky příjezd odjezd zákazníkem_od poslední_platba",
    bill="faktura faktura_daňový_doklad účtenka faktury dokladu daňový_doklad",
    order="objednávka objednávky",
    your_order="vaše_objednávka vaší_objednávky objednávka_zákazníka objednávky_zákazníka",
    another_bill="k_faktuře původní_doklad proforma_faktura předchozí_faktura k_dokladu opravovaný_doklad "
    "původní_faktura původní_faktury k_původnímu_dokladu oprava_dokladu storno_faktury",
    another_number="zákazníka zákazník zákaznické smlouvy smlouva měřidla elektroměru nabídky nabídka projektu "
    "zakázky dodací_list dodacího_listu účtu účet pojistky ičo ič dič dodavatele odběrného_místa odběratele ean "
    "sériové registrace konstantní_symbol specifický_symbol ks ss tel.",
    number="číslo č. č",
    reference="variabilní_symbol variabilný_symbol variabilní_s. var._symbol vs v.s. platební_reference "
    "reference_platby zpráva_pro_příjemce",
    seller="dodavatel prodávající vystavil zhotovitel",
    buyer="odběratel zákazník příjemce objednatel kupující",
    by="od",
    currency="měna částky_v",
    credit="dobropis",
    correction="opravný_daňový_doklad",
    tax_number="dič dič_dph ič ičo ič_dph dic ico",
    your="vaše vaší váš odběratele zákazníka",
    representative="daňový_zástupce",
    other_number="sériové_číslo výrobní_číslo",
    debit="inkaso inkasem svolení_k_inkasu vašeho_účtu váš_účet souhlas_s_inkasem",
    transfer="převodem převodní_příkaz náš_účet na_účet",
    deposit="záloh* zálohov* zálohová_faktura již_uhrazeno již_zaplaceno",
    carried="převod_z přenos převedeno",
)

RUSSIAN = BillWords(
    total="итого всего сумма",
    gross="итого_с_ндс всего_с_ндс",
    to_pay="к_оплате итого_к_оплате всего_к_оплате остаток_к_оплате",
    net="без_ндс итого_без_ндс стоимость_без_налога",
    subtotal="подытог",
    tax="ндс налог",
    including="в_том_числе включая",
    excluding="без",
    paid="наличными наличные картой безналичными получено",
    change="сдача",
    no_sum="количество кол_во цена курс",
    early_payment="скидка_за_досрочную_оплату",
    exempt="не_облагается",
    tip="чаевые",
    shipping="доставка",
    discount="скидка",
    prepaid="аванс предоплата ранее_оплачено",
    brought_forward="сальдо_на_начало",
    due="срок_оплаты оплатить_до срок_платежа оплата_до подлежит_оплате_до оплатить_не_позднее",
    dated="дата от дата_счета",
    supply="дата_доставки дата_отгрузки отгружено доставлено поставка дата_поставки дата_оказания_услуг "
    "период_оказания_услуг расчетный_период отчетный_период период за_период дата_выполнения",
    discount_until="скидка_при_оплате_до при_оплате_до скидка_до скидка",
    another_day="дата_заказа заказ_от дата_печати напечатано распечатано дата_рождения действителен_до "
    "действительно_до действует_до срок_действия годен_до истекает оплачено оплачен оплачено_дата дата_оплаты "
    "получено_дата списано следующий_счет следующий_платеж следующее_списание по_состоянию_на остаток_на сальдо_на "
    "сальдо показания показания_на дата_снятия_показаний дата_договора договор_от договора_от начало окончание "
    "дата_предложения заезд выезд клиент_с последний_платеж",
    bill="счет счёт чек счет_фактура счета",
    order="заказ заказа",
    your_order="ваш_заказ заказ_покупателя заказа_покупателя заказ_клиента",
    another_bill="к_счету исходный_счет предыдущий_счет по_счету к_счету_фактуре исходный_счет_фактура",
    another_number="клиента клиент договор договора счетчика лицевой_счет лицевого_счета расчетный_счет "
    "счета_получателя накладная накладной предложения проекта полиса инн бик к/с р/с поставщика абонента серийный "
    "тел.",
    number="номер №",
    reference="назначение_платежа уин референс_платежа идентификатор_платежа указать_при_оплате",
    seller="поставщик продавец исполнитель грузоотправитель получатель_платежа",
    buyer="покупатель заказчик плательщик грузополучатель клиент",
    to="кому",
    currency="валюта",
    credit="кредит_нота кредитовое_авизо",
    correction="корректировочный_счет_фактура",
    tax_number="инн инн/кпп",
    your="ваш ваша ваше покупателя заказчика",
    representative="налоговый_представитель",
    other_number="серийный_номер заводской_номер кпп огрн",
    debit="прямое_дебетование безакцептное_списание вашего_счета списание_со_счета",
    transfer="перевод перечислить наш_счет на_счет",
    deposit="аванс* предоплат* задаток уже_оплачено",
    carried="перенос перенесено",
)

TURKISH = BillWords(
    total="toplam genel_toplam toplam_tutar",
    gross="kdv_dahil vergiler_dahil_toplam_tutar",
    to_pay="ödenecek_tutar ödenecek kalan_tutar",
    net="kdv_hariç mal_hizmet_toplam_tutarı matrah",
    subtotal="ara_toplam",
    tax="kdv vergi hesaplanan_kdv topkdv öiv ötv",
    sums="tutar",
    including="dahil",
    excluding="hariç",
    paid="nakit kredi_kartı banka_kartı",
    change="para_üstü",
    no_sum="miktar adet birim_fiyat kur döviz_kuru",
    early_payment="erken_ödeme erken_ödeme_indirimi",
    exempt="istisna muaf*",
    tip="bahşiş",
    shipping="kargo",
    withholding="tevkifat stopaj",
    discount="indirim iskonto toplam_iskonto",
    prepaid="avans ön_ödeme kapora",
    brought_forward="önceki_bakiye devreden_bakiye",
    due="son_ödeme son_ödeme_tarihi vade vade_tarihi vadesi ödeme_tarihi ödeme_vadesi en_son_ödeme",
    dated="tarih* fatura_tarihi düzenleme_tarihi",
    supply="teslim_tarihi teslimat_tarihi teslimat teslim_edildi sevk_tarihi sevkiyat_tarihi irsaliye_tarihi "
    "fiili_sevk_tarihi hizmet_tarihi hizmet_dönemi fatura_dönemi dönem dönemi tüketim_dönemi",
    discount_until="erken_ödeme_indirimi erken_ödeme indirim_son_tarihi",
    another_day="sipariş_tarihi yazdırma_tarihi basım_tarihi doğum_tarihi geçerlilik_tarihi geçerlilik "
    "son_kullanma_tarihi son_kullanma skt ödendi ödenme_tarihi tahsil_edildi tahsilat_tarihi ödeme_alındı "
    "alındı_tarihi çekildi sonraki_fatura bir_sonraki_fatura sonraki_ödeme sonraki_okuma itibarıyla bakiye "
    "okuma_tarihi son_okuma ilk_okuma endeks sözleşme_tarihi başlangıç_tarihi bitiş_tarihi başlangıç bitiş "
    "teklif_tarihi giriş_tarihi çıkış_tarihi son_ödeme_yapılan",
    bill="fatura fiş",
    bill_number="belge",
    order="sipariş",
    your_order="siparişiniz müşteri_sipariş müşteri_siparişi satın_alma_siparişi",
    another_bill="ilgili_fatura iadeye_konu_fatura proforma_fatura önceki_fatura iade_edilen_fatura asıl_fatura "
    "orijinal_fatura",
    another_number="müşteri sözleşme sayaç teklif proje irsaliye hesap poliçe üye tedarikçi vergi vkn tckn mersis "
    "tesisat abone seri ticaret_sicil tel. ettn",
    number="numarası no",
    reference="ödeme_referansı ödeme_referans ödeme_açıklaması açıklama_kısmına referans_kodu ödeme_kodu",
    seller="satıcı tedarikçi gönderen",
    buyer="alıcı müşteri sayın",
    currency="para_birimi",
    credit="iade_faturası",
    tax_number="vergi_no vkn vergi_numarası vergi_kimlik_no tckn vergi_dairesi",
    your="sizin",
    representative="mali_temsilci",
    other_number="seri_no seri_numarası",
    debit="otomatik_ödeme hesabınızdan hesabınız",
    transfer="havale eft hesabımıza",
    deposit="avans* ön_ödeme* kapora daha_önce_ödenen",
    carried="nakli_yekün devreden",
)

FINNISH = BillWords(
    total="yhteensä summa loppusumma",
    gross="yhteensä_sis_alv verollinen",
    to_pay="maksettava maksettavaa jäljellä",
    net="veroton veroton_yhteensä",
    subtotal="välisumma",
    tax="alv arvonlisävero",
    including="sis sisältää",
    paid="käteinen korttimaksu pankkikortti",
    change="takaisin vaihtorahaa",
    no_sum="määrä kpl valuuttakurssi vaihtokurssi",
    tax_base="veroperuste",
    exempt="veroton_myynti käännetty_verovelvollisuus alv_0",
    early_payment="kassa_alennus",
    untaxed="pantti pantit",
    shipping="toimitus toimituskulut",
    discount="alennus",
    prepaid="ennakko ennakkomaksu käsiraha jo_maksettu",
    brought_forward="edellinen_saldo",
    rounding="pyöristys",
    due="eräpäivä maksettava_viimeistään eräpvm maksettava_viimeistään_eräpäivänä maksupäivä viimeinen_maksupäivä "
    "veloitetaan",
    dated="päivämäärä päiväys laskun_päivä pvm laskupäivä laskutuspäivä laskun_pvm",
    supply="toimituspäivä toimituspvm toimitettu toimitus suorituspäivä palvelupäivä toimituskausi laskutuskausi "
    "laskutusjakso palvelukausi ajanjakso kausi ajalta lähetyspäivä toimitusaika",
    discount_until="kassa_alennus kassa_ale käteisalennus maksettaessa_viimeistään maksettaessa_ennen",
    another_day="tilauspäivä tilauspvm tilattu tulostettu tulostuspäivä tulostuspvm syntymäaika syntynyt voimassa "
    "voimassa_asti voimassaolo vanhenee viimeinen_voimassaolopäivä parasta_ennen maksettu maksettu_pvm suoritettu "
    "vastaanotettu veloitettu seuraava_lasku seuraava_maksu seuraava_lukema tilanne saldo lukema luettu lukemapäivä "
    "mittarilukema sopimuspäivä sopimuspvm alkupäivä loppupäivä alkaa päättyy tarjouspäivä saapuminen lähtö "
    "asiakas_alkaen",
    bill="lasku laskun kuitti",
    order="tilaus tilauksen",
    your_order="tilauksenne tilausnumeronne teidän_tilaus ostotilaus asiakkaan_tilaus viitteenne",
    another_bill="hyvitettävä_lasku alkuperäinen_lasku proformalasku edellinen_lasku laskuun hyvitys_laskuun "
    "hyvitetään_lasku alkuperäisen_laskun",
    another_number="asiakas asiakasnumero asiakkaan sopimus sopimusnumero mittari tarjous projekti lähete lähetteen "
    "tili vakuutus jäsen toimittaja y_tunnus alv alv_tunnus käyttöpaikka puh. meidän_tilaus",
    number="numero nro",
    reference="viitenumero viitenro viite maksuviite viitteen pankkiviite",
    seller="myyjä toimittaja lähettäjä",
    buyer="ostaja asiakas vastaanottaja laskutusosoite maksaja",
    currency="valuutta",
    credit="hyvityslasku",
    tax_number="y_tunnus alv_nro alv_tunnus alv_rek vat_nro",
    your="teidän asiakkaan ostajan",
    representative="veroedustaja",
    other_number="sarjanumero",
    debit="suoraveloitus suoramaksu tililtänne tililtäsi veloitetaan",
    transfer="tilisiirto tilillemme",
    deposit="ennakko* ennakkolasku* osalasku* jo_maksettu jo_laskutettu",
    carried="siirto siirretään",
)
