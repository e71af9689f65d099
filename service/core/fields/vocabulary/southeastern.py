"""Hungarian, Greek and Romanian."""

from __future__ import annotations

from service.core.fields.vocabulary.words import BillWords

HUNGARIAN = BillWords(
    total="összesen végösszeg számla_összege számla_végösszege",
    gross="mindösszesen bruttó_összesen összesen_bruttó bruttó_végösszeg bruttó_összeg bruttó_érték",
    to_pay="fizetendő fizetendő_összeg fizetendő_végösszeg fizetendő_összesen összesen_fizetendő még_fizetendő "
    "mindösszesen_fizetendő hátralévő_összeg fennmaradó_összeg",
    net="nettó_összeg nettó_érték nettó_összesen összesen_nettó adóalap áfa_alap áfa_alapja",
    subtotal="részösszeg",
    tax="áfa áfa_összeg áfa_összege áfa_érték áfa_értéke áfa_összesen általános_forgalmi_adó",
    sums="összeg érték",
    including="tartalmaz tartalmazza áfával",
    excluding="nélkül",
    paid="készpénz készpénzben bankkártya bankkártyával kifizetve kiegyenlítve",
    change="visszajáró",
    no_sum="mennyiség egységár nettó_egységár bruttó_egységár darabszám árfolyam",
    exempt="adómentes áfamentes áfa_mentes alanyi_adómentes fordított_adózás fordított_áfa áfa_körön_kívüli",
    early_payment="korai_fizetési_kedvezmény",
    untaxed="betétdíj idegenforgalmi_adó",
    tip="borravaló",
    service_charge="szervizdíj felszolgálási_díj",
    shipping="szállítás szállítási_díj szállítási_költség postaköltség",
    discount="kedvezmény engedmény árengedmény",
    prepaid="előleg befizetett_előleg levont_előleg korábban_fizetett",
    brought_forward="előző_egyenleg korábbi_tartozás",
    rounding="kerekítés kerekítési_különbözet",
    due="fizetési_határidő fizetési_határideje fizetés_határideje befizetési_határidő esedékesség "
    "esedékesség_dátuma fizetési_határnap",
    dated="számla_kelte számla_dátuma számla_kiállításának_dátuma számla_kiállításának_kelte kelt kelte dátum "
    "kiállítás_dátuma kiállítás_kelte kiállítás_napja kiállítva",
    supply="teljesítés teljesítés_kelte teljesítés_dátuma teljesítés_időpontja teljesítés_napja teljesítési_időpont "
    "teljesítési_időszak elszámolási_időszak elszámolt_időszak számlázási_időszak szállítás_dátuma szállítás_napja",
    discount_until="kedvezményes_fizetési_határidő kedvezmény_határideje",
    another_day="rendelés_dátuma rendelés_kelte megrendelés_dátuma megrendelés_kelte nyomtatva nyomtatás_dátuma "
    "születési_idő születési_dátum érvényes érvényesség érvényes_eddig lejárat lejárat_dátuma kifizetve fizetve "
    "fizetés_dátuma befizetve kiegyenlítve következő_számla következő_leolvasás leolvasás leolvasás_dátuma "
    "szerződés_dátuma szerződés_kelte ajánlat_dátuma ajánlat_kelte egyenleg",
    bill="számla nyugta",
    bill_number="bizonylat számla_sorszám",
    order="rendelés megrendelés",
    your_order="az_ön_rendelése vevői_rendelés vevői_megrendelés",
    another_bill="eredeti_számla előző_számla hivatkozott_számla helyesbített_számla stornózott_számla díjbekérő",
    another_number="ügyfél vevőkód partnerkód szerződés mérő ajánlat szállítólevél felhasználási_hely projekt "
    "ügyfélszám szerződésszám bankszámla adószám közösségi_adószám cégjegyzékszám",
    number="szám száma sorszám sorszáma azonosító azonosítója",
    reference="közlemény közleményben közlemény_rovatban fizetési_azonosító befizetőazonosító",
    seller="eladó szállító kiállító szolgáltató számlakibocsátó",
    buyer="vevő vásárló megrendelő",
    currency="pénznem",
    credit="jóváíró_számla sztornó_számla",
    correction="helyesbítő_számla",
    tax_number="adószám adószáma közösségi_adószám eu_adószám csoportos_adószám",
    your="vevő az_ön",
    other_number="cégjegyzékszám gyári_szám bankszámlaszám",
    debit="csoportos_beszedés",
    transfer="átutalás átutalással",
    deposit="előleg* előlegszámla* díjbekérő*",
    carried="áthozat átvitel",
)

