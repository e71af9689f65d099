"""Pages read by the networks that ship: level, skewed, on a side, upside down; noise, blanks, other scripts."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from service.documents.ocr.layout import given_boxes, recognized_glyphs
from service.documents.ocr.page import ReadPicture, read_picture
from service.documents.ocr.recognition import RecognizedWord
from service.documents.ocr.straighten import without_perspective
from tests.support.drawn_sheets import INVOICE, WORDS, Sheet, networks, sheet
from tests.support.scans import scanned

A4 = 1654, 2339
"""Pixels of a page with 200 dots an inch."""
TOP = INVOICE[:7]
"""The first lines of an invoice: they show how it lies as all do, in less time."""
TOP_WORDS = " ".join(text for _, text in TOP).split()
TOP_SHEET = sheet(TOP, (960, 280))


@cache
def read_level() -> ReadPicture:
    return read_picture(sheet().gray, networks())


def words(read: ReadPicture) -> list[str]:
    return [word.text for line in read.lines for word in line]


@pytest.mark.parametrize(
    ("degrees", "turned", "skew"),
    [
        (0, 0, 0),
        (1.5, 0, -1.5),
        (-2, 0, 2),
        (90, 270, 0),
        (180, 180, 0),
        (-90, 90, 0),
        (9, 0, -9),
        (-15, 0, 15),
        (102, 270, -12),
        (167, 180, 13),
        (-28, 0, 28),
    ],
)
def test_a_page_is_read_however_it_lies(degrees: float, turned: int, skew: float) -> None:
    read = read_picture(TOP_SHEET.turned(degrees), networks())
    assert (read.turned, round(read.skew - skew, 1) == 0 or abs(read.skew - skew) <= 0.2) == (turned, True)
    assert sorted(words(read)) == sorted(TOP_WORDS)
    assert read.doubtful == ()


def test_the_boxes_of_words_are_those_of_their_ink_on_the_given_page() -> None:
    drawn = TOP_SHEET
    read = read_picture(drawn.turned(180), networks())
    found = {"".join(each.text for each in line): line for line in read.lines}
    line = found["840.50"]
    ((left, top, right, bottom),) = given_boxes(read, [line[0].box], 1.0)
    x0, y0, x1, y1 = drawn.boxes["840.50"]
    expected = (960 - x1, 280 - y1, 960 - x0, 280 - y0)
    assert np.allclose((left, top, right, bottom), expected, atol=4)


@pytest.mark.parametrize("degrees", [0, 14])
def test_a_page_that_a_camera_saw_from_aside_is_read_in_its_rows(degrees: float) -> None:
    """Its right side is further away by an eighth."""
    drawn, away = sheet(size=(1000, 480)), -0.125 / 1000
    seen = (0.875, 0, 0, 240 * away, 1, 0, away, 0)
    picture = drawn.picture.transform((1000, 480), Image.Transform.PERSPECTIVE, seen, fillcolor=255)
    gray = Sheet(picture, {}).turned(degrees)
    glyphs = recognized_glyphs(read_picture(gray, networks()), 1.0, *gray.shape[::-1])
    text = "".join(map(chr, glyphs.codes))
    assert text == "".join(WORDS)
    if not degrees:
        left, top, _, bottom = drawn.boxes["840.50"]
        shown = [240 + (y - 240) * (1 + away * left / 0.9) for y in (top, bottom)]
        assert glyphs.ink[text.index("840.50"), 1::2] == pytest.approx(shown, abs=4)


@pytest.mark.parametrize("apart", [0.1, 0.5, 2, 10])
def test_words_of_one_row_are_no_page_seen_from_aside(apart: float) -> None:
    """Each slopes by itself, by as much as its height differs from the others'."""
    lines = np.array([(350 + apart * at, 0.012 * (at - 2.5), 90) for at in range(6)], np.float64)
    assert without_perspective(np.asarray(sheet().picture), lines) is None


