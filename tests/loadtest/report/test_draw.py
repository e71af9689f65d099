"""The SVG of a chart: text as text, a label for screen readers, colours of the theme, and no ids that could collide."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from loadtest.report.chart import Band, Bars, Chart, Series
from loadtest.report.draw import Drawing, draw
from loadtest.report.plots import plots
from loadtest.report.theme import VARIABLES
from tests.support.load_result import made_result

NASTY = '</svg><script>$x$ & "y"'
CHART = Chart(
    "k",
    'Latency "over" <time>',
    "A caption.",
    "seconds",
    "ms",
    (Series(NASTY, ((0, 1), (10, 3)), "blue"),),
    bands=(Band(0, 10, NASTY),),
    events=((2.0, NASTY),),
)


def texts(drawing: Drawing) -> list[str]:
    found = ElementTree.fromstring(drawing.svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(each.itertext()) for each in found]


def test_text_stays_text_and_names_from_outside_are_only_text() -> None:
    shown = texts(draw(CHART))
    assert {"seconds", "ms", "0", "10"} <= set(shown)
    assert shown.count(NASTY) == 3


def test_a_drawing_is_an_image_with_a_label_of_title_and_caption() -> None:
    element = ElementTree.fromstring(draw(CHART).svg)
    assert element.attrib["role"] == "img"
    assert element.attrib["aria-label"] == "Latency  over   time . A caption."
    assert element.attrib["id"] == "k"


def test_colours_are_the_themes_variables_in_a_page_and_plain_in_a_file() -> None:
    themed, plain = draw(CHART).svg, draw(CHART, themed=False).svg
    assert not set(re.findall(r"#[0-9a-f]{6}", themed)) & set(VARIABLES)
    assert {"var(--blue)", "var(--ink)", "var(--muted)", "var(--grid)"} <= set(re.findall(r"var\(--\w+\)", themed))
    assert "var(" not in plain
    assert "#2f6db3" in plain


def test_the_plots_area_is_where_the_frame_is_drawn() -> None:
    found = draw(CHART)
    width, height = map(float, ElementTree.fromstring(found.svg).attrib["viewBox"].split()[2:])
    assert (found.low, found.high) == (0.0, 10.0)
    assert 0 < found.left < found.right <= width
    assert 0 < found.top < found.bottom < height
    _whole, frame, *_ = re.findall(r'd="M ([\d.]+) ([\d.]+) \nL ([\d.]+) [\d.]+ \nL [\d.]+ ([\d.]+) ', found.svg)
    assert list(map(float, frame)) == pytest.approx([found.left, found.bottom, found.right, found.top], abs=1e-3)


def test_no_id_occurs_twice_in_all_charts_of_a_report() -> None:
    ids = [each for chart in plots(made_result()) for each in re.findall(r'\bid="([^"]+)"', draw(chart).svg)]
    assert len(ids) > 14
    assert len(ids) == len(set(ids))


def test_many_long_names_make_rows_of_the_legend_and_stay_inside() -> None:
    names = [f"a_rather_long_reason_{number}" for number in range(7)]
    series = tuple(Series(name, ((0, 1), (10, 3)), "blue") for name in names)
    few, many = draw(CHART), draw(Chart("m", "t", "c.", "x", "y", series))
    assert many.top > few.top
    places = re.findall(r'x="([\d.]+)" y="([\d.]+)"[^>]*>a_rather_long_reason', many.svg)
    assert len(places) == 7
    assert all(float(x) + 5 * len(names[0]) < 676.8 and float(y) < many.top for x, y in places)


def test_bars_grow_with_their_rows() -> None:
    def height(rows: int) -> float:
        bars = Bars("k", "t", "c.", "ms", ("phase",) * rows, (("parse", "gold", (1.0,) * rows),))
        return float(ElementTree.fromstring(draw(bars).svg).attrib["viewBox"].split()[3])

    assert height(8) > height(2) + 100
