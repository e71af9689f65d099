"""Forms filled in: words and boxes, values beside, below or apart, some left empty, marks to tick."""

from random import Random
from typing import Final

from model_store.builtin.training.pages import blocks, names, parties, prose
from model_store.builtin.training.pages.facts import Party, new_party
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import EMPTY, Box, Piece, Row, indented, lines, row, side_by_side, stack
from model_store.builtin.training.pages.writing import WritingStyle, choose_style, some_day

AXES: Final[Axes] = {
    "issuer": ("head", "title", "foot", "none"),
    "fields": (*blocks.WAYS, "numbered", "dotted"),
    "layout": ("one_column", "two_columns", "sections"),
    "empty": ("none", "some"),
    "signature": ("place_date", "line", "none"),
    "headers_footers": blocks.HEADERS_FOOTERS,
}


def form(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    style = choose_style(rng, lexicon)
    person, issuer = new_party(rng, lexicon, person_share=1), new_party(rng, lexicon)
    title = lines([row(lexicon.say(rng, "form"))])
    head = foot = EMPTY
    match template["issuer"]:
        case "head":
            head = parties.head(rng, issuer, "ORGANIZATION")
        case "title":
            title = lines([row(lexicon.say(rng, "form"), " – ", issuer.entity("ORGANIZATION"))])
        case "foot":
            foot = parties.foot(rng, issuer, "ORGANIZATION")
    found = _fields(rng, style, person)
    if template["empty"] == "some":
        found = [(key, row(rng.choice(("", "____", "-"))) if rng.random() < 0.25 else value) for key, value in found]
    hint = lines([prose.filler(rng, lexicon)]) if rng.random() < 0.4 else EMPTY
    boxes = [head, title, hint, _laid_out(rng, template, found), _signed(rng, style, person, template["signature"])]
    return blocks.with_headers_footers(rng, template["headers_footers"], lexicon, [*boxes, foot])


def _fields(rng: Random, style: WritingStyle, person: Party) -> list[blocks.Pair]:
    """Some fields of a form, the name always."""
    lexicon = style.lexicon
    say = lexicon.say
    others: list[tuple[str, Row]] = [
        ("birth", row(Piece(style.day(some_day(rng, 1940, 2008)), "DATE"))),
        ("address", row(Piece(", ".join(person.address), "ADDRESS"))),
        ("city", row(Piece(say(rng, "cities"), "LOCATION"))),
        ("country", row(Piece(person.country, "LOCATION"))),
        ("phone", row(Piece(person.phone, "PHONE"))),
        ("email", row(Piece(person.email, "EMAIL"))),
        ("id_number", row(Piece(names.number_of(rng), "ID_NUMBER"))),
        ("tax_id", row(Piece(person.tax_id, "TAX_ID"))),
        ("iban" if person.account.label == "IBAN" else "account", row(person.account)),
        ("employer", row(Piece(names.company(rng, lexicon), "EMPLOYER"))),
        ("position", row(Piece(say(rng, "jobs"), "JOB_TITLE"))),
        ("languages", row(Piece(rng.choice(list(lexicon.languages.values())), "LANGUAGE"))),
        ("certificates", row(say(rng, "yes_no"))),
    ]
    chosen = rng.sample(others, rng.randint(4, len(others)))
    return [(say(rng, key), value) for key, value in [("name", row(person.entity("PERSON"))), *chosen]]


def _laid_out(rng: Random, template: Template, found: list[blocks.Pair]) -> Box:
    half = (len(found) + 1) // 2
    boxes = [_set(rng, template["fields"], part) for part in (found[:half], found[half:]) if part]
    match template["layout"]:
        case "two_columns":
            return side_by_side(*boxes, gap=rng.choice((4, 8)))
        case "sections":
            return stack(*boxes, gap=2)
    return _set(rng, template["fields"], found)


def _set(rng: Random, how: str, found: list[blocks.Pair]) -> Box:
    match how:
        case "numbered":
            return lines([row(f"{n}. {key} ", *value) for n, (key, value) in enumerate(found, start=1)])
        case "dotted":
            mark = rng.choice("._")
            return lines([row(key, " ", mark * rng.randint(3, 24), " ", *value) for key, value in found])
    return blocks.arranged(rng, how, found)


def _signed(rng: Random, style: WritingStyle, person: Party, how: str) -> Box:
    say = style.lexicon.say
    if how == "none":
        return EMPTY
    day, line = Piece(style.day(some_day(rng)), "DATE"), "_" * rng.randint(8, 30)
    if how == "line":
        return lines([row(line), row(say(rng, "signature"), " ", person.entity("PERSON"))])
    place = Piece(say(rng, "cities"), "LOCATION")
    left = lines([row(place, ", ", day), row(say(rng, "place_date"))])
    return indented(side_by_side(left, lines([row(line), row(say(rng, "signature"))]), gap=8), rng.choice((0, 4)))
