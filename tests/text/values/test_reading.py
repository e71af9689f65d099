from __future__ import annotations

import pytest

from service.core.decoding.entities import Entity
from service.core.decoding.value import ValueKind
from service.core.labels.label_set import Label, LabelSet
from service.core.score_limits import ScoreLimits
from service.text.values.context import DocumentContext
from service.text.values.reading import read_values, reading_labels


@pytest.mark.parametrize(
    ("label", "text", "kind", "value"),
    [
        (Label("invoice date"), "3 May 2024", ValueKind.DATE, "2024-05-03"),
        (Label("date of birth"), "3 May 2024", ValueKind.DATE, "2024-05-03"),
        (Label("total amount"), "EUR 1,250.00", ValueKind.MONEY, "1250.00 EUR"),
        (Label("e-mail"), "Jane@X.org", ValueKind.EMAIL, "Jane@x.org"),
        (Label("person"), "Jane  Doe", ValueKind.TEXT, "Jane Doe"),
        (Label("paid on", kind=ValueKind.DATE), "3 May 2024", ValueKind.DATE, "2024-05-03"),
        (Label("date", kind=ValueKind.TEXT), "3 May 2024", ValueKind.TEXT, "3 May 2024"),
        (Label("due date"), "soon", ValueKind.TEXT, "soon"),
    ],
)
def test_values_are_read_by_what_the_request_or_the_name_says(
    label: Label, text: str, kind: ValueKind, value: str
) -> None:
    labels = LabelSet.of([label], ScoreLimits())
    entity = Entity(label.name, text, 0, len(text), 0.9)
    (found,) = read_values(DocumentContext(text), [entity], reading_labels(labels))
    assert (found.kind, found.text) == (kind, value)


def test_a_model_with_labels_of_its_own_is_read_by_them() -> None:
    assert reading_labels(None) == {}
