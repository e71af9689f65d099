"""Forms: labelled boxes, filled in or empty, one a row, two a row, or as a list."""

from random import Random

from model_store.builtin.training.generator import figures, people, places
from model_store.builtin.training.generator.canvas import Block, Piece, Row, beside, row
from model_store.builtin.training.generator.identifiers import free_number
from model_store.builtin.training.generator.locales import (
    Locale,
    choose_locale,
    phrases,
    random_words,
)
from model_store.builtin.training.generator.parties import joined
from model_store.builtin.training.generator.sentences import filler
from model_store.builtin.training.generator.vocations import language_name


def form_rows(rng: Random) -> tuple[str, Block]:
    """(template name, rows) of a filled-in form; some boxes stay empty."""
    locale = choose_locale(rng)
    kind = rng.randrange(5)
    pairs = [(word, value if rng.random() < 0.8 else row("")) for word, value in _boxes(rng, locale)]
    pairs = rng.sample(pairs, rng.randint(4, len(pairs)))
    rows: Block = []
    match kind:
        case 0:
            rows = [row(word, rng.choice((": ", " ")), *value) for word, value in pairs]
        case 1:
            rows = [line for word, value in pairs for line in (row(word), value)]
        case 2:
            for start in range(0, len(pairs), 2):
                rows += joined(rng, [row(word, ": ", *value) for word, value in pairs[start : start + 2]])
        case 3:
            half = len(pairs) // 2
            left, right = ([row(word, " ", *value) for word, value in part] for part in (pairs[:half], pairs[half:]))
            rows = beside(left, right, gap=rng.choice((" ", "  ")))
        case _:
            rows = [row(f"{number} {word}  ", *value) for number, (word, value) in enumerate(pairs, start=1)]
    if rng.random() < 0.5:
        rows.insert(rng.randint(0, len(rows)), row(filler(rng, locale)))
    return f"form/{kind}{len(pairs) // 4}", rows


def _boxes(rng: Random, locale: Locale) -> list[tuple[str, Row]]:
    person = people.person(rng, locale)
    style = figures.choose_style(rng, locale)
    pieces = (
        Piece(person, "PERSON"),
        Piece(person.split()[0].strip(","), "PERSON"),
        Piece(figures.day_text(style, figures.some_day(rng, first_year=1940, last_year=2008)), "DATE"),
        Piece(places.one_line_address(rng, locale).replace("\n", " "), "ADDRESS"),
        Piece(places.home_city(rng, locale), "LOCATION"),
        Piece(places.country(rng, locale), "LOCATION"),
        Piece(people.phone(rng, locale), "PHONE"),
        Piece(people.email(rng, person), "EMAIL"),
        Piece(figures.day_text(style, figures.some_day(rng)), "DATE"),
        Piece(person, "PERSON"),
        Piece(free_number(rng), "ID_NUMBER"),
        Piece("", None),
        Piece(people.company(rng, locale), "EMPLOYER"),
        Piece(people.job_title(rng, locale), "JOB_TITLE"),
        Piece(language_name(rng, locale), "LANGUAGE"),
        Piece(free_number(rng), "ID_NUMBER"),
    )
    things = [
        (" ".join(random_words(rng, locale, 1)).capitalize(), row(_thing(rng, locale)))
        for _ in range(rng.choice((0, 0, 3, 6)))
    ]
    return things + [
        (word, (piece,)) for word, piece in zip(phrases("letter")[locale.language]["fields"], pieces, strict=True)
    ]


def _thing(rng: Random, locale: Locale) -> str:
    """A value that is no entity: a colour, a make, a year, a count."""
    word = " ".join(random_words(rng, locale, rng.randint(1, 2)))
    return rng.choice(
        (word.capitalize(), word, word.title(), str(rng.randint(1, 99)), f"{rng.randint(1, 90_000):,}", "Yes", "X")
    )
