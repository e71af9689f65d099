"""Shared signs: chooses the currency of a sign that several currencies have, such as `$`, by its document's evidence.

The first of these that names a country, or a currency, of the sign decides:
1. the codes of currencies in the text;
2. taxes and registers, which are the supplier's;
3. countries by their names, provinces, cities, postal codes, telephone numbers and domains;
4. the language.
Where it names several, all of them are readings. Where nothing tells, it is the likeliest currency, or none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from babel.numbers import get_territory_currencies

from service.text.values import names
from service.text.values.context import DocumentContext
from service.text.values.normalization import key


def _forms(of_regions: Mapping[str, str]) -> re.Pattern[str]:
    """Compile forms that begin a word, by country, to one pattern with a group for each."""
    return re.compile(r"(?<!\w)(?:" + "|".join(rf"(?P<{region}>{form})" for region, form in of_regions.items()) + ")")


_REGISTERS = {
    "AE": r"TRN\b|FTA\b",
    "AR": r"C\.?U\.?I\.?T\b|AFIP\b",
    "AU": r"A[BC]N:? ?\d{2}(?: ?\d{3}){2}|BSB\b|Pty\.? Ltd",
    "CA": r"[HQ]ST\b|GST\b[^A-Za-z]{0,40}PST\b|PST\b[^A-Za-z]{0,40}GST\b|TPS\b|TV[QH]\b|\d{9} ?RT ?\d{4}",
    "CH": r"CHE-?\d|MWST\b",
    "CL": r"R\.?U\.?T\.?:? ?\d{1,2}\.?\d{3}\.?\d{3}-[\dkK]\b",
    "CO": r"N\.?I\.?T\.?:? ?\d|DIAN\b",
    "DK": r"CVR\b|ApS\b",
    "IN": r"GSTIN|[CS]GST\b",
    "IS": r"VSK\b|[Kk]ennitala|kt\.? ?\d{6}-\d{4}",
    "MA": r"I\.?C\.?E\.?:? ?\d{15}",
    "MX": r"R\.?F\.?C\b\.?(?: [a-z]{4,9})?:?\s?[A-ZÑ&]{3,4}[- ]?\d{6}|CFDI\b|de C\.? ?V\b",
    "NO": r"MVA\b|Foretaksregisteret|[Oo]rg\.? ?nr\.?:? ?(?:NO ?)?\d{3} ?\d{3} ?\d{3}\b",
    "NZ": r"NZBN\b|GST[\w .:#]{0,12} \d{2,3}-\d{3}-\d{3}\b",
    "PK": r"NTN\b|STRN\b|FBR\b",
    "SE": r"F-skatt|[Oo]rg\.? ?nr\.?:? ?\d{6}-\d{4}|[Bb]ankgiro|[Pp]lusgiro",
    "SG": r"UEN\b|Pte\.? Ltd|GST[\w .:#]{0,12} (?:M\d-?\d{7}-?\w|\d{9}[A-Z])\b",
    "US": r"(?i:Sales Tax)\b|EIN\b|IRS\b",
    "UY": r"R\.?U\.?T\.?:? ?\d{12}\b",
}
"""Country → names and forms of its taxes and of its registers of companies."""
_REGISTER = _forms(_REGISTERS)
_ADDRESSES = {
    "AR": r"Buenos Aires\b",
    "AU": r"(?:NSW|VIC|QLD|TAS),? \d{4}(?![\d-])|(?:WA|SA|ACT|NT),? (?!(?:19|20)\d\d(?!\d))\d{4}(?![\d.,-])",
    "CA": r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z] ?\d[ABCEGHJ-NPRSTV-Z]\d(?!\w)",
    "HK": r"Hong Kong\b|Kowloon\b",
    "MX": r"Ciudad de M[ée]xico\b|Mexico City\b|CDMX\b",
    "SG": r"Singapore \d{6}\b",
}
"""Country → its postal codes, and places of two words."""
_ADDRESS = _forms(_ADDRESSES)
_PLACES = {
    "AE": "dubai sharjah ajman",
    "AR": "rosario mendoza",
    "AU": "sydney melbourne brisbane adelaide canberra hobart queensland tasmania",
    "BH": "manama muharraq",
    "CA": "toronto montreal vancouver calgary ottawa edmonton winnipeg quebec mississauga saskatoon regina alberta"
    " manitoba saskatchewan ontario laval gatineau",
    "CH": "zurich zürich bern basel geneve genf lausanne luzern winterthur lugano",
    "CL": "valparaiso",
    "CN": "shanghai beijing shenzhen guangzhou",
    "CO": "bogota medellin cali barranquilla cartagena",
    "DK": "københavn copenhagen aarhus arhus odense aalborg alborg esbjerg",
    "DZ": "alger algiers oran constantine",
    "EG": "cairo giza alexandria",
    "IN": "mumbai delhi bengaluru bangalore chennai kolkata hyderabad pune",
    "IQ": "baghdad basra erbil",
    "IS": "reykjavik kopavogur akureyri hafnarfjordur hafnarfjorður",
    "JO": "amman aqaba",
    "KW": "kuwait hawalli salmiya",
    "LB": "beirut",
    "LK": "colombo kandy",
    "LY": "tripoli benghazi",
    "MA": "casablanca rabat marrakech tanger",
    "MX": "monterrey guadalajara puebla tijuana",
    "NO": "oslo bergen trondheim stavanger tromsø kristiansand drammen",
    "NP": "kathmandu",
    "NZ": "auckland wellington christchurch dunedin tauranga",
    "PH": "manila cebu quezon",
    "PK": "karachi lahore islamabad rawalpindi faisalabad",
    "SE": "stockholm goteborg gothenburg malmo uppsala linkoping orebro vasteras",
    "RS": "beograd belgrade",
    "SN": "dakar",
    "TN": "tunis sfax sousse",
    "TW": "taipei kaohsiung",
    "UY": "montevideo",
}
_REGION_OF = {place: region for region, listed in _PLACES.items() for place in listed.split()}
"""Key of a city or a province → its country; for countries whose currency's sign is shared."""
_PLACE = re.compile(
    r"(?:^|[,;()\t/–-]|\d\d)[ \u00a0]*([^\W\d_]{4,})(?=[ \u00a0]*(?:$|[,;()\t/–-]|\d| [A-Z]{1,3}\b))", re.M
)
"""A word that fills a line or stands between commas and numbers, as in an address, not in a person's name."""
_IN_WORDS = re.compile(
    r"(?<![^\W\d_])[^\W\d_]{3,20} (?:dollars?|pesos?|rupees?|kron[ae]r?|krónur|francs?|pounds?|funds)(?!\w)"
    r"|(?:dollars?|pesos?|couronnes?|francs?|roupies?) [^\W\d_]{3,20}",
    re.IGNORECASE,
)
"""Names of currencies in words, such as "Canadian dollars"."""
_GST = re.compile(r"(?<!\w)GST(?!\w)")
_GST_CURRENCIES = ("CAD", "AUD", "NZD", "SGD")
"""Currencies, written `$`, of countries with a tax called so; the United States have none."""
_DOLLARS_OF_LANGUAGE = {"fr": ("CAD", "USD"), "es": ("MXN", "USD", "CLP", "COP", "ARS", "UYU")}


