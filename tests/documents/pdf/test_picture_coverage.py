"""Writing in a page's picture beside what was recognized there: of a pen, not the dots of a fax or of noise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from service.documents.pdf.coverage import has_shades, writing_beside
from tests.support.drawn_sheets import sheet
from tests.support.scans import scanned, with_note

SIZE = (360.0, 252.0)
WORDS = np.array(list(sheet().boxes.values()), np.float32) * 0.36
BLANK = Image.new("L", (1000, 700), 255)


def dithered(picture: Image.Image) -> npt.NDArray[np.uint8]:
    """As a fax has a sheet on gray paper."""
    gray = Image.fromarray((np.asarray(picture).astype(np.uint16) * 240 // 255).astype(np.uint8))
    return np.asarray(gray.resize((2000, 1400)).convert("1").convert("L"))


@pytest.mark.parametrize("picture", [with_note(), scanned(with_note(), light=1)])
def test_writing_that_no_box_covers_is_found(picture: Image.Image) -> None:
    ((left, top, right, bottom),) = writing_beside(np.asarray(picture), SIZE, WORDS)
    assert (left <= 108, right >= 290, 160 < top < 190, bottom > 225) == (True,) * 4


@pytest.mark.parametrize("gray", [np.asarray(scanned(sheet().picture)), dithered(sheet().picture), dithered(BLANK)])
def test_a_sheet_whose_words_are_covered_has_none_beside(gray: npt.NDArray[np.uint8]) -> None:
    assert writing_beside(gray, SIZE, WORDS) == ()


def test_paper_print_and_bars_have_no_shades_but_noise_has() -> None:
    bars = sheet().gray.copy()
    bars[100:200, 50:900] = 0
    pictures = (np.asarray(scanned(BLANK)), sheet().gray, bars, np.asarray(Image.effect_noise((1000, 700), 60)))
    assert [has_shades(gray, SIZE) for gray in pictures] == [False, False, False, True]
