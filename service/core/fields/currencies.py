"""Currency of a bill: named in words, beside its amounts, or in the captions of its amounts and columns.

The rules, the first that finds one:
- A code after words for the bill's currency ("Währung: EUR"), but not for that of the tax office or of an account.
- The currency of the total; the one that most amounts have.
- A code or a sign in the key of the total, then in those of other amounts: "Total CHF", "Totale fattura €". In capitals
  alone a code counts only at the end of a key, since it may be a word.
- A code or a sign at the end of the captions above amounts ("Preis EUR"). Captions with several currencies name none.
- The currency of the one country that the document has signs of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from service.core.fields.lines import TextLines, is_caption_row, key_of
from service.core.fields.mentions import Mention, currency
from service.core.fields.roles import AMOUNTS
from service.core.fields.vocabulary.phrases import any_of, folded

CURRENCY_CHARACTERS = 12_000
"""Characters of a document's beginning that are searched for its currency."""
MOST_AMOUNTS = 60
"""Most amounts whose keys and captions are searched."""
BEFORE = 40
"""Characters before words for a currency that may say whose it is."""

_CODE = re.compile(r"(?<![^\W_])[A-Z]{3}(?![^\W_])")
_CURRENCY = re.compile(rf"(?:{any_of('currency')})[\s:：.=]{{0,16}}([a-z]{{3}})(?![^\W_])")
_NOT_THE_BILLS = re.compile(
    r"(?:local|home|foreign|base|accounting|reporting|tax|vat|original|national|lokal\w*|landes|haus|fremd|buch|steuer"
    r"|account)[\s-]{0,4}$"
)
"""Words before "currency" that make it another one than the bill's: that of the tax office, or of an account."""
_SIGNS = r"[€£₹₽₺₩₪₫₴฿₱₦₵₸¥$]|R\$|zł|Kč|Rs\.?|kr\.?|Fr\.?|RM|Rp|Ft|TL|лв|руб\.?"
_WORD = re.compile(rf"(?<![^\W_])(?:[A-Z]{{3}}|{_SIGNS})(?![^\W_])")
_LAST_WORD = re.compile(rf"(?:(?<![^\W_])|(?<=[€£$¥]))([A-Z]{{3}}|{_SIGNS})[)\]]?[\s:.=]*$")


@dataclass(frozen=True, slots=True)
class CurrencyReader:
    """Reads currencies as a document writes them.

    Attributes:
        read: finds the ISO 4217 code that a code or a sign means; None for other words and unclear signs.
        home: currency of the one country that the document has signs of; None where there are none, or several.
    """

    read: Callable[[str], str | None]
    home: str | None = None


NO_READER = CurrencyReader(lambda word: None)


def choose_currency(
    lines: TextLines, mentions: Sequence[Mention], total: Mention | None, reader: CurrencyReader
) -> str | None:
    """Choose the currency of a bill with these mentions; None where nothing tells."""
    stated = Counter(code for mention in mentions if (code := currency(mention)))
    amounts = [mention for mention in mentions if mention.label in AMOUNTS][:MOST_AMOUNTS]
    return (
        named_currency(lines)
        or (currency(total) if total else None)
        or (stated.most_common(1)[0][0] if stated else None)
        or next(_of_keys([*([total] if total else []), *amounts], lines, reader), None)
        or _of_captions(amounts, lines, reader)
        or reader.home
    )


def named_currency(lines: TextLines) -> str | None:
    """Find the first ISO code after words for a bill's currency in its beginning."""
    for _, line in lines.first(CURRENCY_CHARACTERS):
        if not (codes := _CODE.findall(line)):
            continue
        words = folded(line)
        named = {
            found[1].upper()
            for found in _CURRENCY.finditer(words)
            if _NOT_THE_BILLS.search(words, max(0, found.start() - BEFORE), found.start()) is None
        }
        if (code := next((code for code in codes if code in named), None)) is not None:
            return str(code)
    return None


def _of_keys(amounts: Sequence[Mention], lines: TextLines, reader: CurrencyReader) -> Iterator[str]:
    """Yield the currencies in the keys of amounts, in order."""
    for mention in amounts:
        key = key_of(lines, mention.start)
        words = _last_word(key) if key.isupper() else [found[0] for found in _WORD.finditer(key)]
        yield from (code for word in words if (code := reader.read(word)))


def _of_captions(amounts: Sequence[Mention], lines: TextLines, reader: CurrencyReader) -> str | None:
    """Find the one currency at the ends of captions right above lines with amounts."""
    found: set[str] = set()
    for above in {lines.at(mention.start) - 1 for mention in amounts}:
        row = lines.row(above)
        if len(row.cells) > 1 and is_caption_row(lines, row):
            words = (word for cell in row.cells for word in _last_word(lines.between(cell.start, cell.end)))
            found.update(code for word in words if (code := reader.read(word)))
    return found.pop() if len(found) == 1 else None


def _last_word(text: str) -> list[str]:
    """Return the code or the sign at the end of a text, if it has one."""
    found = _LAST_WORD.search(text)
    return [found[1]] if found else []