GREEK = BillWords(
    total="σύνολο συνολικό_ποσό συνολική_αξία",
    gross="γενικό_σύνολο τελικό_σύνολο τελική_αξία μικτή_αξία",
    to_pay="πληρωτέο πληρωτέο_ποσό πληρωτέο_σύνολο πληρωτέα_αξία τελικό_πληρωτέο ποσό_πληρωμής σύνολο_πληρωμής "
    "υπόλοιπο_πληρωμής",
    net="καθαρή_αξία καθαρό_ποσό καθαρό_σύνολο σύνολο_καθαρής_αξίας συνολική_καθαρή_αξία φορολογητέα_αξία "
    "φορολογητέο_ποσό",
    subtotal="υποσύνολο μερικό_σύνολο",
    tax="φ.π.α. αξία_φ.π.α. ποσό_φ.π.α. σύνολο_φ.π.α. αναλογών_φ.π.α.",
    tax_base="επί",
    sums="αξία ποσό",
    including="με συμπεριλαμβανομένου συμπεριλαμβάνεται περιλαμβάνει",
    excluding="χωρίς προ πλέον άνευ",
    paid="μετρητά κάρτα πιστωτική_κάρτα εξοφλήθηκε",
    change="ρέστα",
    no_sum="ποσότητα τιμή_μονάδας τεμάχια ισοτιμία συναλλαγματική_ισοτιμία",
    exempt="απαλλαγή απαλλάσσεται απαλλασσ* αντίστροφη_χρέωση αντίστροφη_επιβάρυνση",
    early_payment="έκπτωση_τοις_μετρητοίς έκπτωση_πρόωρης_πληρωμής",
    untaxed="φόρος_διαμονής τέλος_ανθεκτικότητας",
    tip="φιλοδώρημα",
    shipping="μεταφορικά έξοδα_αποστολής",
    withholding="παρακράτηση παρακράτηση_φόρου παρακρατούμενος_φόρος παρακρατούμενοι_φόροι",
    discount="έκπτωση εκπτώσεις σύνολο_έκπτωσης",
    prepaid="προκαταβολή προκαταβολές",
    brought_forward="προηγούμενο_υπόλοιπο",
    rounding="στρογγυλοποίηση",
    due="ημερομηνία_λήξης ημ/νία_λήξης ημ._λήξης λήξη_πληρωμής ημερομηνία_λήξης_πληρωμής προθεσμία_πληρωμής "
    "πληρωμή_έως πληρωτέο_έως εξόφληση_έως ημερομηνία_εξόφλησης_έως",
    dated="ημερομηνία ημ/νία ημερομηνία_έκδοσης ημ/νία_έκδοσης ημ._έκδοσης εκδόθηκε ημερομηνία_τιμολογίου "
    "ημερομηνία_παραστατικού",
    supply="ημερομηνία_παράδοσης ημ/νία_παράδοσης ημερομηνία_αποστολής ημ/νία_αποστολής ημερομηνία_παροχής "
    "ημερομηνία_διακίνησης περίοδος περίοδος_κατανάλωσης περίοδος_χρέωσης περίοδος_παροχής",
    discount_until="έκπτωση_έως έκπτωση_μέχρι",
    another_day="ημερομηνία_παραγγελίας ημ/νία_παραγγελίας ημερομηνία_εκτύπωσης εκτυπώθηκε ημερομηνία_γέννησης "
    "ισχύει_έως ισχύς_έως εξοφλήθηκε πληρώθηκε ημερομηνία_πληρωμής επόμενος_λογαριασμός επόμενη_καταμέτρηση "
    "ημερομηνία_καταμέτρησης ένδειξη ημερομηνία_σύμβασης ημερομηνία_προσφοράς υπόλοιπο",
    bill="τιμολόγιο τιμολογίου τιμολόγιο_πώλησης τιμολόγιο_παροχής_υπηρεσιών απόδειξη απόδειξης",
    bill_number="παραστατικό παραστατικού",
    order="παραγγελία παραγγελίας",
    your_order="παραγγελία_σας παραγγελίας_σας παραγγελία_πελάτη παραγγελίας_πελάτη",
    another_bill="σχετικό_τιμολόγιο αρχικό_τιμολόγιο αρχικού_τιμολογίου προηγούμενο_τιμολόγιο "
    "συσχετιζόμενο_παραστατικό προτιμολόγιο",
    another_number="πελάτη πελάτης κωδικός_πελάτη σύμβαση σύμβασης συμβολαίου μετρητή παροχή παροχής προσφορά "
    "προσφοράς λογαριασμός λογαριασμού δελτίο_αποστολής δελτίου_αποστολής τηλ. α.φ.μ. γ.ε.μη.",
    number="αριθμός αριθμού αρ. νο",
    reference="αιτιολογία αιτιολογία_πληρωμής κωδικός_πληρωμής ταυτότητα_πληρωμής κωδικός_ηλεκτρονικής_πληρωμής",
    seller="πωλητής εκδότης προμηθευτής στοιχεία_εκδότη στοιχεία_πωλητή",
    buyer="πελάτης αγοραστής λήπτης στοιχεία_πελάτη στοιχεία_λήπτη",
    to="προς",
    currency="νόμισμα",
    credit="πιστωτικό_τιμολόγιο",
    tax_number="α.φ.μ. α.φ.μ._φ.π.α.",
    your="πελάτη σας",
    other_number="σειριακός_αριθμός γ.ε.μη. αρ._γ.ε.μη.",
    debit="πάγια_εντολή",
    transfer="κατάθεση έμβασμα",
    deposit="προκαταβολ*",
    carried="εκ_μεταφοράς σε_μεταφορά",
)

