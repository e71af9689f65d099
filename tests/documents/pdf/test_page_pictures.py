"""Pictures of a page: parts that touch are one, those that hold no word are none, and what lies beside it is cut."""

from __future__ import annotations

import numpy as np
import pytest

from service.documents.pdf.page_pictures import MOST_PLACES, joined_boxes

PAGE = (600.0, 800.0)
Boxes = list[tuple[float, float, float, float]]


def joined(boxes: Boxes) -> Boxes:
    return [(a, b, c, d) for a, b, c, d in joined_boxes(np.array(boxes, np.float32).reshape(-1, 4), PAGE).tolist()]


@pytest.mark.parametrize(
    ("boxes", "found"),
    [
        ([], []),
        ([(50, 100, 80, 108)], [(50, 100, 80, 108)]),
        ([(50, 100, 58, 130)], [(50, 100, 58, 130)]),
        ([(50, 100, 70, 120)], []),
        ([(50, 100, 250, 104)], []),
        ([(50, 100, 250, 104), (50, 104, 250, 108)], [(50, 100, 250, 108)]),
        ([(50, 100, 70, 120), (71, 100, 91, 120)], [(50, 100, 91, 120)]),
        ([(50, 100, 150, 160), (200, 100, 300, 160)], [(50, 100, 150, 160), (200, 100, 300, 160)]),
        ([(-50, -20, 40, 30), (700, 100, 900, 200)], [(0, 0, 40, 30)]),
        ([(200, 300, 300, 340), (50, 100, 150, 160)], [(50, 100, 150, 160), (200, 300, 300, 340)]),
        ([(float("nan"), 0, 10, 10)], []),
    ],
)
def test_places_are_of_pictures_that_hold_a_word(boxes: Boxes, found: Boxes) -> None:
    assert joined(boxes) == found


def test_of_many_pictures_the_nearest_become_one() -> None:
    many = [
        (60.0 * column, 40.0 * row, 60.0 * column + 50, 40.0 * row + 30) for column in range(9) for row in range(15)
    ]
    places = joined(many)
    assert 1 <= len(places) <= MOST_PLACES
    assert (min(each[0] for each in places), max(each[2] for each in places)) == (0, 530)


def test_a_mosaic_of_very_many_parts_is_one_picture() -> None:
    parts = [(100.0 + column, 100.0 + row, 101.0 + column, 101.0 + row) for column in range(60) for row in range(20)]
    assert joined(parts) == [(100, 100, 160, 120)]
