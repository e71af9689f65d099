from __future__ import annotations

import numpy as np

from service.documents.document import Document, Layout, Page


def laid_out() -> Document:
    """Two lines, "ab c" and "de", of characters ten points wide and high; blanks have no box."""
    nothing = [np.nan] * 4
    first = [[0, 0, 10, 10], [10, 0, 20, 10], nothing, [30, 0, 40, 10], nothing]
    second = [[0, 12, 10, 22], [10, 12, 20, 22]]
    layout = Layout(np.array(first + second, np.float32), np.array([0, 5], np.int32))
    return Document("ab c\nde", (Page(1, 0, 4), Page(2, 5, 7)), layout)


def test_a_span_within_a_line_has_one_box() -> None:
    assert laid_out().boxes(0, 4) == [(0, 0, 40, 10)]


def test_a_span_over_two_lines_has_a_box_for_each() -> None:
    assert laid_out().boxes(3, 6) == [(30, 0, 40, 10), (0, 12, 10, 22)]


def test_a_document_without_layout_has_no_boxes_and_no_pages() -> None:
    assert Document("text").boxes(0, 4) == []
    assert Document("text").page_at(0) is None


def test_every_offset_has_its_page() -> None:
    assert [laid_out().page_at(offset) for offset in (0, 3, 5, 6)] == [1, 1, 2, 2]
