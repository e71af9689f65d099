from __future__ import annotations

import json
import math

import numpy as np
import pytest

from service.api.options import ExtractOptions as ExtractOptionsOfService
from service.api.options import Options, option_names, read_options
from service.api.problems import STATUS
from service.api.redaction.schemas import RedactOptions as RedactOptionsOfService
from service.client.errors import GleanerError, Overloaded, RequestError, ServiceError, kind_of
from service.client.requests import (
    CHANCE,
    FIRST_SECONDS,
    BoxedWord,
    ExtractOptions,
    PageOfWords,
    PagesSource,
    RedactOptions,
    RetryBudget,
    TextSource,
    request_of,
)
from service.core import errors

BUDGET = RetryBudget(seconds=60.0, most_tries=5, most_tries_unanswered=3)


@pytest.mark.parametrize(
    ("tries", "spent", "error", "chance", "expected"),
    [
        (1, 0.0, Overloaded("x", retry_after_seconds=7.0), 0.0, 7.0),
        (1, 0.0, Overloaded("x", retry_after_seconds=7.0), 1.0, 7.0 * (1 + CHANCE)),
        (1, 0.0, Overloaded("x"), 0.0, FIRST_SECONDS),
        (3, 0.0, Overloaded("x"), 0.0, 4 * FIRST_SECONDS),
        (1, 0.0, None, 0.0, FIRST_SECONDS),
        (3, 0.0, None, 0.0, None),
        (5, 0.0, Overloaded("x", retry_after_seconds=1.0), 0.0, None),
        (1, 54.0, Overloaded("x", retry_after_seconds=7.0), 0.0, None),
        (1, 0.0, RequestError("x"), 0.0, None),
        (1, 0.0, ServiceError("x"), 0.0, None),
    ],
)
def test_when_to_try_again(
    tries: int, spent: float, error: GleanerError | None, chance: float, expected: float | None
) -> None:
    assert BUDGET.wait_seconds(tries, spent, error, chance) == expected


def test_the_class_of_an_error_is_that_of_the_service() -> None:
    """As the service's own tree has it, from the status alone."""
    for code, status in STATUS.items():
        (served,) = [each for each in errors.GleanerError.__subclasses__() if issubclass(errors.BY_CODE[code], each)]
        assert kind_of(status).__name__ == served.__name__, code


@pytest.mark.parametrize(
    ("client", "served"), [(ExtractOptions, ExtractOptionsOfService), (RedactOptions, RedactOptionsOfService)]
)
def test_the_options_are_those_of_the_service(client: type, served: type[Options]) -> None:
    assert set(client.__annotations__) == set(option_names(served)) - {"raw"}


def test_labels_with_descriptions_are_sent_as_an_object() -> None:
    labels = {"total": {"description": "what is due", "kind": "money"}, "person": ""}
    texts = request_of("/extract", ["a"], {"labels": labels}, batch=False)
    assert json.loads(texts.content)["labels"] == labels
    files = request_of("/extract", [b"a"], {"labels": labels}, batch=False)
    assert json.loads(files.fields["labels"]) == labels


def test_a_label_with_a_comma_stays_whole_beside_a_file() -> None:
    sent = request_of("/extract", [b"a"], {"labels": ["city, state", "date"]}, batch=False).fields
    assert read_options({"labels": sent["labels"]}).labels == ["city, state", "date"]


def test_pages_of_words_are_sent_in_place_of_a_text() -> None:
    page = PageOfWords(10, 5, [BoxedWord("1 000", (0, 0, 9.5, 1))], image=b"a")
    sent = {"width": 10, "height": 5, "words": [{"text": "1 000", "box": [0, 0, 9.5, 1]}], "image": "YQ=="}
    alone = request_of("/extract", [PagesSource([page])], {"fields": True}, batch=False)
    assert json.loads(alone.content) == {"pages": [sent], "fields": True}
    batch = request_of("/extract", [PagesSource([sent], "p"), TextSource("a", "t"), "b"], {}, batch=True)
    documents = [{"pages": [sent], "id": "p"}, {"text": "a", "id": "t"}, {"text": "b"}]
    assert json.loads(batch.content) == {"documents": documents}


def test_pages_may_have_numbers_of_numpy_and_pictures_as_bytes() -> None:
    page = PageOfWords(np.float32(10), np.int64(5), [BoxedWord("a", np.array([0, 0, 9.5, 1]))])  # type: ignore[arg-type]
    sent = {"width": 10, "height": 5, "words": [{"text": "a", "box": [0, 0, 9.5, 1]}]}
    source = PagesSource([page, {**sent, "image": b"a"}])
    made = request_of("/extract", [source], {}, batch=False)
    assert json.loads(made.content) == {"pages": [sent, {**sent, "image": "YQ=="}]}


@pytest.mark.parametrize("side", [math.nan, math.inf])
def test_a_box_of_no_finite_number_is_refused_before_it_is_sent(side: float) -> None:
    page = PageOfWords(10, 5, [BoxedWord("a", (0, 0, side, 1))])
    with pytest.raises(ValueError, match="side of a box, is not finite"):
        request_of("/extract", [PagesSource([page])], {}, batch=False)
    with pytest.raises(TypeError, match="object"):
        request_of("/extract", [PagesSource([{"words": object()}])], {}, batch=False)


def test_one_page_in_place_of_a_list_is_said() -> None:
    page = PageOfWords(10, 5, [])
    for one in (page, page.json()):
        with pytest.raises(TypeError, match="list of pages"):
            request_of("/extract", [PagesSource(one)], {}, batch=False)  # type: ignore[arg-type]