def currencies_of_sign(family: str, context: DocumentContext) -> tuple[str, ...]:
    """Find the currencies of a family, codes with spaces between, that the document may mean; none if nothing tells."""
    found = context.sign_currencies.get(family)
    if found is None:
        found = context.sign_currencies[family] = _currencies(family.split(), context)
    return found


def _currencies(family: list[str], context: DocumentContext) -> tuple[str, ...]:
    text = context.head_and_tail
    if len(named := (context.currencies | _named_in_words(text)) & frozenset(family)) == 1:
        return tuple(named)
    if len(registered := _of_countries(_matched(_REGISTER, text), family)) == 1:
        return registered
    countries = [*_matched(_ADDRESS, text), *_places(text), *context.regions]
    found = registered or _of_countries(countries, family)
    if family[0] == "USD" and found in ((), ("USD",)) and _GST.search(text):
        return (*(code for code in _GST_CURRENCIES if code in family), *found)
    home = _of_countries(filter(None, [names.main_region(context.language or "en")]), family)
    if len(found) > 1:
        return home if context.language not in (None, "en") and set(home) & set(found) else found
    return found or home or (_DOLLARS_OF_LANGUAGE.get(context.language or "", ()) if family[0] == "USD" else ())


def _named_in_words(text: str) -> frozenset[str]:
    known = names.currency_names()
    return frozenset(known[name] for written in _IN_WORDS.findall(text) if (name := key(written)) in known)


def _matched(pattern: re.Pattern[str], text: str) -> list[str]:
    """List the countries whose forms are in a text."""
    return [str(match.lastgroup) for match in pattern.finditer(text)]


def _places(text: str) -> list[str]:
    words = (word for word in _PLACE.findall(text) if word[0].isupper())
    return [region for word in words if (region := _REGION_OF.get(key(word)))]


def _of_countries(regions: Iterable[str], family: list[str]) -> tuple[str, ...]:
    """List the currencies of a family that countries have, each once."""
    homes = (next((code for code in get_territory_currencies(region) if code in family), None) for region in regions)
    return tuple(dict.fromkeys(code for code in homes if code))
