"""Custom attributes of SageMaker: pairs as its clients write them, beside text of their own."""

from __future__ import annotations

import pytest

from service.api.adapters.sagemaker import read_attributes


@pytest.mark.parametrize(
    ("attributes", "options"),
    [
        ("", {}),
        ("c000b4f9-df62-4c85-a0bf-7c525f9104a4", {}),
        ("aggregation=simple&labels=ORG&trace=7", {"aggregation": "simple", "labels": "ORG", "trace": "7"}),
        ("labels=ORG,DATE", {"labels": "ORG,DATE"}),
        ("labels=ORG,trace=7", {"labels": "ORG", "trace": "7"}),
        ("trace-7,labels=ORG,DATE,fields=true", {"labels": "ORG,DATE", "fields": "true"}),
        ("trace-7; labels = ORG, DATE; trace-8", {"labels": "ORG, DATE"}),
        ("tfs-model-name=half,min_score=ORG:0.5,0.2", {"tfs-model-name": "half", "min_score": "ORG:0.5,0.2"}),
        ("labels=ORG%2CDATE&model=a%40v1", {"labels": "ORG,DATE", "model": "a@v1"}),
        ("labels=ORG,trace-7", {"labels": "ORG,trace-7"}),  # a label that may be mistyped
    ],
)
def test_attributes_are_divided_as_clients_write_them(attributes: str, options: dict[str, str]) -> None:
    assert read_attributes(attributes) == options
