"""`python -m service.text.rules.benchmark`: what rules take on 1,000,000 characters of the worst kinds.

Each rule has texts that are made to keep it busy: runs that nearly match, and nothing but matches. The first line is
an ordinary letter, once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial

from service.core.decoding.entities import Entity
from service.text.rules.rule_set import FINDERS, FinderName, RuleSet
from service.text.values.context import DocumentContext
from service.text.values.reading import READERS, read_tables, read_values

CHARACTERS = 1_000_000
LETTERS = 200
LETTER = (
    """Acme GmbH, Hauptstraße 12, 10115 Berlin. Tel. 030 1234567, info@acme.example, www.acme.example
Rechnung Nr. 2026-0815 vom 12.03.2026 an Muster AG, zu zahlen bis zum 11.04.2026.
Beratung 12 Std. zu 100,00 EUR, Reisekosten 240,50 EUR, netto 1.440,50 EUR, 19 % MwSt. 273,70 EUR, gesamt 1.714,20 EUR.
USt-IdNr. DE 136 695 976, IBAN DE89 3704 0044 0532 0130 00, BIC COBADEFFXXX. Vielen Dank für Ihren Auftrag.
"""
    * 2
)
HOSTILE: dict[FinderName, tuple[str, ...]] = {
    "email": ("a@", "a.", "a.a@a-", "a@a.", "-", "a@b.de "),
    "url": ("www.", "a.a-", "a.com", "http://", "(", "x.de "),
    "phone": ("1 ", "+1 ", "(1", "Tel 1", "tel. 030 1234567 ", "+49 30 1234567 ", "1-1.1/"),
    "iban": ("DE12", "DE12 ", "DE89 3704 0044 0532 0130 00 ", "IBAN DE12 3456 "),
    "bic": ("ABCDEF12", "COBADEFF ", "BIC COBADEFF "),
    "tax_id": ("DE 1", "DE 123456789 ", "FR1", "NIP 1234567890 ", "1 A"),
    "card": ("4111 ", "4111 1111 1111 1111 ", "1", "card 4111 1111 1111 1112 "),
    "percent": ("1%", "1 ", "1 percent", "%1", "1 % "),
}
VALUES = ("1", "1 ", "1.1/", "Jan ", "DE12 ", "+49 30 1234567 ", "a", "1. Januar 2024 ", "\u0661", "(1,234.00) $ ")


def measured(work: Callable[[], int]) -> str:
    """Columns: what the work gives, and the processor's seconds for it."""
    begun = time.thread_time()
    count = work()
    return f"{count:,} | {time.thread_time() - begun:.2f} |"


def entities_over(text: str) -> list[Entity]:
    """An entity every 25 characters, of all labels in turn."""
    labels = sorted(READERS)
    places = enumerate(range(0, len(text) - 20, 25))
    return [Entity(labels[number % len(labels)], text[at : at + 20], at, at + 20, 0.5) for number, at in places]


def found_in(text: str) -> list[Entity]:
    """All rules' findings."""
    return RuleSet(tuple(FINDERS)).apply(DocumentContext(text), [], sorted(READERS))


def count_findings(rule: FinderName, text: str) -> int:
    """What one rule finds."""
    return sum(1 for _ in FINDERS[rule][1](text, DocumentContext(text)))


def count_merged(text: str, entities: list[Entity]) -> int:
    """All rules' findings merged with entities."""
    return len(RuleSet(tuple(FINDERS), ("date", "identifier")).apply(DocumentContext(text), entities, sorted(READERS)))


def count_values(text: str, entities: list[Entity]) -> int:
    """The values of entities."""
    return len(read_values(DocumentContext(text), entities))


def main() -> int:
    """Print the table."""
    argparse.ArgumentParser(prog="python -m service.text.rules.benchmark", description=__doc__).parse_args()
    read_tables()
    print("| rule | text | findings | processor seconds |\n|---|---|---|---|")
    count_merged(LETTER, []), count_values(LETTER, letter := found_in(LETTER))
    begun = time.thread_time()
    for _ in range(LETTERS):
        count_merged(LETTER, [])
    rules_ended = time.thread_time()
    for _ in range(LETTERS):
        count_values(LETTER, letter)
    values_ended = time.thread_time()
    for what, seconds in (("rules", rules_ended - begun), ("values", values_ended - rules_ended)):
        print(
            f"| {what} | a letter of {len(LETTER)} characters | {len(letter)} | {seconds / LETTERS:.5f} |", flush=True
        )
    for name, kinds in HOSTILE.items():
        for kind in kinds:
            text = kind * (CHARACTERS // len(kind))
            columns = measured(partial(count_findings, name, text))
            print(f"| {name} | `{kind}` | {columns}", flush=True)
    for kind in VALUES:
        text = kind * (CHARACTERS // len(kind))
        entities = entities_over(text)
        columns = measured(partial(count_merged, text, entities))
        print(f"| all, with 40,000 entities | `{kind}` | {columns}", flush=True)
        columns = measured(partial(count_values, text, entities))
        print(f"| values of 40,000 entities | `{kind}` | {columns}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
