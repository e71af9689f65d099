from __future__ import annotations

import pytest

from service.core.errors import DocumentTooLarge
from service.documents.limits import DocumentLimits


def test_a_document_at_the_limit_passes() -> None:
    DocumentLimits(max_pages=3).check_pages(3)


def test_the_error_names_the_limit_and_the_excess() -> None:
    with pytest.raises(DocumentTooLarge, match=r"1,250 pages; the limit is 1,000: 250 too many"):
        DocumentLimits(max_pages=1000).check_pages(1250)
