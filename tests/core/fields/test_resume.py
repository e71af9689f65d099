"""A résumé's person, jobs and educations."""

from __future__ import annotations

import pytest

from service.core.fields.lines import TextLines
from service.core.fields.mentions import Mention
from service.core.fields.resume import Entry, choose_person, distinct, find_entries
from tests.support.mentions import mentions_in

TEXT = """Maria Delgado
maria@mail.example, Valencia
Blue Harvest, Senior Engineer
March 2021 to today
Castell
Engineer
2017 to 2020

References: John Roe


University of Valencia, MSc, 2016
Painter"""


def shown(entries: tuple[Entry, ...]) -> list[tuple[str | None, str | None, list[str]]]:
    def text(mention: Mention | None) -> str | None:
        return mention and mention.text

    return [(text(each.what), text(each.where), [date.text for date in each.dates]) for each in entries]


def test_the_person_named_first_is_whose_resume_it_is() -> None:
    found = mentions_in(
        TEXT, ("PERSON", "Maria Delgado", 0.7), ("EMAIL", "maria@mail.example"), ("PERSON", "John Roe", 0.99)
    )
    roles = choose_person(found)
    assert {role: choice.best.text for role, choice in roles.items()} == {
        "name": "Maria Delgado",
        "email": "maria@mail.example",
    }
    assert [each.text for each in roles["name"].alternatives] == ["John Roe"]
    assert choose_person([]) == {}


def test_a_place_is_the_address_where_there_is_none() -> None:
    (place,) = mentions_in(TEXT, ("LOCATION", "Valencia"))
    assert choose_person([place])["address"].reason.value == "context"
    address = place._replace(entity=1, label="ADDRESS", text="Calle 1", start=90, end=97)
    assert choose_person([place, address])["address"].best == address


def test_address_and_phone_beside_the_name_are_preferred() -> None:
    text = "Maria Delgado, Valencia, +34 612 345 678\nCastell, Barcelona, +34 931 234 567"
    places = (("LOCATION", "Valencia", 0.6), ("PHONE", "+34 612 345 678", 0.6))
    found = mentions_in(text, *places, ("LOCATION", "Barcelona", 0.95), ("PHONE", "+34 931 234 567", 0.95))
    roles = choose_person(found)
    assert [roles[role].best.text for role in ("address", "phone")] == ["Valencia", "+34 612 345 678"]


def test_what_stands_together_is_one_entry_with_the_dates_nearby() -> None:
    found = mentions_in(
        TEXT,
        *(("EMPLOYER", "Blue Harvest"), ("JOB_TITLE", "Senior Engineer"), ("DATE", "March 2021")),
        *(("EMPLOYER", "Castell"), ("JOB_TITLE", "Engineer"), ("DATE", "2017"), ("DATE", "2020")),
        *(("SCHOOL", "University of Valencia"), ("DEGREE", "MSc"), ("DATE", "2016")),
    )
    jobs, educations = find_entries(found, TextLines(TEXT))
    assert shown(jobs) == [
        ("Senior Engineer", "Blue Harvest", ["March 2021"]),
        ("Engineer", "Castell", ["2017", "2020"]),
    ]
    assert shown(educations) == [("MSc", "University of Valencia", ["2016"])]


def test_what_stands_far_apart_is_not_joined() -> None:
    found = mentions_in(TEXT, ("EMPLOYER", "Castell"), ("DATE", "2016"), ("JOB_TITLE", "Painter"))
    jobs, educations = find_entries(found, TextLines(TEXT))
    assert shown(jobs) == [(None, "Castell", []), ("Painter", None, ["2016"])]
    assert educations == ()
    far = find_entries(mentions_in(TEXT, ("EMPLOYER", "Castell"), ("DATE", "2016")), TextLines(TEXT))[0]
    assert shown(far) == [(None, "Castell", [])]


def test_values_are_listed_once_in_order() -> None:
    text = "Python, SQL, python"
    found = mentions_in(text, ("SKILL", "Python"), ("SKILL", "SQL"), ("SKILL", "python"))
    assert [each.text for each in distinct(found, "SKILL")] == ["Python", "SQL"]
    assert distinct(found, "LANGUAGE") == ()


@pytest.mark.parametrize(
    ("period", "is_ongoing"),
    [
        ("2019 - Present", True),
        ("2019 – heute", True),
        ("2019 to date, part time", False),
        ("2019 bis jetzt", True),
        ("2019 – la actualidad", True),
        ("2019-aujourd'hui", True),
        ("2019 – obecnie", True),
        ("2019 по настоящее время", True),
        ("2019年 至今", True),
        ("2019 – 현재", True),
        ("since 2019", True),
        ("seit 2019", True),
        ("2019 – 2021", False),
        ("in 2019", False),
        ("2019 Nursing", False),
        ("2019 presented a paper", False),
    ],
)
def test_a_period_that_lasts_is_said(period: str, is_ongoing: bool) -> None:
    text = f"Castell, Engineer, {period}"
    found = mentions_in(text, ("EMPLOYER", "Castell"), ("JOB_TITLE", "Engineer"), ("DATE", "2019"))
    (job,), _ = find_entries(found, TextLines(text))
    assert job.is_ongoing is is_ongoing


@pytest.mark.parametrize(
    ("pages", "dates"),
    [
        (("Lebenslauf Maria Delgado 10.02.2026 Seite 1", "Lebenslauf Maria Delgado 10.02.2026 Seite 2"), []),
        (("10.02.2026 Maria Delgado\t1 / 2", "10.02.2026 Maria Delgado\t2 / 2"), []),
        (("10.02.2026 Maria Delgado", "10.02.2026 Maria Delgado"), []),
        (("10.02.2026 Maria Delgado", "10.02.2026 another line"), ["10.02.2026", "10.02.2026"]),
        (("10.02.2026", "10.02.2026"), ["10.02.2026", "10.02.2026"]),
    ],
)
def test_a_footers_date_belongs_to_no_job(pages: tuple[str, str], dates: list[str]) -> None:
    text = f"{pages[0]}\nCastell\n{pages[1]}"
    found = mentions_in(text, ("DATE", "10.02.2026"), ("EMPLOYER", "Castell"), ("DATE", "10.02.2026"))
    assert shown(find_entries(found, TextLines(text))[0]) == [(None, "Castell", dates)]


def test_a_title_in_the_heading_is_no_job() -> None:
    text = "Maria Delgado\nSoftware Architect\n\n\n\nEngineer, 2017\n\n\n\nPainter, Castell"
    found = mentions_in(
        text,
        *(("JOB_TITLE", "Software Architect"), ("JOB_TITLE", "Engineer"), ("DATE", "2017")),
        *(("JOB_TITLE", "Painter"), ("EMPLOYER", "Castell")),
    )
    assert shown(find_entries(found, TextLines(text))[0]) == [
        ("Engineer", None, ["2017"]),
        ("Painter", "Castell", []),
    ]
