"""Résumés: a person, stations at work and at school, skills and languages, in one column or two."""

from datetime import date, timedelta
from random import Random
from typing import Final

from model_store.builtin.training.pages import blocks, names, prose
from model_store.builtin.training.pages.blocks import joined
from model_store.builtin.training.pages.facts import Party, new_party
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import (
    EMPTY,
    Block,
    Box,
    Piece,
    Row,
    grid,
    lines,
    row,
    side_by_side,
    stack,
)
from model_store.builtin.training.pages.writing import WritingStyle, choose_style, some_day

AXES: Final[Axes] = {
    "head": ("name_only", "name_and_job", "contacts_in_line", "pairs", "heading_first"),
    "layout": ("one_column", "sidebar_left", "sidebar_right"),
    "order": ("work_first", "school_first", "skills_first"),
    "stations": ("day_left", "day_right", "day_below", "one_line", "employer_first", "table"),
    "skills": ("commas", "bullets", "lines", "columns"),
    "headers_footers": blocks.HEADERS_FOOTERS,
}


def resume(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    style = choose_style(rng, lexicon)
    person = new_party(rng, lexicon, person_share=1)
    head, aside = _head(rng, style, template, person)
    work, school = _work(rng, style, template["stations"]), _school(rng, style, template["stations"])
    skills, tongues = _skills(rng, lexicon, template["skills"]), _tongues(rng, lexicon)
    profile = _profile(rng, lexicon) if rng.random() < 0.4 else EMPTY
    side = stack(aside, skills, tongues, gap=1)
    main = [school, work] if template["order"] == "school_first" else [work, school]
    match template["layout"]:
        case "sidebar_left":
            boxes = [head, side_by_side(side, stack(profile, *main, gap=1), gap=4)]
        case "sidebar_right":
            boxes = [head, side_by_side(stack(profile, *main, gap=1), side, gap=4)]
        case _:
            rest = [skills, *main, tongues] if template["order"] == "skills_first" else [*main, skills, tongues]
            boxes = [head, aside, profile, *rest]
    return blocks.with_headers_footers(rng, template["headers_footers"], lexicon, boxes)


def _head(rng: Random, style: WritingStyle, template: Template, person: Party) -> tuple[Box, Box]:
    """The name with its companions, and the contacts."""
    lexicon = style.lexicon
    say, how = lexicon.say, template["head"]
    name = Piece(person.name.upper() if rng.random() < 0.2 else person.name, "PERSON")
    job = Piece(say(rng, "jobs"), "JOB_TITLE")
    contacts: list[blocks.Pair] = [
        (say(rng, "phone"), row(Piece(person.phone, "PHONE"))),
        (say(rng, "email"), row(Piece(person.email, "EMAIL"))),
        (say(rng, "address"), row(Piece(", ".join(person.address), "ADDRESS"))),
    ]
    if rng.random() < 0.4:
        contacts.append((say(rng, "birth"), row(Piece(style.day(some_day(rng, 1950, 2006)), "DATE"))))
    rng.shuffle(contacts)
    bare = rng.random() < 0.4
    aside = lines([value if bare else row(key, ": ", *value) for key, value in contacts])
    match how:
        case "name_and_job":
            return lines([row(name), row(job)]), aside
        case "contacts_in_line":
            line = joined([value for _, value in contacts], rng.choice((" | ", " · ", ", ", "  ")))
            return lines([row(name), line]), EMPTY
        case "pairs":
            keyed = [(say(rng, "name"), row(name)), *contacts]
            return blocks.arranged(rng, rng.choice(blocks.WAYS), keyed), EMPTY
        case "heading_first":
            return lines([row(say(rng, "resume")), row(name, rng.choice((", ", " - ", " | ")), job)]), aside
    return lines([row(name)]), aside


def _span_of_time(rng: Random, style: WritingStyle, start: date, end: date, *, is_last: bool) -> Row:
    years = rng.random() < 0.4

    def written(day: date) -> Piece:
        return Piece(str(day.year) if years else style.month(rng, day), "DATE")

    dash = rng.choice((" - ", " – ", "–", "-", " — "))
    last = Piece(style.lexicon.say(rng, "present")) if is_last and rng.random() < 0.7 else written(end)
    return row(written(start), dash, last)


def _work(rng: Random, style: WritingStyle, how: str) -> Box:
    lexicon = style.lexicon
    makers = prose.of_world(rng, lexicon, style)
    end, stations = date(rng.randint(2015, 2026), rng.randint(1, 12), 1), list[Box]()
    for number in range(rng.randint(1, 4)):
        start = end - timedelta(days=rng.randint(200, 2500))
        days = _span_of_time(rng, style, start, end, is_last=number == 0)
        job, employer = (row(makers[key]()) for key in ("job", "employer"))
        if rng.random() < 0.35:
            employer = row(*employer, ", ", makers["city"]())
        duties = [prose.filled(lexicon.say(rng, "duties"), makers) for _ in range(rng.choice((0, 1, 2, 3)))]
        mark = rng.choice(("• ", "- ", "", "* "))
        stations.append(stack(_station(how, days, job, employer), lines([row(mark, *duty) for duty in duties])))
        end = start - timedelta(days=rng.randint(0, 90))
    return _headed(rng, lexicon, "experience", stack(*stations, gap=rng.choice((0, 1))))


def _school(rng: Random, style: WritingStyle, how: str) -> Box:
    lexicon = style.lexicon
    end, stations = date(rng.randint(1990, 2024), rng.randint(1, 12), 1), list[Box]()
    for _ in range(rng.randint(1, 2)):
        start = end - timedelta(days=rng.randint(900, 2200))
        degree = row(Piece(lexicon.say(rng, "degrees"), "DEGREE"))
        if rng.random() < 0.4:
            degree = row(*degree, ", ", lexicon.say(rng, "fields"))
        school = row(Piece(names.school(rng, lexicon), "SCHOOL"))
        stations.append(_station(how, _span_of_time(rng, style, start, end, is_last=False), degree, school))
        end = start
    return _headed(rng, lexicon, "education", stack(*stations))


def _station(how: str, days: Row, what: Row, where: Row) -> Box:
    match how:
        case "day_left":
            return side_by_side(lines([days]), lines([what, where]), gap=3)
        case "day_right":
            return side_by_side(lines([what, where]), lines([days]), gap=6)
        case "day_below":
            return lines([what, where, days])
        case "one_line":
            return lines([row(*what, ", ", *where, " (", *days, ")")])
        case "employer_first":
            return lines([row(*where, "  ", *days), what])
    return grid([[days, what, where]], gap=3)


def _skills(rng: Random, lexicon: Lexicon, how: str) -> Box:
    words = lexicon.words["skills"]
    chosen: Block = [row(Piece(word, "SKILL")) for word in rng.sample(words, min(len(words), rng.randint(3, 8)))]
    match how:
        case "commas":
            joint = "、" if lexicon.is_dense else rng.choice((", ", " · ", " | ", " / "))
            body = lines(prose.set_to(rng.randint(24, 80), joined(chosen, joint), dense=lexicon.is_dense))
        case "bullets":
            body = lines([row("• ", *skill) for skill in chosen])
        case "columns":
            body = grid([chosen[n : n + 2] for n in range(0, len(chosen), 2)], gap=4)
        case _:
            body = lines(chosen)
    return _headed(rng, lexicon, "skills_heading", body)


def _tongues(rng: Random, lexicon: Lexicon) -> Box:
    chosen = rng.sample(list(lexicon.languages.values()), rng.randint(1, 3))
    joint = rng.choice((" - ", ": ", " (", " "))
    rows = [
        row(Piece(tongue, "LANGUAGE"), joint, lexicon.say(rng, "levels"), ")" if joint == " (" else "")
        for tongue in chosen
    ]
    return _headed(rng, lexicon, "languages", lines(rows if rng.random() < 0.6 else [joined(rows, ", ")]))


def _profile(rng: Random, lexicon: Lexicon) -> Box:
    sentences = [prose.filler(rng, lexicon) for _ in range(rng.randint(1, 2))]
    body = prose.set_to(48, prose.run_on(sentences, dense=lexicon.is_dense), dense=lexicon.is_dense)
    return _headed(rng, lexicon, "profile", lines(body))


def _headed(rng: Random, lexicon: Lexicon, key: str, body: Box) -> Box:
    """The body below its heading, which capitals, colons or rules mark."""
    word = lexicon.say(rng, key)
    rule = [row("_" * rng.randint(10, 40))] if rng.random() < 0.1 else []
    return stack(lines([row(rng.choice((word, word, word.upper(), f"{word}:"))), *rule]), body)
