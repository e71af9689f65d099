"""Words of a line whose characters the network named: spaces that it overlooked, and gaps that are none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from service.documents.ocr.detection import Band
from service.documents.ocr.layout import recognized_glyphs
from service.documents.ocr.page import ReadPicture
from service.documents.ocr.recognition import StripText, words_of

FONT = ImageFont.load_default(32)


def words(text: str, *, tracking: int = 0, ink: int = 0, named: str | None = None, likely: float = 0.0) -> list[str]:
    """The words of a drawn line of which the network named these characters: all but the spaces, if not said.

    `likely`: the probability that it gave spaces in their places.
    """
    strip = Image.new("L", (int(FONT.getlength(text)) + tracking * len(text) + 40, 48), 255)
    middles, across, spaces = [], 20.0, np.zeros(len(text), np.float32)
    named = text.replace(" ", "") if named is None else named
    left = list(named)
    for sign in text:
        wide = FONT.getlength(sign)
        ImageDraw.Draw(strip).text((across, 5), sign, fill=ink, font=FONT)
        if left and sign == left[0]:
            left.pop(0)
            middles.append(across + wide / 2)
        elif sign == " ":
            spaces[len(middles) - 1] = likely
        across += wide + tracking
    alphabet = ["", *sorted(set(named))]
    numbers = np.array([alphabet.index(sign) for sign in named])
    said = StripText(
        numbers, np.full(len(numbers), 0.9, np.float32), np.array(middles, np.float32), spaces[: len(numbers)]
    )
    found = list(words_of(strip, Band(0, strip.width, 24, 0, 48), said, alphabet))
    assert all(before.box[2] < after.box[0] for before, after in pairwise(found))
    assert likely or all(word.confidence == pytest.approx(0.9) for word in found)
    return [word.text for word in found]


@pytest.mark.parametrize("text", ["Questions? Ask Katrin", "Nummer: 4711 EUR", "IBAN DE89 3704 0044"])
@pytest.mark.parametrize("ink", [0, 150])
def test_a_wide_gap_is_a_space_that_the_network_overlooked(text: str, ink: int) -> None:
    assert words(text.replace(" ", "   "), ink=ink) == text.split()


@pytest.mark.parametrize("text", ["08.06.2026 20:32", "CAFE LAVENDEL", "Tel 030 4758", "Sum EUR 2,240.50"])
def test_a_gap_in_which_a_space_is_likely_is_one(text: str) -> None:
    assert words(text, likely=0.02) == text.split()


@pytest.mark.parametrize("text", ["R e c h n u n g", "T O T A L"])
def test_letters_that_stand_apart_are_one_word(text: str) -> None:
    assert words(text, likely=0.02) == [text.replace(" ", "")]


def test_a_word_that_may_be_two_is_less_sure_but_its_characters_are_not() -> None:
    strip = Image.new("L", (200, 48), 255)
    for left in (10, 34, 58):
        ImageDraw.Draw(strip).rectangle((left, 12, left + 20, 36), fill=0)
    middles, spaces = np.array([20, 44, 68], np.float32), np.array([0, 0.3, 0], np.float32)
    said = StripText(np.array([1, 2, 3]), np.full(3, 0.9, np.float32), middles, spaces)
    (word,) = words_of(strip, Band(0, 200, 24, 0, 48), said, ["", "a", "b", "c"])
    assert (word.confidence, word.oneness) == pytest.approx((0.9, 0.7))
    glyphs = recognized_glyphs(ReadPicture(((word,),), (), np.eye(3), 0, 0.0), 1.0, 200, 48)
    assert glyphs.confidence == pytest.approx([0.63] * 3)


@pytest.mark.parametrize("text", ["06.08.2018", "1,111.11", "RE-2026-118", "Willkommen", "https://a.example:80"])
@pytest.mark.parametrize("tracking", [0, 6, 14])
def test_other_gaps_are_no_spaces(text: str, tracking: int) -> None:
    assert words(text, tracking=tracking) == [text]


def test_spaces_that_the_network_named_stay_single() -> None:
    assert words("Total   EUR 9", named="Total EUR 9") == ["Total", "EUR", "9"]


def test_scripts_without_spaces_are_not_divided() -> None:
    strip = Image.new("L", (200, 48), 255)
    for left in (10, 40, 130):
        ImageDraw.Draw(strip).rectangle((left, 12, left + 20, 36), fill=0)
    said = StripText(
        np.array([1, 2, 3]), np.ones(3, np.float32), np.array([20, 50, 140], np.float32), np.zeros(3, np.float32)
    )
    assert [word.text for word in words_of(strip, Band(0, 200, 24, 0, 48), said, ["", "請", "求", "書"])] == ["請求書"]
