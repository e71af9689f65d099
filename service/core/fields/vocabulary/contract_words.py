"""Contract vocabulary: names of contracts and parties, and the words around dates, periods, law, courts and amounts.

`NAMES` are in the notation of `words`. The others are parts of regular expressions without groups, in English, German,
French, Spanish and Italian; case does not count, and a blank stands for any white space.
"""

from __future__ import annotations

NAMES = (
    "agreement lease services_agreement master_services_agreement master_service_agreement consulting_agreement "
    "professional_services_agreement consultancy_agreement non_disclosure_agreement mutual_non_disclosure_agreement "
    "confidentiality_agreement mutual_confidentiality_agreement employment_agreement supply_agreement "
    "distribution_agreement license_agreement licence_agreement software_license_agreement software_licence_agreement "
    "subscription_agreement residential_lease_agreement commercial_lease_agreement residential_lease commercial_lease "
    "tenancy_agreement assured_shorthold_tenancy_agreement shareholders_agreement partnership_agreement "
    "agency_agreement data_processing_agreement settlement_agreement maintenance_agreement "
    "independent_contractor_agreement contractor_agreement share_purchase_agreement asset_purchase_agreement "
    "sale_and_purchase_agreement contract_of_employment contract_for_services letter_of_engagement engagement_letter "
    "*vereinbarung bail bail_commercial bail_d'habitation convention accord accord_de_confidentialité accord_cadre "
    "lettre_de_mission acuerdo acuerdo_de_confidencialidad acuerdo_marco carta_de_encargo accordo "
    "accordo_di_riservatezza accordo_quadro lettera_di_incarico scrittura_privata"
)
"""Names of contracts beside those of `paper_names`."""
ROLES = (
    r"(?:disclosing|receiving) party|supplier|vendor|seller|purchaser|buyer|customer|client|company|contractor|"
    r"service provider|provider|consultant|employer|employee|landlord|tenant|lessor|lessee|licensor|licensee|"
    r"principal|agent|distributor|manufacturer|borrower|lender|party [ab]|firm|controller|processor|publisher|author|"
    r"subscriber|owner|operator|carrier|hirer|reseller|franchisor|franchisee|guarantor|investor|assignor|assignee|"
    r"transferor|transferee|grantor|grantee|discloser|recipient|subcontractor|developer|sponsor|"
    r"auftraggeber(?:in)?|auftragnehmer(?:in)?|vermieter(?:in)?|mieter(?:in)?|verpächter(?:in)?|pächter(?:in)?|"
    r"arbeitgeber(?:in)?|arbeitnehmer(?:in)?|verkäufer(?:in)?|käufer(?:in)?|lieferant(?:in)?|kund(?:e|in)|"
    r"dienstleister(?:in)?|berater(?:in)?|lizenzgeber(?:in)?|lizenznehmer(?:in)?|besteller(?:in)?|anbieter(?:in)?|"
    r"prestataire|client|bailleur|bailleresse|locataire|preneur|employeur|salariée?|vendeur|acheteur|acquéreur|"
    r"fournisseur|distributeur|mandant|mandataire|société|"
    r"arrendador[a]?|arrendatari[oa]|proveedor[a]?|cliente|prestador[a]?|vendedor[a]?|comprador[a]?|empleador[a]?|"
    r"trabajador[a]?|empresa|contratista|contratante|"
    r"locatore|locatrice|conduttore|conduttrice|fornitore|fornitrice|committente|cliente|prestatore|datore di lavoro|"
    r"lavorat(?:ore|rice)|venditore|venditrice|acquirente|appaltatore|consulente"
)
"""Names of the parties of contracts."""
ARTICLES = r"the|der|die|das|le|la|l['’]|el|los?|il|lo"
CALLED = (
    r"hereinafter|hereafter|referred to as|as|nachfolgend|nachstehend|im folgenden|fortan|als|ci-après|ci-apres|"
    r"dénommée?|désignée?|en qualité de|en adelante|denominad[oa]|en calidad de|como|di seguito|denominat[oa]|"
    r"in qualità di|quale"
)
"""Words between a party's name and what the contract calls it."""
WEAK = frozenset(("as", "als", "como", "quale"))
"""Those of `CALLED` that introduce a party's role only before a capital letter."""
MEANS = "means|shall mean|bezeichnet|désigne|significa|indica"
"""Words behind a term that a contract defines."""
NAME_KEYS = "name|nom|nombre|nome|company|firma"
"""Keys of a name, on the line below its role."""
AND = "and|und|et|y|e"
TITLES = "mr|mrs|ms|dr|prof|herrn?|frau|mme|madame|monsieur|d|dña|sig|sig ra|dott|don|doña"
"""Titles before a name."""
TOGETHER = "each|together|jointly|both|gemeinsam|zusammen|ensemble|conjuntamente|insieme"
FOR = "on behalf of|(?:en )?representación de|in nome e per conto d\\w+|im namen (?:und auftrag )?de[rs]|au nom de"
"""Words before the party that a person acts for."""
LEAD = (
    rf"{AND}|by|between|the|la|le|el|il|los|der|die|das|firma|genannt|{TITLES}|"
    r"sociedad|société|società|de una parte|de otra parte|de otra|a|b|part|parte|one|other"
)
"""Words before a party's name."""
BEHIND_NAMES = "whose|with|having|represented|vertreten|mit Sitz|con"
LEGAL_FORMS = r"Inc|LLC|L\.L\.C|LLP|LP|L\.P|PLLC|P\.?C|Corp|Ltd|Co|S\.A|N\.A|Pty|plc"
"""Legal forms of firms that often stand behind a comma."""
NO_NAME = "this|by|name|signature|date|title|address|party|shall|will|has|is|and|of"
"""Words with which no name begins."""
PROBATION = "probation|trial|probezeit|essai|prueba|prova"
NO_TERM = (
    r"pay|invoice|zahl|rechnung|paie|règlement|pago|pag[ao]|fattur|factur|warrant|gewähr|garant|confiden|secret|segret|vertraulich|"
    r"geheim|riservat|surviv|after|following|\bnach\b|après|después|dopo|compet|wettbewerb|concurr|concorr|renew|"
    r"verlänger|renouvel|reconduc|prorrog|prórrog|rinnov|successive|further|additional"
)
"""Words before a period that is not the contract's own."""
BETWEEN = r"between|zwischen|entre les soussignés|entre|tra|de una parte|da una parte|d['’]une part"
DATES = {
    "effective_date": (
        r"effective(?: as of| from| on)?|effective date(?: is)?|with effect from|commenc(?:es?|ing)(?: on)?|"
        r"commencement date|start date|comes? into (?:force|effect)(?: on)?|begin(?:s|ning)(?: on)?|"
        r"start(?:s|ing)(?: on)?|"
        r"takes? effect(?: on| from)?|"
        r"(?:vertrags|miet|arbeits)beginn|beginn(?:t|end)?(?: des \w+)?(?: ist)?(?: am| mit dem| ab)?|"
        r"tritt am|mit wirkung (?:vom|zum|ab)|ab dem|"
        r"à compter du|prend(?:ra)? effet(?: le| au| à compter du)?|entre(?:ra)? en vigueur le|date d['’]effet|"
        r"date de début|débutera le|"
        r"a partir del?|surtirá efectos?(?: desde el| a partir del| el)?|entrará en vigor(?: el)?|"
        r"con efectos? (?:desde|de) el|con inicio el|fecha de (?:inicio|efecto)|comenzará el|"
        r"a decorrere dal|con decorrenza dal|decorrenza|decorre dal|con effetto dal|entra in vigore(?: il| dal)?|"
        r"data di (?:inizio|decorrenza)|avrà inizio il"
    ),
    "signing_date": (
        r"(?:is |was )?(?:made|entered into|signed|executed|concluded)(?: and entered into)?(?: (?:on|this|as of))?"
        r"(?: the)?|dated(?: as of)?|date of (?:signature|this agreement)|signing date|"
        r"(?:geschlossen|unterzeichnet|abgeschlossen) am|vertragsdatum|[^\W\d_]+, den|"
        r"fait (?:à|a) [^\n,.;]{2,30},? le|signé le|date de signature|"
        r"(?:en|en la ciudad de) [^\n,.;]{2,30}, a|firmado el|fecha de firma|"
        r"(?:stipulato|sottoscritto|firmato)(?: a [^\n,.;]{2,30},)? il|data (?:della )?firma|[^\W\d_]+, lì"
    ),
    "end_date": (
        r"(?:expir(?:es?|y|ing)|terminat(?:es?|ing)|ends?|ending)(?: on)?|(?:end|expiry|expiration|termination) date|"
        r"endet(?: am| mit dem| zum)?|befristet bis(?: zum)?|vertragsende|mietende|"
        r"prend(?:ra)? fin le|expire(?:ra)? le|date de fin|date d['’]expiration|se termine(?:ra)? le|"
        r"finaliza(?:rá)?(?: el)?|vence(?:rá)?(?: el)?|fecha de (?:fin|finalización|vencimiento)|terminará el|"
        r"scad(?:e|rà|enza)(?: il| al)?|termin(?:a|erà)(?: il)?|data di (?:scadenza|fine)|cesserà il"
    ),
}
"""Role of a date → the words that end directly before it."""
OTHER_CONTRACT = (
    r"\b(?:the|that certain|an?|our|your)\s(?:[\w&/’'-]+\s){0,6}(?:agreement|lease|contract)\W[^\w.;]{0,3}"
    r"(?:\w+\W{1,3}){0,2}(?:dated|made|signed|executed|concluded|entered into|effective)\b[\w\s]*$"
)
"""Words that end before the date of another contract."""
BEFORE_DATES = "the|den|dem|le|el|il|on|day of"
"""Words between those of a date's role and the date."""
EFFECTIVE_DATE = "effective date|stichtag|date d['’]effet"
UNTIL = "until|through|bis(?: zum)?|jusqu['’]au|hasta el|fino al"
TERM = (
    r"term|lease|agreement|contract|engagement|employment|tenancy|continues?|\w*vertrag\w*|\w*verhältnis|befristet|"
    r"contrat|bail|durée|contrato|plazo|duración|vigencia|contratto|durata|locazione|force|kraft"
)
"""Words of a sentence that states from when to when a contract runs."""
_NUMBER = (
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|eighteen|twenty-four|thirty|sixty|ninety|"
    r"ein(?:e[mnrs]?)?|zwei|drei|vier|fünf|sechs|acht|zehn|zwölf|"
    r"une?|deux|trois|quatre|cinq|six|huit|dix|douze|trente|"
    r"un[oa]?|dos|tres|cuatro|cinco|seis|doce|treinta|due|tre|quattro|cinque|sei|dodici|trenta)"
)
DURATION = (
    rf"{_NUMBER}(?: ?\(\w{{1,12}}\))?[- ](?:calendar |business |working |full |consecutive )?"
    r"(?:days?|weeks?|months?|years?|tage?n?|wochen?|monate?n?|jahre?n?|jours?|semaines?|mois|ans?|années?|"
    r"días?|semanas?|mes(?:es)?|años?|giorn[oi]|settiman[ae]|mes[ei]|ann[oi])\b"
)
PERIODS = {
    "term": (
        r"(?:term|duration|(?:initial|fixed|lease|contract) period)(?: of (?:this|the) \w+)?(?: is| shall be)?(?: of)?|"
        r"(?:\w*laufzeit|vertragsdauer|mietdauer|dauer)(?: beträgt| von)?|(?:für )?(?:die|eine) dauer von|"
        r"(?:pour une )?durée(?: initiale| déterminée)?(?: est)?(?: fixée à)?(?: de)?|"
        r"(?:duración(?: inicial)?|vigencia|plazo inicial|plazo(?= del contrato))(?: del contrato)?(?: es| será)?"
        r"(?: de)?|"
        r"durata(?: del contratto)?(?: è)?(?: stabilita in| di)?"
    ),
    "notice_period": (
        r"notice period(?: is| shall be)?(?: of)?|kündigungsfrist(?: beträgt| von)?(?: von)?|"
        r"(?:préavis|delai de préavis|délai de préavis)(?: est)?(?: de)?|preaviso(?: mínimo)?(?: de)?|"
        r"preavviso(?: scritto)?(?: di| è di)?"
    ),
}
"""Role of a period → the words that end directly before it, a colon, "at least" and the like aside."""
NOTICE_BEHIND = r"['’]?s?['’]? (?:prior |written |advance |previous )*notice"
NOTICE_BEFORE = r"(?:with|mit|unter einhaltung) (?:einer )?(?:frist|notice) (?:von|of)"
"""Words directly behind a period of notice, and before one."""
ENDS = "terminat|kündig|résili|congé|rescind|resci|resolver|recess|disdet|desist|resign"
"""Parts of words for the end of a contract."""
LEAST = r"(?: a| an| at least| not less than| mindestens| au moins| al menos| almeno| von| of| de| di| será de| d['’])?"
"""What may stand between its words and a period."""
_NO_SENTENCE = r"(?![^\n.;]*(?:govern|gilt|findet|soumis|régi|rig[ea]|disciplin|regol))"
LAWS = (
    r"(?:governed(?: exclusively| solely| in all respects)? by|construed (?:in accordance with|under)),?"
    r"(?: and (?:construed|interpreted)(?: in accordance (?:with|to)| under)?,?)? "
    r"(?P<en>(?:the )?(?:substantive |internal )?laws? of [^\n.,;()]{3,60}|"
    r"(?-i:[A-Z])[a-z]+(?:(?: and)? (?-i:[A-Z])[a-z]+){0,2} law)",
    r"(?:gilt|findet|unterliegt|untersteht)(?: ausschließlich)?(?: dem| das)? "
    r"(?P<de>(?:materielle[sn]? )?(?:recht der [^\n.,;()]{3,50}|(?:deutsche[sm]?|österreichische[sm]?|"
    r"schweizerische[sm]?) recht))",
    r"(?:soumise?|régie?|gouvernée?)(?: et interprétée?)? (?:par|au|à) (?P<fr>(?:le |la )?(?:droit|"
    r"loi) [^\n.,;()]{3,40})",
    r"(?:se regirá|se rige|regido|sometido|sujeto)[^\n.;]{0,40}? (?:por|a) (?:la |las |el )?"
    r"(?P<es>(?:legislación|leyes|ley|derecho)(?: común)? [^\n.,;()]{3,40})",
    r"(?:regolat[oa]|disciplinat[oa]|soggett[oa])[^\n.;]{0,40}? (?:dalla|dal|dalle|alla) "
    r"(?P<it>(?:legge|diritto|leggi|normativa) [^\n.,;()]{3,40})",
    r"(?:governing|applicable) law[ \t]*[:\t][ \t]*" + _NO_SENTENCE + r"(?P<key>[^\n.;]{3,60})",
    r"(?:anwendbares recht|droit applicable|ley aplicable|legge applicabile)[ \t]*[:\t][ \t]*"
    + _NO_SENTENCE
    + r"(?P<keys>[^\n.;]{3,60})",
)
"""Sentences that state a law, the law as a group; `key` and `keys`: behind a key, on its line."""
COURTS = (
    r"courts? (?:of|in|located in|sitting in) (?P<en>(?:the )?(?-i:[A-Z])[^\n.;()]{2,50}?)"
    r"(?= shall| have| has|, and |, which| with|[.,;\n]|$)",
    r"gerichtsstand (?:ist|für [^\n.;]{0,90}? ist|sind)(?: ausschließlich)?(?: die gerichte (?:in|von))? "
    r"(?P<de>(?-i:[A-ZÄÖÜ])[^\n.,;()]{2,40})",
    r"tribuna(?:l|ux)(?: compétents?| judiciaire| de commerce| des activités économiques)? (?:de |d['’]|du )"
    r"(?P<fr>(?-i:[A-ZÀ-Ý])[^\n.,;()]{2,30})",
    r"(?:juzgados(?: y tribunales)?|tribunales)(?: competentes)? (?:de |del )"
    r"(?P<es>(?:la ciudad de )?(?-i:[A-ZÁ-Ú])[^\n.,;()]{2,30})",
    r"(?:foro|tribunale)(?: competente)?(?: esclusivo| esclusivamente competente)?(?: (?:è|sarà)(?: quello)?)?"
    r"(?: in via esclusiva)? (?:di |quello di )(?P<it>(?-i:[A-Z])[^\n.,;()]{2,30})",
    r"(?:jurisdiction|gerichtsstand|juridiction compétente|fuero|foro competente)[ \t]*[:\t][ \t]*"
    r"(?P<key>[^\n.;]{3,50})",
)
"""The same of a place of jurisdiction."""
CLAUSE_ENDS = (
    "without|excluding|except|and the parties|and any|and the courts|and shall|ohne|unter|soweit|und|à l|"
    "sans|et|con exclusión|con renuncia|sin|y|con esclusione|senza|e per"
)
"""Words behind a law or a place."""
OPEN_ENDS = "of|the|der|de|du|di"
"""Words with which no law or place ends."""
AMOUNTS = {
    "contract_value": (
        r"contract (?:value|price|sum)|purchase price|total (?:price|value|consideration|fees?)|"
        r"aggregate (?:price|value)|"
        r"(?:auftrags|vertrags)(?:wert|summe)|kaufpreis|gesamtpreis|festpreis|"
        r"(?:montant|prix) (?:total|global)(?: du contrat)?|prix de vente|montant du contrat|"
        r"(?:precio|importe|valor) total|precio de (?:compra|venta)|precio del contrato|"
        r"(?:importo|prezzo|valore) (?:totale|complessivo)|prezzo di vendita|corrispettivo complessivo"
    ),
    "rent": r"rent|rental|\w*miete|mietzins|\w*pacht|loyer|renta|alquiler|canone(?: di locazione)?",
    "salary": r"salary|wages?|remuneration|\w*gehalt|\w*lohn|salaire|rémunération|salario|retribución|sueldo|"
    r"retribuzione|stipendio",
    "fee": r"fees?|hourly rate|daily rate|honorar|vergütung|pauschale|honoraires|redevance|forfait|honorarios|tarifa|"
    r"cuota|compenso|corrispettivo|onorario",
    "": r"liab\w+|damages|penalt\w+|deposit|insurance|interest|bonus|"
    r"(?:late|arrangement|termination|cancellation|application|filing|registration|legal|administration) fees?|"
    r"expenses|haft\w+|schadens\w+|vertragsstrafe|"
    r"kaution|versicherung\w*|zinsen|nebenkosten|betriebskosten|responsabilit\w+|pénalités?|dépôt|caution|garantie|"
    r"assurance|charges|responsabilidad|penalización|fianza|depósito|seguro|gastos|responsabilità|penale|"
    r"deposito|cauzione|assicurazione|spese|stamm\w*|grundkapital|share capital|capital",
}
"""Role of an amount → the words before it; those of none: of an amount that is something else."""
