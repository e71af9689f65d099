"""Résumés: sections in any order, entries in many line layouts, skills as lists, tables or sentences."""

from random import Random
from typing import Final

from model_store.builtin.training.generator import figures, people, places
from model_store.builtin.training.generator.canvas import Block, Piece, row
from model_store.builtin.training.generator.kinds.resume_sections import (
    Resume,
    education,
    experience,
    heading,
    languages,
    skills,
)
from model_store.builtin.training.generator.locales import choose_locale, phrases, say
from model_store.builtin.training.generator.parties import joined

_BULLETS: Final = ("• ", "- ", "* ", "– ", "", "● ", "➢ ", "· ", "▪ ", "\uf0b7 ")


def resume_rows(rng: Random) -> tuple[str, Block]:
    """(template name, rows) of a résumé."""
    locale = choose_locale(rng)
    resume = Resume(
        locale=locale,
        style=figures.choose_style(rng, locale),
        bullet=rng.choice(_BULLETS),
        month_pattern=rng.choice(
            ("MMMM yyyy", "MMM yyyy", "MM/yyyy", "yyyy", "MM.yyyy", "MMM. yyyy", "yyyy-MM", "M/yyyy", "yyyy")
        ),
        dash=rng.choice((" - ", " – ", "-", " to " if locale.language == "en" else " - ", "–", " — ", " \u00ad ")),
        entry_kind=rng.randrange(9),
        city_share=rng.choice((0.0, 0.5, 1.0)),
    )
    head, schooling, abilities = rng.randrange(5), rng.randrange(6), rng.randrange(6)
    sections = [experience(rng, resume), education(rng, resume, schooling), skills(rng, resume, abilities)]
    if rng.random() < 0.6:
        sections.append(languages(rng, resume))
    if rng.random() < 0.3:
        sections.append(_interests(rng, resume))
    if rng.random() < 0.6:
        rng.shuffle(sections)
    if rng.random() < 0.4:
        sections.insert(0, _profile(rng, resume))
    rows = _head(rng, resume, head) + [line for section in sections for line in section]
    return f"resume/{head}{resume.entry_kind}{schooling}{abilities}", rows


def _head(rng: Random, resume: Resume, kind: int) -> Block:
    locale = resume.locale
    name = people.person(rng, locale)
    shown = Piece(name.upper() if rng.random() < 0.25 else name, "PERSON")
    title = row(Piece(people.job_title(rng, locale), "JOB_TITLE"))
    contacts = _contacts(rng, resume, name)
    headline = [row(say(rng, locale, "resume", "title"))] if rng.random() < 0.3 else []
    match kind:
        case 0:
            return [*headline, row(shown), *joined(rng, contacts)]
        case 1:
            return [row(shown), title, *contacts]
        case 2:
            return [*headline, row("Name: " if locale.language in {"en", "de"} else "", shown), *contacts]
        case 3:
            return [
                row(shown),
                *joined(rng, [title, (Piece(people.job_title(rng, locale), "JOB_TITLE"),)]),
                *joined(rng, contacts),
            ]
    return [*contacts, row(shown), *(title for _ in range(rng.randint(0, 1)))]


def _contacts(rng: Random, resume: Resume, name: str) -> Block:
    locale = resume.locale
    address = places.address_lines(rng, locale)
    handle = people.slug(name)[: rng.randint(6, 14)]
    rows = [
        row(rng.choice(("", "E-Mail: ", "Email: ", "mailto:")), Piece(people.email(rng, name), "EMAIL")),
        row(
            rng.choice(("", say(rng, locale, "invoice", "phone") + ": ", "tel:")),
            Piece(people.phone(rng, locale), "PHONE"),
        ),
    ]
    if rng.random() < 0.5:
        rows.append(row(Piece(rng.choice((", ", "\n")).join(address), "ADDRESS")))
    elif rng.random() < 0.6:
        town = f"{places.home_city(rng, locale)}, {places.country(rng, locale)}"
        rows.append(row(Piece(rng.choice((places.city(rng, locale), town)), "LOCATION")))
    if rng.random() < 0.4:
        rows.append(row(rng.choice(("", "LinkedIn: ", "Web: ")), Piece(f"linkedin.com/in/{handle}", "URL")))
    if rng.random() < 0.2:
        rows.append(row("GitHub: @", handle))
    if rng.random() < 0.25:
        born = figures.day_text(resume.style, figures.some_day(rng, first_year=1955, last_year=2003))
        rows.append(row(phrases(locale.language)["resume"]["birth"][0], ": ", Piece(born, "DATE")))
    rng.shuffle(rows)
    return rows


def _profile(rng: Random, resume: Resume) -> Block:
    text = say(rng, resume.locale, "resume", "summaries").format(n=rng.randint(2, 25))
    return [heading(rng, resume, "profile"), row(text)]


def _interests(rng: Random, resume: Resume) -> Block:
    return [heading(rng, resume, "interests"), row(phrases("connectives")[resume.locale.language]["pastimes"])]
