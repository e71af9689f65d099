"""A text that was left out is empty, but its length is known."""

from __future__ import annotations

from service.documents.left_out_text import LeftOutText, characters_of


def test_its_length_is_that_of_the_text_that_was_sent() -> None:
    assert (LeftOutText(7), characters_of(LeftOutText(7))) == ("", 7)
    assert characters_of("Größe") == 5
