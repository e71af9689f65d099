"""Contracts: two parties, a day from which they hold, clauses, a law, and signatures."""

from random import Random
from typing import Final

from model_store.builtin.training.pages import blocks, parties, prose
from model_store.builtin.training.pages.facts import Party, new_party
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import EMPTY, Block, Box, Piece, Row, lines, row, side_by_side, stack
from model_store.builtin.training.pages.writing import WritingStyle, choose_style, some_day

AXES: Final[Axes] = {
    "parties": ("sentence", "blocks", "beside", "numbered", "pairs"),
    "clauses": ("headed", "numbered", "sections", "running", "two_columns"),
    "law": ("clause", "headed", "among"),
    "effective": ("sentence", "keyed"),
    "signatures": ("beside", "below", "none"),
    "headers_footers": blocks.HEADERS_FOOTERS,
}


def contract(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    style = choose_style(rng, lexicon)
    one, other = new_party(rng, lexicon, person_share=0.15), new_party(rng, lexicon, person_share=0.3)
    makers = prose.of_world(rng, lexicon, style) | {
        "party_a": lambda: one.entity("PARTY"),
        "party_b": lambda: other.entity("PARTY"),
        "address_a": lambda: Piece(", ".join(one.address), "ADDRESS"),
        "address_b": lambda: Piece(", ".join(other.address), "ADDRESS"),
        "effective": lambda: Piece(style.day(some_day(rng)), "EFFECTIVE_DATE"),
    }
    title = lines([row(lexicon.say(rng, "contract"))])
    boxes = [title, *_parties(rng, style, template, (one, other), makers)]
    boxes += [_clauses(rng, lexicon, template, makers), _signatures(rng, style, template["signatures"], one, other)]
    return blocks.with_headers_footers(rng, template["headers_footers"], lexicon, boxes)


def _parties(
    rng: Random, style: WritingStyle, template: Template, both: tuple[Party, Party], makers: prose.Makers
) -> list[Box]:
    lexicon, how = style.lexicon, template["parties"]
    say = lexicon.say
    found: list[Box] = []
    if how == "sentence":
        sentence = prose.filled(say(rng, "openings"), makers)
        found.append(lines(prose.set_to(rng.randint(50, 100), sentence, dense=lexicon.is_dense)))
    elif how == "pairs":
        keyed = [(say(rng, key), row(p.entity("PARTY"))) for key, p in zip(("supplier", "receiver"), both, strict=True)]
        found.append(blocks.arranged(rng, rng.choice(blocks.WAYS), keyed))
    else:
        called = rng.sample(lexicon.words["parties_words"], 2)
        marks = ("(1) ", "(2) ") if how == "numbered" else ("", "")
        each = [_block(rng, *block) for block in zip(both, marks, called, strict=True)]
        between = [lines([row(say(rng, "between"))]), each[0], lines([row(say(rng, "and"))]), each[1]]
        found.append(side_by_side(*each, at=42) if how == "beside" else stack(*between))
    if template["effective"] == "keyed" and how != "sentence":
        found.append(lines([row(say(rng, "effective_label"), ": ", makers["effective"]())]))
    elif how != "sentence":
        found.append(lines([row(say(rng, "effective_label"), " ", makers["effective"]())]))
    return found


def _block(rng: Random, party: Party, mark: str, called: str) -> Box:
    """A party with its address, at times with its name in the clauses."""
    names = [row(called)] if rng.random() < 0.6 else []
    if mark:
        address = Piece(", ".join(party.address), "ADDRESS")
        return lines([row(mark, party.entity("PARTY"), ", ", address), *names])
    return lines([*parties.block(rng, party, "PARTY"), *names])


def _clauses(rng: Random, lexicon: Lexicon, template: Template, makers: prose.Makers) -> Box:
    say, how = lexicon.say, template["clauses"]
    templates = rng.sample(lexicon.words["clauses"], min(len(lexicon.words["clauses"]), rng.randint(3, 7)))
    law = prose.filled(say(rng, "laws"), makers)
    clauses = [prose.filled(clause, makers) for clause in templates]
    clauses.insert(rng.randint(0, len(clauses)) if template["law"] == "among" else len(clauses), law)
    headed = template["law"] == "headed"
    dense = lexicon.is_dense
    if how == "running":
        return lines(prose.set_to(rng.randint(60, 100), prose.run_on(clauses, dense=dense), dense=dense))
    boxes: list[Box] = []
    width = 38 if how == "two_columns" else rng.randint(60, 100)
    for number, clause in enumerate(clauses, start=1):
        mark, heading = _head(rng, lexicon, how, number, is_law=headed and clause is law)
        boxes.append(lines([*heading, *prose.set_to(width, row(mark, *clause), dense=dense)]))
    if how == "two_columns":
        half = len(boxes) // 2
        return side_by_side(stack(*boxes[:half]), stack(*boxes[half:]), gap=4)
    return stack(*boxes, gap=rng.choice((0, 1)))


def _head(rng: Random, lexicon: Lexicon, how: str, number: int, *, is_law: bool) -> tuple[str, Block]:
    """The start of a clause's first line, and the rows above it."""
    word = lexicon.say(rng, "law_heading" if is_law else "headings")
    match how:
        case "headed":
            return "", [row(f"{number}. {word}")]
        case "sections":
            return f"({number}) ", [row(f"§ {number} {word}")]
    heading: Row = row(word)
    return f"{number}. ", [heading] if is_law else []


def _signatures(rng: Random, style: WritingStyle, how: str, one: Party, other: Party) -> Box:
    if how == "none":
        return EMPTY
    boxes = [_signature(rng, style, party) for party in (one, other)]
    return side_by_side(*boxes, gap=6) if how == "beside" else stack(*boxes, gap=1)


def _signature(rng: Random, style: WritingStyle, party: Party) -> Box:
    say = style.lexicon.say
    rows = [row("_" * rng.randint(10, 30)), row(say(rng, "by"), " ", Piece(party.contact, "PERSON"))]
    if not party.is_person:
        rows.append(row(party.entity("PARTY")))
    if rng.random() < 0.5:
        day = Piece(style.day(some_day(rng)), "DATE")
        rows.append(row(Piece(say(rng, "cities"), "LOCATION"), ", ", day))
    return lines(rows)
