"""Letters and notes: mail from sender to receiver, single sentences, news, and texts without any entity."""

from random import Random
from typing import Final

from model_store.builtin.training.pages import blocks, parties, prose
from model_store.builtin.training.pages.blocks import joined
from model_store.builtin.training.pages.facts import Party, new_party, new_trade
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import EMPTY, Box, Piece, Row, indented, lines, row, side_by_side, stack
from model_store.builtin.training.pages.writing import WritingStyle, choose_style, some_day

LETTER_AXES: Final[Axes] = {
    "sender": ("head", "sender_line", "block", "foot", "right", "mail"),
    "receiver": ("block", "beside_day", "none"),
    "day": ("place_and_day", "day", "indented", "below"),
    "subject": ("bare", "none"),
    "body": ("paragraphs", "one_paragraph", "narrow", "two_columns"),
    "headers_footers": blocks.HEADERS_FOOTERS,
}


def letter(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    style = choose_style(rng, lexicon)
    sender, receiver = new_party(rng, lexicon, person_share=0.35), new_party(rng, lexicon, person_share=0.6)
    top, foot = _sender(rng, template["sender"], sender)
    theirs = lines(parties.block(rng, receiver, receiver.generic_label)) if template["receiver"] != "none" else EMPTY
    day = _day(rng, style, template["day"])
    if template["receiver"] == "beside_day":
        theirs, day = side_by_side(theirs, day, at=44), EMPTY
    makers = prose.of_world(rng, lexicon, style)
    last = receiver.contact
    greeting = makers | {"name": lambda: Piece(last, "PERSON")}
    subject = [prose.filled(lexicon.say(rng, "subjects"), makers)] if template["subject"] == "bare" else []
    boxes = [top, theirs, day, lines(subject), lines([prose.filled(lexicon.say(rng, "salutations"), greeting)])]
    boxes += [_body(rng, lexicon, style, template["body"]), _closing(rng, sender)]
    if template["day"] == "below":
        boxes.append(boxes.pop(2))
    return blocks.with_headers_footers(rng, template["headers_footers"], lexicon, [*boxes, foot])


def _sender(rng: Random, how: str, sender: Party) -> tuple[Box, Box]:
    label = sender.generic_label
    match how:
        case "head":
            return parties.head(rng, sender, label), EMPTY
        case "sender_line":
            return parties.sender_line(rng, sender, label), EMPTY
        case "foot":
            return EMPTY, parties.foot(rng, sender, label)
        case "right":
            return indented(lines(parties.block(rng, sender, label, contacts=2)), 44), EMPTY
        case "mail":
            say = sender.lexicon.say
            address = Piece(sender.email, "EMAIL")
            return lines([row(say(rng, "from"), ": ", Piece(sender.contact, "PERSON"), " <", address, ">")]), EMPTY
    return lines(parties.block(rng, sender, label, contacts=rng.randint(0, 3))), EMPTY


def _day(rng: Random, style: WritingStyle, how: str) -> Box:
    day = Piece(style.day(some_day(rng)), "DATE")
    if how == "place_and_day":
        return lines([row(Piece(style.lexicon.say(rng, "cities"), "LOCATION"), ", ", day)])
    return indented(lines([row(day)]), 50 if how == "indented" else 0)


def _body(rng: Random, lexicon: Lexicon, style: WritingStyle, how: str) -> Box:
    """Sentences with entities and without."""
    makers = prose.of_world(rng, lexicon, style)
    sentences: list[Row] = [
        prose.filler(rng, lexicon) if rng.random() < 0.5 else prose.filled(lexicon.say(rng, "news"), makers)
        for _ in range(rng.randint(2, 6))
    ]
    dense = lexicon.is_dense
    width = {"narrow": 38, "two_columns": 36}.get(how, rng.randint(60, 100))
    if how == "paragraphs":
        return stack(*(lines(prose.set_to(width, sentence, dense=dense)) for sentence in sentences), gap=1)
    if how == "two_columns":
        half = max(1, len(sentences) // 2)
        columns = (prose.run_on(part, dense=dense) for part in (sentences[:half], sentences[half:]) if part)
        return side_by_side(*(lines(prose.set_to(width, column, dense=dense)) for column in columns), gap=4)
    return lines(prose.set_to(width, prose.run_on(sentences, dense=dense), dense=dense))


def _closing(rng: Random, sender: Party) -> Box:
    say = sender.lexicon.say
    rows = [row(say(rng, "closings")), row(Piece(sender.contact, "PERSON"))]
    if not sender.is_person and rng.random() < 0.5:
        rows.append(row(Piece(say(rng, "jobs"), "JOB_TITLE")))
    if rng.random() < 0.3:
        rows.append(joined(parties.reached(rng, sender)[:2], rng.choice((" | ", "  ", ", "))))
    return lines(rows)


NOTE_AXES: Final[Axes] = {
    "about": ("trade", "world", "both", "nothing"),
    "length": ("one", "few", "many"),
    "layout": ("paragraph", "unbroken", "lines", "bullets", "two_columns"),
    "headers_footers": blocks.HEADERS_FOOTERS,
}
_COUNTS: Final = {"one": (1, 1), "few": (2, 3), "many": (4, 8)}


def note(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    """Sentences; those on a sale are of one sale."""
    sentences = _sentences(rng, lexicon, template)
    dense = lexicon.is_dense
    match template["layout"]:
        case "lines":
            body = lines(sentences)
        case "unbroken":
            body = lines([prose.run_on(sentences, dense=dense)])
        case "bullets":
            body = lines([prose.bulleted(rng, sentence) for sentence in sentences])
        case "two_columns":
            boxes = [lines(prose.set_to(34, sentence, dense=dense)) for sentence in sentences]
            half = (len(boxes) + 1) // 2
            body = side_by_side(stack(*boxes[:half]), stack(*boxes[half:]), gap=4)
        case _:
            body = lines(prose.set_to(rng.randint(40, 100), prose.run_on(sentences, dense=dense), dense=dense))
    # A slogan or junk beside one sentence would outweigh it.
    how = template["headers_footers"] if template["length"] == "many" else "plain"
    return blocks.with_headers_footers(rng, how, lexicon, [body])


def _sentences(rng: Random, lexicon: Lexicon, template: Template) -> list[Row]:
    trade = new_trade(rng, lexicon)
    makers = prose.of_world(rng, lexicon, trade.style)
    sources = {"trade": ("prose",), "world": ("news",), "both": ("prose", "news", "filler"), "nothing": ("filler",)}
    keys = [rng.choice(sources[template["about"]]) for _ in range(rng.randint(*_COUNTS[template["length"]]))]
    return [
        prose.filled(lexicon.say(rng, key), makers | prose.of_trade(trade) if key == "prose" else makers)
        for key in keys
    ]
