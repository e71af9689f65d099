"""In which language a text is, by its script, or by words that documents and sentences of a language have.

Enough to say how a date is written or which country a telephone number is from; `None` where the words do not tell.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

from service.text.values import names
from service.text.values.script import WORD, key

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]|円|領収|令和|平成|株式会社")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
)
_SHARE_OF_SCRIPT = 0.1
"""Of the letters, from which a script speaks for the text."""
_WORDS = {
    "en": "the and of to for with from your this that invoice date due total amount number page payment terms address",
    "de": "der die das und von für mit zum zur rechnung datum betrag gesamt nummer seite zahlung mwst ust straße nicht",
    "fr": "le la les et de du des pour avec facture date montant total numéro tva rue est une sur client échéance",
    "es": "el la los las y de del para con factura fecha importe total número iva calle una por cliente vencimiento",
    "it": "il lo gli e di del della per con fattura data importo totale numero iva via una cliente scadenza",
    "nl": "de het een en van voor met factuur datum bedrag totaal nummer btw straat niet klant vervaldatum aan",
    "pt": "o os as e do da dos das para com fatura data valor total número iva rua uma cliente vencimento não nota",
    "pl": "i w na z do dla faktura data kwota razem numer vat ulica ul nip nie sprzedawca nabywca termin płatności zł",
    "tr": "ve bir bu için ile fatura tarih tarihi tutar toplam numara kdv sokak vergi adres müşteri tl",
    "sv": "och att det som för med faktura datum belopp totalt nummer moms gatan inte kund förfallodatum är av",
    "da": "og at det som til med faktura dato beløb total nummer moms vej ikke kunde forfaldsdato af er den",
    "nb": "og at det som til med faktura dato beløp totalt nummer mva vei ikke kunde forfallsdato av er den på",
    "fi": "ja on että lasku päivä summa yhteensä numero alv katu asiakas eräpäivä kanssa tai ei maksu",
    "cs": "a v na se pro faktura datum částka celkem číslo dph ulice není zákazník splatnosti dodavatel odběratel ič",
    "ro": "și în de la cu pentru factură factura data suma total număr tva strada nu client scadență este",
}
_LEAST_SCORE = 1.5
_LEAD = 1.2
"""How much more a language's words must count than the next one's."""


def language_of(text: str) -> str | None:
    """A text's language (ISO 639), one of those that names are known in; None if that cannot be told."""
    if not text.isascii() and (script := _by_script(text)):
        return script
    scores: defaultdict[str, float] = defaultdict(float)
    for word in set(map(key, WORD.findall(text))):
        languages = _languages_of().get(word, ())
        for language in languages:
            scores[language] += 1 / len(languages)
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    (best, score), (_, next_score) = [*ranked[:2], ("", 0.0), ("", 0.0)][:2]
    return best if score >= _LEAST_SCORE and score >= _LEAD * next_score else None


def _by_script(text: str) -> str | None:
    letters = sum(map(str.isalpha, text))
    return next((name for name, has in _SCRIPTS if len(has.findall(text)) > _SHARE_OF_SCRIPT * letters), None)


@cache
def _languages_of() -> dict[str, tuple[str, ...]]:
    """Word → the languages that have it: the words above and, by CLDR, the names of months."""
    found: dict[str, set[str]] = {word: set(known) for word, known in names.months().items() if len(word) > 3}
    for language, words in _WORDS.items():
        for word in words.split():
            found.setdefault(key(word), set()).add(language)
    return {word: tuple(sorted(languages)) for word, languages in found.items()}
