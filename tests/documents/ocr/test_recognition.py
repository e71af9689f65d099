"""Words of a line whose characters the network named: spaces that it overlooked, and gaps that are none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from service.documents.ocr.detection import Band
from service.documents.ocr.recognition import StripText, words_of

FONT = ImageFont.load_default(32)


def words(text: str, *, tracking: int = 0, ink: int = 0, named: str | None = None) -> list[str]:
    """The words of a drawn line of which the network named these characters: all but the spaces, if not said."""
    strip = Image.new("L", (int(FONT.getlength(text)) + tracking * len(text) + 40, 48), 255)
    middles, across = [], 20.0
    named = text.replace(" ", "") if named is None else named
    left = list(named)
    for sign in text:
        wide = FONT.getlength(sign)
        ImageDraw.Draw(strip).text((across, 5), sign, fill=ink, font=FONT)
        if left and sign == left[0]:
            left.pop(0)
            middles.append(across + wide / 2)
        across += wide + tracking
    alphabet = ["", *sorted(set(named))]
    numbers = np.array([alphabet.index(sign) for sign in named])
    said = StripText(numbers, np.full(len(numbers), 0.9, np.float32), np.array(middles, np.float32))
    found = list(words_of(strip, Band(0, strip.width, 24, 0, 48), said, alphabet))
    assert all(before.box[2] < after.box[0] for before, after in pairwise(found))
    assert all(word.confidence == pytest.approx(0.9) for word in found)
    return [word.text for word in found]


@pytest.mark.parametrize("text", ["Questions? Ask Katrin", "Nummer: 4711 EUR", "IBAN DE89 3704 0044"])
@pytest.mark.parametrize("ink", [0, 150])
def test_a_wide_gap_is_a_space_that_the_network_overlooked(text: str, ink: int) -> None:
    assert words(text.replace(" ", "   "), ink=ink) == text.split()


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
    said = StripText(np.array([1, 2, 3]), np.ones(3, np.float32), np.array([20, 50, 140], np.float32))
    assert [word.text for word in words_of(strip, Band(0, 200, 24, 0, 48), said, ["", "請", "求", "書"])] == ["請求書"]
