"""Whether a value is right, however it is written."""

from __future__ import annotations

import pytest

from service.evaluation.field_truth import is_right


@pytest.mark.parametrize(
    ("role", "text", "truth", "right"),
    [
        ("total_amount", "EUR 1,253.07", "1253.07", True),
        ("total_amount", "9,00 €", "9.00", True),
        ("total_amount", "9.00", "9", True),
        ("total_amount", "9.01", "9.00", False),
        ("total_amount", "nine", "9.00", False),
        ("total_amount", "nine", "nine", True),
        ("invoice_date", "5. Juni 2018", "20180605", True),
        ("invoice_date", "05.06.2018", "2018-06-05", True),
        ("invoice_date", "03/04/2018", "20180403", True),
        ("invoice_date", "05/06/18", "05/06/2018", True),
        ("invoice_date", "05.06.2018", "20180606", False),
        ("invoice_date", "tomorrow", "Tomorrow", True),
        ("supplier_name", "ACME  GmbH.", "Acme GmbH", True),
        ("supplier_name", "Acme", "Acme GmbH", False),
        ("iban", "DE89 3704", "DE893704", True),
    ],
)
def test_values_are_compared_by_what_they_mean(role: str, text: str, truth: str, right: bool) -> None:
    assert is_right(role, text, ["something else", truth]) is right
