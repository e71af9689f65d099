"""Places touch what overlaps them."""

from __future__ import annotations

import pytest

from service.text.written.places import Places


@pytest.mark.parametrize(
    ("span", "touches"),
    [
        ((0, 2), False),
        ((0, 3), True),
        ((3, 4), True),
        ((4, 9), True),
        ((5, 7), False),
        ((6, 8), True),
        ((9, 12), False),
    ],
)
def test_a_span_touches_what_it_overlaps(span: tuple[int, int], touches: bool) -> None:
    assert Places([(7, 9), (2, 5)]).touch(span) is touches
    assert not Places([]).touch(span)
