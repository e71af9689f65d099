"""Pages read by the networks that ship: level, skewed, on a side, upside down; noise, blanks, other scripts."""

from __future__ import annotations

import time

import numpy as np
import pytest
from PIL import Image

from service.documents.ocr.layout import given_boxes, recognized_glyphs
from service.documents.ocr.page import ReadPicture, read_picture
from service.documents.ocr.recognition import RecognizedWord
from tests.support.drawn_sheets import INVOICE, WORDS, networks, sheet


def words(read: ReadPicture) -> list[str]:
    return [word.text for line in read.lines for word in line]


@pytest.mark.parametrize(
    ("degrees", "turned", "skew"), [(0, 0, 0), (1.5, 0, -1.5), (-2, 0, 2), (90, 270, 0), (180, 180, 0), (-90, 90, 0)]
)
def test_a_page_is_read_however_it_lies(degrees: float, turned: int, skew: float) -> None:
    read = read_picture(sheet().turned(degrees), networks())
    assert (read.turned, round(read.skew - skew, 1) == 0 or abs(read.skew - skew) <= 0.2) == (turned, True)
    assert sorted(words(read)) == sorted(WORDS)
    assert read.doubtful == ()


def test_the_boxes_of_words_are_those_of_their_ink_on_the_given_page() -> None:
    drawn = sheet()
    read = read_picture(drawn.turned(180), networks())
    found = {"".join(each.text for each in line): line for line in read.lines}
    line = found["1240.50"]
    ((left, top, right, bottom),) = given_boxes(read, [line[0].box], 1.0)
    x0, y0, x1, y1 = drawn.boxes["1240.50"]
    expected = (1000 - x1, 700 - y1, 1000 - x0, 700 - y0)
    assert np.allclose((left, top, right, bottom), expected, atol=4)


@pytest.mark.parametrize("seed", range(2))
def test_noise_and_gray_paper_change_nothing(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(0, 9, (700, 1000))
    gray = np.clip(sheet().turned(1.2).astype(np.float64) * 0.85 + noise, 0, 255).astype(np.uint8)
    assert sorted(words(read_picture(gray, networks()))) == sorted(WORDS)


def test_a_dithered_fax_is_straightened() -> None:
    paper = Image.fromarray((sheet().turned(1.5).astype(np.uint16) * 240 // 255).astype(np.uint8)).resize((2000, 1400))
    read = read_picture(np.asarray(paper.convert("1").convert("L")), networks())
    assert read.skew == pytest.approx(-1.5, abs=0.3)
    assert "1240.50" in words(read)


@pytest.mark.parametrize("gray", [np.full((400, 300), 255, np.uint8), np.zeros((400, 300), np.uint8)])
def test_a_blank_page_has_no_words(gray: np.ndarray) -> None:
    read = read_picture(gray, networks())
    assert read.lines == ()


def test_a_tiny_picture_is_read_without_an_error() -> None:
    assert read_picture(np.full((3, 5), 200, np.uint8), networks()).lines == ()


@pytest.mark.parametrize(("size", "place"), [((24, 420), (20, 100)), ((24, 300), (960, 60)), ((30, 330), (20, 300))])
@pytest.mark.parametrize("degrees", [90, -90])
def test_a_line_up_or_down_the_margin_is_read(degrees: int, size: tuple[int, int], place: tuple[int, int]) -> None:
    page = sheet().picture.copy()
    note = sheet((((0, 0), "A note that runs up the margin"),), size[::-1]).picture.rotate(degrees, expand=True)
    page.paste(note, place)
    read = read_picture(np.asarray(page), networks())
    assert (sorted(words(read)), read.doubtful) == (sorted(WORDS), ())
    ((margin, (line,)),) = [(each, each.lines) for each in read.margins]
    assert [word.text for word in line[:5]] == "A note that runs up".split()
    for left, top, right, bottom in given_boxes(margin, [word.box for word in line], 1.0):
        assert place[0] - 6 < left < right < place[0] + size[0] + 6
        assert place[1] - 6 < top < bottom < place[1] + size[1] + 6


def test_many_lines_are_put_in_order_in_little_time() -> None:
    """Each was once compared with every block above it."""
    word = RecognizedWord("a", (0, 0, 5, 5), 0.0, 1.0)
    lines = [
        (word._replace(box=(20.0 * x, 20.0 * y, 20.0 * x + 5, 20.0 * y + 5)),) for y in range(400) for x in range(20)
    ]
    read = ReadPicture(tuple(lines), (), np.eye(3), 0, 0.0)
    begun = time.thread_time()
    assert len(recognized_glyphs(read, 1.0, 400, 8_000).codes) == len(lines)
    assert time.thread_time() - begun < 3


def test_the_characters_of_a_sloping_word_lie_on_its_slope() -> None:
    word = RecognizedWord("sloping", (10, 20, 150, 40), 0.1, 1.0)
    read = ReadPicture(((word,),), (), np.eye(3), 0, 0.0)
    glyphs = recognized_glyphs(read, 1.0, 200, 100)
    assert np.allclose(glyphs.ink[:, 1], 20 + 2 * np.arange(7))
    assert np.allclose(glyphs.ink[:, 3], 42 + 2 * np.arange(7))


def test_every_text_is_a_line_of_its_own() -> None:
    read = read_picture(sheet().gray, networks())
    assert sorted(" ".join(word.text for word in line) for line in read.lines) == sorted(text for _, text in INVOICE)
