"""Seeded business prose with entities in it: names, numbers, dates, amounts. Pure functions of a `Random`.

Its words are common, so that a real vocabulary splits them as it splits real documents (about 1.4 tokens per word).
"""

from __future__ import annotations

from random import Random

WORDS = """
the of and to in a is that for it as was with be by on not he this are or his from at which but have an they you were
their one all we can more will if no other about new some could time these two may then do first any such like over
our now under also after most many before must through back years where much your way well down should because each
those people how too little state good very make world still own see work long get here between both life being
order payment delivery invoice contract service customer supplier amount total account number date office project
report manager team price goods terms notice party agreement product quality material shipment warehouse request
offer review market plan budget quarter period result figure change support system process company department
""".split()
FIRST = "Anna Maria Jane Clara Olivia Emma Peter Thomas John Lucas Martin David Paul Sarah Laura Daniel".split()
LAST = "Weber Rossi Martin Keller Novak Silva Jensen Moreau Fischer Brown Taylor Costa Meyer Lind Ortega Walsh".split()
FIRMS = "Northwind Harbour Castell Lindenau Meridian Oakfield Bluestone Riverton Alder Summit Corvus Halden".split()
FORMS = ("GmbH", "Ltd", "Inc.", "S.A.", "B.V.", "AG")
MONTHS = "January February March April May June July August September October November December".split()
SENTENCE_WORDS = (6, 18)
FACT_SHARE = 0.3


def paragraph(words: int, draw: Random) -> str:
    """Sentences with this number of words in all; three in ten sentences have an entity."""
    found: list[str] = []
    while len(found) < words:
        sentence = (
            _fact(draw).split() if draw.random() < FACT_SHARE else draw.choices(WORDS, k=draw.randint(*SENTENCE_WORDS))
        )
        sentence = sentence[: max(words - len(found), 1)]
        found += (
            [sentence[0].capitalize(), *sentence[1:-1], sentence[-1].rstrip(".") + "."]
            if len(sentence) > 1
            else sentence
        )
    return " ".join(found)


def report(words: int, draw: Random) -> str:
    """A long document of headings and paragraphs."""
    parts, left, number = [], words, 1
    while left > 0:
        size = min(left, draw.randint(60, 160))
        heading = " ".join(draw.choices(WORDS, k=3)).title()
        parts.append(f"{number}. {heading}\n\n{paragraph(size, draw)}")
        left, number = left - size, number + 1
    return "\n\n".join(parts)


def _fact(draw: Random) -> str:
    person = f"{draw.choice(FIRST)} {draw.choice(LAST)}"
    firm = f"{draw.choice(FIRMS)} {draw.choice(FORMS)}"
    amount = f"EUR {draw.randint(1, 99)},{draw.randint(0, 999):03d}.{draw.randint(0, 99):02d}"
    day = f"{draw.randint(1, 28)} {draw.choice(MONTHS)} {draw.randint(2019, 2027)}"
    return draw.choice(
        (
            f"invoice INV-{draw.randint(10_000, 99_999)} from {firm} dated {day} comes to a total of {amount}",
            f"the agreement between {firm} and {person} begins on {day}",
            f"please contact {person} of {firm} at {person.split()[0].lower()}@{firm.split()[0].lower()}.example",
            f"purchase order PO-{draw.randint(1_000, 9_999)} over {amount} is due on {day}",
        )
    )
