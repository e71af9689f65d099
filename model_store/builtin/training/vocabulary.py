"""Choice of the vocabulary: of the base's 250,000 pieces those that the training texts use, and the most frequent.

Frequent pieces are kept by script. The base's scores are the logarithms of its pieces' frequencies in web text of a
hundred languages, so they need no texts of ours. Single characters of every script stay, so that nothing is unknown.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from faker import Faker

from model_store.builtin.training.pretrained_base import Base
from model_store.builtin.training.tokenizer import GAP, LINE_END, SPECIAL_TOKENS, WORD_START, build_tokenizer

MOST_FREQUENT: Final = {
    "LATIN": 12_000,
    "CYRILLIC": 6_000,
    "ARABIC": 2_000,
    "DEVANAGARI": 1_800,
    "CJK": 1_200,
    "HANGUL": 1_200,
    "HIRAGANA": 700,
    "KATAKANA": 600,
    "GREEK": 600,
    "HEBREW": 300,
    "marks": 300,
}
"""Script → pieces of several characters that stay whether a text uses them or not."""
MOST_SINGLES: Final = {
    **dict.fromkeys((*MOST_FREQUENT, "THAI", "ARMENIAN", "GEORGIAN"), 3_000),
    "CJK": 6_000,
    "marks": 900,
}
"""Script → single characters that stay."""
LEAST_USES: Final = 8
NAME_LOCALES: Final = (
    *("ar_SA", "bg_BG", "cs_CZ", "da_DK", "el_GR", "fi_FI", "he_IL", "hi_IN", "hr_HR", "hu_HU", "id_ID", "ja_JP"),
    *("ko_KR", "lt_LT", "lv_LV", "no_NO", "pl_PL", "ro_RO", "ru_RU", "sk_SK", "sl_SI", "sv_SE", "tr_TR", "uk_UA"),
    *("zh_CN", "zh_TW"),
)
_ONE_KIND: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*['’]?|\d{1,2}|000|19\d\d|20[0-4]\d|([^\w\s])\1{,2}|_{1,3}")


def kept_pieces(base: Base, texts: Iterable[str]) -> list[int]:
    """Ids of the pieces that stay, in the base's order, the special ones first."""
    uses = _uses(base, texts)
    taken: Counter[tuple[str, bool]] = Counter()
    kept = set(range(len(SPECIAL_TOKENS)))
    by_frequency = sorted(range(len(SPECIAL_TOKENS), len(base.pieces)), key=lambda each: -base.scores[each])
    for number in by_frequency:
        piece = base.pieces[number].removeprefix(WORD_START)
        if piece and not _can_occur(piece):
            continue
        script, single = _script(piece), len(piece) <= 1
        taken[script, single] += 1
        most = MOST_SINGLES.get(script, 0) if single else MOST_FREQUENT.get(script, 0)
        if taken[script, single] <= most or script in {"digits", ""} or uses[number] >= LEAST_USES:
            kept.add(number)
    return sorted(kept)


def scored(base: Base, kept: Iterable[int]) -> list[tuple[str, float]]:
    """The pieces of the tokenizer with their scores; line end and gap come last."""
    pieces = [(base.pieces[each], float(base.scores[each])) for each in kept]
    return [*pieces, (LINE_END, 0.0), (GAP, 0.0)]


def names(count: int) -> Iterator[str]:
    """Names and addresses of people and companies where documents are served but not generated; seeded."""
    for locale in NAME_LOCALES:
        fake = Faker(locale)
        fake.seed_instance(1)
        for _ in range(count):
            yield "\n".join((fake.name(), fake.company(), fake.address(), fake.city()))


def _uses(base: Base, texts: Iterable[str]) -> Mapping[int, int]:
    """Counts of the pieces in the texts if no piece is left out."""
    tokenizer = build_tokenizer(scored(base, range(len(base.pieces))))
    uses: Counter[int] = Counter()
    for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False):
        uses.update(encoding.ids)
    return uses


def _can_occur(piece: str) -> bool:
    """True for letters alone, marks alone, and numbers of one or two digits, years and thousands."""
    letters = all(each.isalpha() or unicodedata.category(each)[0] == "M" or each in "'’" for each in piece)
    return letters or _ONE_KIND.fullmatch(piece) is not None


def _script(piece: str) -> str:
    """The first letter's script as Unicode names it; `digits` or `marks` without letters, empty for nothing."""
    for each in piece:
        if each.isalpha():
            return unicodedata.name(each, "?").split()[0].split("-")[0]
    return "digits" if any(map(str.isdigit, piece)) else "marks" if piece else ""