ROMANIAN = BillWords(
    total="total_general suma_totală valoare_totală",
    to_pay="total_de_plată de_plată rest_de_plată",
    net="valoare_fără_tva total_fără_tva bază_impozabilă",
    tax="tva total_tva",
    sums="valoare",
    including="inclus",
    excluding="fără",
    paid="numerar card_bancar",
    change="rest",
    no_sum="cantitate preț_unitar curs_valutar curs_de_schimb",
    exempt="taxare_inversă scutit*",
    early_payment="discount_pentru_plata_anticipată",
    tip="bacșiș",
    shipping="transport",
    discount="reducere discount",
    prepaid="avans achitat_anterior",
    brought_forward="sold_anterior sold_precedent",
    due="scadență scadent* termen_de_plată data_scadenței scadența termen_plată de_plată_până_la scadentă_la "
    "scadent_la plata_până_la data_limită_de_plată se_va_debita_la",
    dated="dată data_facturii data_emiterii",
    supply="data_livrării data_de_livrare livrat_la livrare data_prestării data_prestării_serviciilor "
    "data_serviciului perioada_de_facturare perioada_facturată perioada perioada_de_consum data_expedierii "
    "expedierea",
    discount_until="discount_până_la reducere_până_la dacă_plătiți_până_la la_plata_până_la scont scont_până_la",
    another_day="data_comenzii comandă_din comandat_la data_tipăririi tipărit_la listat_la data_nașterii născut_la "
    "valabil_până_la valabil_până valabilitate data_expirării expiră expiră_la achitat achitat_la plătit plătit_la "
    "încasat_la plată_primită primit_la debitat_la următoarea_factură următoarea_plată următoarea_citire sold_la "
    "sold citire citit_la index_la data_contractului contract_din data_începerii data_încetării început sfârșit "
    "data_ofertei sosire plecare client_din ultima_plată ultima_factură",
    bill="factură chitanță bon storno factura facturii",
    bill_number="seria_*",
    order="comandă comanda",
    your_order="comanda_dvs. comanda_dumneavoastră comanda_dvs referința_dvs. comandă_client",
    another_bill="la_factura factura_inițială factură_proformă factura_proformă factura_precedentă stornare_factură "
    "storno_la_factura corectează_factura aferentă_facturii factura_stornată",
    another_number="client contract contor ofertă ofertă_nr. proiect aviz aviz_de_expediție cont poliță membru "
    "furnizor cui cif c.u.i. cod_client nr._reg._com. loc_de_consum serie mandat dosar tel. reg._com. "
    "registrul_comerțului",
    number="număr seria_și_nr nr",
    reference="referință_de_plată referința_plății referință_plată detalii_plată explicații_plată cod_de_plată "
    "menționați_la_plată cod_plată",
    seller="furnizor vânzător emitent prestator",
    buyer="cumpărător client beneficiar plătitor destinatar",
    currency="moneda",
    credit="notă_de_credit notă_credit factură_storno factura_storno",
    tax_number="cui cif cod_fiscal c.u.i. c.i.f. cod_tva",
    your="dumneavoastră dvs",
    representative="reprezentant_fiscal",
    other_number="serie_număr număr_de_serie",
    debit="debitare_directă contul_dumneavoastră contul_dvs mandat debit_direct",
    transfer="ordin_de_plată contul_nostru virament",
    deposit="avans* factură_de_avans deja_achitat deja_facturat",
    carried="report de_reportat",
)
