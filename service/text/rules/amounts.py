"""Percentages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.text.rules.finding import Finding, Strength, scan
from service.text.values.context import DocumentContext

_PERCENT = re.compile(
    r"(?<![\w.,/%-])(?:[-−+] ?)?[0-9]{1,3}(?:[.,][0-9]{1,6})?"
    r"(?:[ \u00a0\u202f]?[%％٪]"
    r"|[ \u00a0](?:percent|per cent|pct|prozent|pour cent|por ciento|por cento|per cento|procent|prosent)[^\W\d_]{0,4})"
    r"(?![\w%])|(?<![^\s(])%[0-9]{1,3}(?:[.,][0-9]{1,6})?(?![\w%.,])",
    re.IGNORECASE,
)
_PERCENT_SIGN = re.compile(r"[0-9%](?:(?<=%)|[ \u00a0\u202f]?[%％٪]|[ \u00a0][pP])")


def percentages(text: str, context: DocumentContext) -> Iterator[Finding]:
    """A number and a sign or word for a hundredth."""
    for match in scan(_PERCENT, text, _PERCENT_SIGN):
        yield Finding("PERCENT", match.start(), match.end(), Strength.LIKELY, 0.95)
