"""The sections of a résumé: experience, education, skills, languages, each in several layouts."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from model_store.builtin.training.generator import figures, people, places
from model_store.builtin.training.generator.canvas import Block, Piece, Row, fill, row
from model_store.builtin.training.generator.figures import Style, percent_text
from model_store.builtin.training.generator.locales import Locale, phrases, random_words, say
from model_store.builtin.training.generator.vocations import degree, language_name, school, skill


@dataclass(frozen=True, slots=True)
class Resume:
    """One résumé's choices that hold all through it."""

    locale: Locale
    style: Style
    bullet: str
    month_pattern: str
    dash: str
    entry_kind: int
    city_share: float


def heading(rng: Random, resume: Resume, key: str) -> Row:
    return row(say(rng, resume.locale, "resume", key), rng.choice(("", "", "", ":")))


def _period(rng: Random, resume: Resume) -> Row:
    start = figures.some_day(rng, first_year=1990, last_year=2024)
    end = start + timedelta(days=rng.randint(60, 2500))
    last = Piece(_month(resume, end), "DATE")
    if rng.random() < 0.2:
        last = Piece(say(rng, resume.locale, "resume", "present"))
    return row(Piece(_month(resume, start), "DATE"), resume.dash, last)


def _month(resume: Resume, day: date) -> str:
    return figures.month_text(resume.style, day, resume.month_pattern)


def _place(rng: Random, resume: Resume) -> tuple[Piece, ...]:
    if rng.random() >= resume.city_share:
        return ()
    return (Piece(rng.choice((", ", " - ", " ", " | ", "  "))), Piece(places.city(rng, resume.locale), "LOCATION"))


def experience(rng: Random, resume: Resume) -> Block:
    rows = [heading(rng, resume, "experience")]
    for _ in range(rng.choice((1, 2, 2, 3, 4))):
        rows += _entry(rng, resume)
    return rows


def _entry(rng: Random, resume: Resume) -> Block:
    employer = Piece(people.company(rng, resume.locale), "EMPLOYER")
    title = Piece(people.job_title(rng, resume.locale), "JOB_TITLE")
    period, place = _period(rng, resume), _place(rng, resume)
    at = phrases("connectives")[resume.locale.language]["at"]
    layouts = (
        [row(employer, *place), row(title, " ", *period)],
        [row(title, at if rng.random() < 0.5 else ", ", employer, *place), period],
        [row(*period, "  ", title, ", ", employer, *place)],
        [period, row(title), row(employer, *place)],
        [row(title), row(employer, *place), period],
        [row(employer, " — ", title, " (", *period, ")", *place)],
        [row(title, " | ", employer, *place, " | ", *period)],
        [row(*period), row(employer, *place), row(title)],
        [row(employer, " ", *period), row(title, *place)],
    )
    duties = [_bullet(rng, resume) for _ in range(rng.choice((0, 1, 2, 3, 4)))]
    return [*layouts[resume.entry_kind], *duties]


def _bullet(rng: Random, resume: Resume) -> Row:
    percent = Piece(percent_text(rng, resume.style, Decimal(rng.randint(3, 60))), "PERCENT")
    if rng.random() < 0.25:
        tools = [Piece(skill(rng, resume.locale), "SKILL") for _ in range(rng.randint(1, 3))]
        using = phrases("connectives")[resume.locale.language]["using"]
        return row(resume.bullet, using, *_commas(tools), ".")
    if rng.random() < 0.35:
        return row(resume.bullet, filler_words(rng, resume.locale))
    text = say(rng, resume.locale, "resume", "bullets").replace("{n}", str(rng.randint(2, 40)))
    return row(resume.bullet, *fill(text, p=percent))


def filler_words(rng: Random, locale: Locale) -> str:
    """Words of the language without an entity among them."""
    return " ".join(random_words(rng, locale, rng.randint(4, 16))).capitalize() + rng.choice((".", ""))


def _commas(pieces: list[Piece], joint: str = ", ") -> list[str | Piece]:
    parts: list[str | Piece] = []
    for number, piece in enumerate(pieces):
        parts += [joint, piece] if number else [piece]
    return parts


def education(rng: Random, resume: Resume, kind: int) -> Block:
    rows = [heading(rng, resume, "education")]
    for _ in range(rng.choice((1, 1, 2, 3))):
        name, title = Piece(school(rng, resume.locale), "SCHOOL"), Piece(degree(rng, resume.locale), "DEGREE")
        period, place = _period(rng, resume), _place(rng, resume)
        year = Piece(str(rng.randint(1980, 2026)), "DATE")
        rows += (
            [row(name, *place), row(title, " ", *period)],
            [row(title, ", ", name, *place, ", ", year)],
            [row(*period, " ", name), row(title)],
            [row(title), row(name, *place), row(year)],
            [row(name, rng.choice((", ", " - ", ": ")), title, " (", year, ")")],
            [row(year, "  ", title, "  ", name)],
        )[kind]
    return rows


def skills(rng: Random, resume: Resume, kind: int) -> Block:
    chosen = [Piece(skill(rng, resume.locale), "SKILL") for _ in range(rng.randint(3, 12))]
    title = heading(rng, resume, "skills")
    joint = rng.choice((", ", " | ", " · ", "; ", " / ", " • "))
    match kind:
        case 0 | 1:
            return [title, row(*_commas(chosen, joint))]
        case 2:
            return [title, *(row(resume.bullet, piece) for piece in chosen)]
        case 3:
            return [row(*title, " ", *_commas(chosen, joint))]
        case 4:
            groups = phrases("common")["skill_groups"]
            thirds = [chosen[start : start + 3] for start in range(0, len(chosen), 3)]
            return [title, *(row(rng.choice(groups), rng.choice((": ", " ", "  ")), *_commas(part)) for part in thirds)]
    return [title, *(row(piece, " (", say(rng, resume.locale, "resume", "levels"), ")") for piece in chosen)]


def languages(rng: Random, resume: Resume) -> Block:
    names = [Piece(language_name(rng, resume.locale), "LANGUAGE") for _ in range(rng.randint(1, 4))]
    title = heading(rng, resume, "languages")
    if rng.random() < 0.4:
        return [row(*title, rng.choice((" ", ": ")), *_commas(names))]
    open_, close = rng.choice(((" (", ")"), (": ", ""), (" - ", ""), (", ", "")))
    return [
        title,
        *(row(resume.bullet, name, open_, say(rng, resume.locale, "resume", "levels"), close) for name in names),
    ]
