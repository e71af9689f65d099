"""Job adverts: an employer, a job, tasks, what is asked for and offered, and whom to write to."""

from random import Random
from typing import Final

from model_store.builtin.training.pages import blocks, parties, prose
from model_store.builtin.training.pages.facts import Party, new_party
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import EMPTY, Block, Box, Piece, Row, lines, row, side_by_side, stack
from model_store.builtin.training.pages.writing import WritingStyle, choose_style

AXES: Final[Axes] = {
    "opening": ("sentence", "title", "title_and_place", "heading", "keyed"),
    "employer": ("head", "foot", "sentence_only"),
    "lists": ("bullets", "lines", "running", "beside"),
    "order": ("tasks_first", "needs_first", "offer_first"),
    "apply": ("sentence", "block", "pairs"),
    "headers_footers": blocks.HEADERS_FOOTERS,
}
_SECTIONS: Final = {
    "tasks_first": ("tasks", "requirements", "offer"),
    "needs_first": ("requirements", "tasks", "offer"),
    "offer_first": ("offer", "tasks", "requirements"),
}
_SENTENCES: Final = {"tasks": "duties", "requirements": "needs", "offer": "offers"}


def advert(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    style, employer = choose_style(rng, lexicon), new_party(rng, lexicon)
    makers = prose.of_world(rng, lexicon, style) | prose.of_party(employer)
    head = parties.head(rng, employer, "EMPLOYER") if template["employer"] == "head" else EMPTY
    foot = parties.foot(rng, employer, "EMPLOYER") if template["employer"] == "foot" else EMPTY
    sections = [_section(rng, style, name, template["lists"], makers) for name in _SECTIONS[template["order"]]]
    if template["lists"] == "beside":
        sections = [side_by_side(*sections[:2], gap=4), sections[2]]
    boxes = [head, *_opening(rng, style, employer, template["opening"], makers), *sections]
    boxes += [_apply(rng, employer, template["apply"], makers), foot]
    return blocks.with_headers_footers(rng, template["headers_footers"], lexicon, boxes)


def _opening(rng: Random, style: WritingStyle, employer: Party, how: str, makers: prose.Makers) -> list[Box]:
    say = style.lexicon.say
    job, place = Piece(say(rng, "jobs"), "JOB_TITLE"), Piece(say(rng, "cities"), "LOCATION")
    wanted = lines([prose.filled(say(rng, "wanted"), makers)])
    match how:
        case "title":
            return [lines([row(job)]), lines([row(employer.entity("EMPLOYER"))])]
        case "title_and_place":
            return [lines([row(job, rng.choice((" – ", ", ", " | ", " · ")), place)]), wanted]
        case "heading":
            return [lines([row(say(rng, "advert"))]), lines([row(job)]), wanted]
        case "keyed":
            found: list[blocks.Pair] = [
                (say(rng, "position"), row(job)),
                (say(rng, "employer"), row(employer.entity("EMPLOYER"))),
                (say(rng, "city"), row(place)),
            ]
            return [blocks.arranged(rng, rng.choice(blocks.WAYS), found)]
    return [wanted]


def _section(rng: Random, style: WritingStyle, name: str, how: str, makers: prose.Makers) -> Box:
    lexicon = style.lexicon
    templates = lexicon.words[_SENTENCES[name]]
    chosen = rng.sample(templates, min(len(templates), rng.randint(2, 4)))
    sentences: list[Row] = [prose.filled(template, makers) for template in chosen]
    heading: Block = [row(lexicon.say(rng, name), rng.choice(("", ":")))]
    if how == "running":
        joint = row("，" if lexicon.is_dense else ", ")
        running = tuple(piece for n, line in enumerate(sentences) for piece in ((*joint, *line) if n else line))
        return lines([*heading, *prose.set_to(rng.randint(50, 90), running, dense=lexicon.is_dense)])
    mark = rng.choice(("• ", "- ", "* ", "– ", "· ", "✓ ")) if how == "bullets" else ""
    return lines([*heading, *(row(mark, *sentence) if mark else sentence for sentence in sentences)])


def _apply(rng: Random, employer: Party, how: str, makers: prose.Makers) -> Box:
    say = employer.lexicon.say
    match how:
        case "sentence":
            return lines([prose.filled(say(rng, "apply"), makers)])
        case "block":
            return stack(lines(parties.block(rng, employer, "EMPLOYER", contacts=2)))
    found = [
        (say(rng, "contact"), row(Piece(employer.contact, "PERSON"))),
        (say(rng, "email"), row(Piece(employer.email, "EMAIL"))),
        (say(rng, "phone"), row(Piece(employer.phone, "PHONE"))),
    ]
    return blocks.arranged(rng, rng.choice(blocks.WAYS), found)
