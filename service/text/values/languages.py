"""Languages of texts, told by their scripts, their common words and CLDR's names of months."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from service.text.values import names
from service.text.values.normalization import key

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]|円|領収|令和|平成|株式会社")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
)
_JAPANESE = re.compile(
    "[\u3041-\u30fa]{2}|円|領収|請求|見積|納品|消費税|税込|税抜|合計金額|御中|株式会社|振込|支払|発行日|令和|平成|[都道府県].{1,8}[市区町村]"
)
_CHINESE = re.compile("[发开账购销单价额户]|發票|統一編號|統編|人民[币幣]|有限公司|[元圓]整|增值税|營業稅")
"""Words and characters of Chinese bills that Japanese bills do not have."""
_SHARE_OF_SCRIPT = 0.1
"""Least share of a text's letters that makes their script the text's."""
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
    "id": "dan di dari untuk dengan faktur tanggal jumlah nomor tidak yang pada harga jatuh tempo pembayaran alamat",
    "hr": "i u na za od s račun datum iznos ukupno broj nije kupac dospijeća ulica pdv oib plaćanje je cijena",
    "sk": "a v na sa pre faktúra dátum suma spolu číslo nie je zákazník splatnosti dodávateľ odberateľ ulica ičo dph",
    "hu": "és a az számla dátum kelte összeg összesen fizetendő áfa adószám vevő eladó határidő nem fizetési utca",
    "ro": "și în de la cu pentru factură factura data suma total număr tva strada nu client scadență este",
}
_LEAST_SCORE = 1.5
_LEAD = 1.2
"""Least factor between the weights of a language's words and the next language's."""


def language_of(text: str, words: Iterable[str]) -> str | None:
    """Tell a text's language (ISO 639) among those of `names.LANGUAGES`; None if it cannot be told.

    `words`: keys of the text's words.
    """
    if not text.isascii() and (script := _by_script(text)):
        return script
    scores: defaultdict[str, float] = defaultdict(float)
    for word in set(words):
        languages = _languages_of().get(word, ())
        for language in languages:
            scores[language] += 1 / len(languages)
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    (best, score), (_, next_score) = [*ranked[:2], ("", 0.0), ("", 0.0)][:2]
    return best if score >= _LEAST_SCORE and score >= _LEAD * next_score else None


def _by_script(text: str) -> str | None:
    letters = sum(map(str.isalpha, text))
    found = next((name for name, has in _SCRIPTS if len(has.findall(text)) > _SHARE_OF_SCRIPT * letters), None)
    if found == "zh" and len(_JAPANESE.findall(text)) > len(_CHINESE.findall(text)):
        return "ja"
    return found


@cache
def _languages_of() -> dict[str, tuple[str, ...]]:
    """Map words to the languages that have them: the words above and CLDR's names of months."""
    found: dict[str, set[str]] = {word: set(known) for word, known in names.months().items() if len(word) > 3}
    for language, words in _WORDS.items():
        for word in words.split():
            found.setdefault(key(word), set()).add(language)
    return {word: tuple(sorted(languages)) for word, languages in found.items()}
