from __future__ import annotations

import pytest

from service.documents.colours import BLACK, TRANSPARENT, WHITE, Colour, Special, colour_of, colour_within, shows_on


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("white", WHITE),
        ("#000", BLACK),
        ("#ffffff00", Colour(1, 1, 1, 0)),
        ("transparent", TRANSPARENT),
        ("rgb(255, 0, 0)", Colour(1, 0, 0)),
        ("rgb(100% 0% 0% / 50%)", Colour(1, 0, 0, 0.5)),
        ("rgba(0,0,300,.25)", Colour(0, 0, 1, 0.25)),
        ("hsl(120deg 100% 50%)", Colour(0, 1, 0)),
        ("hsla(0.5turn, 0%, 50%, 1)", Colour(0.5, 0.5, 0.5)),
        ("hwb(none 100% 100%)", Colour(0.5, 0.5, 0.5)),
        ("currentcolor", Special.CURRENT),
        ("oklch(1 0 0)", Special.UNKNOWN),
        ("rgb(1,2)", Special.UNKNOWN),
        ("rgb(a,b,c)", Special.UNKNOWN),
        ("nonsense", None),
        ("windowtext", Special.UNKNOWN),
        ("buttonface", Special.UNKNOWN),
        ("rgb(" + " " * 300 + "1 2 3)", Special.UNKNOWN),
        ("a" * 300, None),
        ("#abc\n", None),
        ("#ggg", None),
    ],
)
def test_a_value_of_css_is_a_colour_unknown_or_none(css: str, expected: Colour | Special | None) -> None:
    assert colour_of(css) == expected


def test_the_colour_among_other_parts_is_found() -> None:
    assert colour_within("1px 2px rgba(0, 0, 0, .5)") == "rgba(0, 0, 0, .5)"
    assert colour_within("underline var(--line)") == "var()"
    assert colour_within("no-repeat center") is None


@pytest.mark.parametrize(
    ("text", "ground", "shows"),
    [
        ("#fefefe", "white", False),
        ("ivory", "white", False),
        ("lightyellow", "white", False),
        ("#111", "black", False),
        ("#fe0000", "red", False),
        ("rgba(0,0,0,.03)", "white", False),
        ("transparent", "var()", False),
        ("#ddd", "white", True),
        ("yellow", "white", True),
        ("navy", "black", True),
        ("red", "#007f00", True),
        ("rgba(0,0,0,.1)", "white", True),
        ("white", "var()", True),
        ("var()", "white", True),
    ],
)
def test_text_shows_if_its_colour_differs_from_the_ground(text: str, ground: str, shows: bool) -> None:
    first, second = colour_of(text), colour_of(ground)
    assert first is not None
    assert second is not None
    assert shows_on(first, second) is shows