@pytest.mark.parametrize("seed", range(2))
def test_noise_and_gray_paper_change_nothing(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(0, 9, (280, 960))
    gray = np.clip(TOP_SHEET.turned(1.2).astype(np.float64) * 0.85 + noise, 0, 255).astype(np.uint8)
    assert sorted(words(read_picture(gray, networks()))) == sorted(TOP_WORDS)


def test_a_dithered_fax_is_straightened() -> None:
    paper = Image.fromarray((TOP_SHEET.turned(1.5).astype(np.uint16) * 240 // 255).astype(np.uint8)).resize((1920, 560))
    read = read_picture(np.asarray(paper.convert("1").convert("L")), networks())
    assert read.skew == pytest.approx(-1.5, abs=0.3)
    assert "840.50" in words(read)


@pytest.mark.parametrize("gray", [np.full((400, 300), 255, np.uint8), np.zeros((400, 300), np.uint8)])
def test_a_blank_page_has_no_words(gray: np.ndarray) -> None:
    read = read_picture(gray, networks())
    assert read.lines == ()


@pytest.mark.parametrize(
    ("text", "degrees", "size"),
    [
        ("Anna", 0, A4),
        ("Anna", 180, (1200, 1600)),
        ("Anna", 270, A4),
        ("Confidential", 0, (1200, 1600)),
        ("Confidential", 180, A4),
        ("Confidential", 270, (1200, 1600)),
        ("12 March 2026", 0, A4),
        ("12 March 2026", 180, (1200, 1600)),
        ("12 March 2026", 270, A4),
    ],
)
def test_a_word_that_is_alone_on_its_page_is_read(text: str, degrees: int, size: tuple[int, int]) -> None:
    """Each with each of the two others."""
    read = read_picture(sheet((((900, 330), text),), size).turned(degrees), networks())
    assert (" ".join(words(read)), read.doubtful) == (text, ())


@pytest.mark.parametrize(("text", "noise"), [("Confidential", 4), ("Anna", 8), ("Confidential", 16), ("Anna", 16)])
def test_a_word_that_is_alone_on_noisy_paper_is_read(text: str, noise: float) -> None:
    paper = Image.new("L", (1200, 1600), 255)
    paper.paste(scanned(sheet((((640, 330), text),)).picture, noise=noise), (100, 400))
    assert words(read_picture(np.asarray(paper), networks())) == [text]


@pytest.mark.parametrize("size", [(500, 700), (700, 1000)])
@pytest.mark.parametrize(("noise", "light"), [(6, 0.95), (8, 0.9), (20, 0.8)])
def test_noisy_paper_is_no_character_of_the_size_of_the_page(size: tuple[int, int], noise: float, light: float) -> None:
    read = read_picture(np.asarray(scanned(Image.new("L", size, 255), noise=noise, light=light)), networks())
    assert (read.lines, read.doubtful, read.margins, read.turned) == ((), (), (), 0)


@pytest.mark.parametrize(("text", "points"), [("Total", 26), ("INVOICE", 200), ("A", 300), ("PAID", 320)])
@pytest.mark.parametrize("noise", [0, 8])
def test_letters_that_fill_their_picture_are_read(text: str, points: int, noise: float) -> None:
    font = ImageFont.load_default(points)
    width, height = map(int, font.getbbox(text)[2:])
    picture = Image.new("L", (width + points // 4, height + points // 4), 255)
    ImageDraw.Draw(picture).text((points // 8, points // 8), text, fill=0, font=font)
    shown = scanned(picture, noise=noise) if noise else picture
    assert words(read_picture(np.asarray(shown), networks())) == [text]


def strip(lines: list[str], size: tuple[int, int], points: int = 24) -> Sheet:
    """A long picture with a line of print at equal distances."""
    picture, font = Image.new("L", size, 255), ImageFont.load_default(points)
    for number, line in enumerate(lines):
        ImageDraw.Draw(picture).text((20, 10 + number * size[1] // len(lines)), line, fill=0, font=font)
    return Sheet(picture, {})


@pytest.mark.parametrize(
    ("size", "points", "count", "degrees"),
    [
        ((280, 5200), 24, 90, 0),
        ((280, 1900), 24, 30, 5),
        ((280, 1900), 24, 30, 90),
        ((500, 4000), 24, 3, 0),
        ((900, 2260), 10, 12, 0),
    ],
)
def test_a_long_picture_is_read_to_its_end(size: tuple[int, int], points: int, count: int, degrees: float) -> None:
    """It is seen in parts: no line is read twice, none is cut where parts meet."""
    lines = [f"Tea {number:02d} at {number}.50" for number in range(count)]
    read = read_picture(strip(lines, size, points).turned(degrees), networks())
    found = sorted(read.lines, key=lambda line: line[0].box[1])
    assert [" ".join(word.text for word in line) for line in found] == lines
    assert read.doubtful == ()


def test_a_line_over_the_parts_of_a_wide_picture_is_one() -> None:
    text = " ".join(f"word{number:02d}" for number in range(30))
    read = read_picture(strip([text], (3200, 60)).gray, networks())
    assert [[word.text for word in line] for line in read.lines] == [text.split()]


def test_a_tiny_picture_is_read_without_an_error() -> None:
    assert read_picture(np.full((3, 5), 200, np.uint8), networks()).lines == ()


@pytest.mark.parametrize(("size", "place"), [((24, 420), (20, 30)), ((24, 300), (960, 30)), ((30, 330), (20, 140))])
@pytest.mark.parametrize("degrees", [90, -90])
def test_a_line_up_or_down_the_margin_is_read(degrees: int, size: tuple[int, int], place: tuple[int, int]) -> None:
    page = sheet(TOP, (1000, 480)).picture
    note = sheet((((0, 0), "A note that runs up the margin"),), size[::-1]).picture.rotate(degrees, expand=True)
    page.paste(note, place)
    read = read_picture(np.asarray(page), networks())
    assert (sorted(words(read)), read.doubtful) == (sorted(TOP_WORDS), ())
    ((margin, (line,)),) = [(each, each.lines) for each in read.margins]
    assert [word.text for word in line[:5]] == "A note that runs up".split()
    for left, top, right, bottom in given_boxes(margin, [word.box for word in line], 1.0):
        assert place[0] - 6 < left < right < place[0] + size[0] + 6
        assert place[1] - 6 < top < bottom < place[1] + size[1] + 6


def test_many_lines_are_put_in_order_in_little_time() -> None:
    """Each was once compared with every block above it."""
    word = RecognizedWord("a", (0, 0, 5, 5), 0.0, 1.0, 1.0)
    lines = [
        (word._replace(box=(20.0 * x, 20.0 * y, 20.0 * x + 5, 20.0 * y + 5)),) for y in range(400) for x in range(20)
    ]
    read = ReadPicture(tuple(lines), (), np.eye(3), 0, 0.0)
    begun = time.thread_time()
    assert len(recognized_glyphs(read, 1.0, 400, 8_000).codes) == len(lines)
    assert time.thread_time() - begun < 3


def test_the_characters_of_a_sloping_word_lie_on_its_slope() -> None:
    word = RecognizedWord("sloping", (10, 20, 150, 40), 0.1, 1.0, 1.0)
    read = ReadPicture(((word,),), (), np.eye(3), 0, 0.0)
    glyphs = recognized_glyphs(read, 1.0, 200, 100)
    assert np.allclose(glyphs.ink[:, 1], 20 + 2 * np.arange(7))
    assert np.allclose(glyphs.ink[:, 3], 42 + 2 * np.arange(7))


def test_every_text_is_a_line_of_its_own() -> None:
    read = read_level()
    assert sorted(" ".join(word.text for word in line) for line in read.lines) == sorted(text for _, text in INVOICE)
