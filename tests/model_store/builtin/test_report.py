"""The table of scores: a line for each set, and one for all spans together, which weighs each span alike."""

from __future__ import annotations

from model_store.builtin.training.evaluation.report import report, report_labels
from model_store.builtin.training.examples import Example
from model_store.builtin.training.labels import Span


class FirstWord:
    """Takes the first word of each text for a person."""

    def tag(self, text: str) -> list[Span]:
        return [Span(0, text.index(" "), "PERSON")]


def example(text: str, *people: str) -> Example:
    spans = tuple(Span(text.index(name), text.index(name) + len(name), "PERSON") for name in people)
    return Example(text, spans, "set", "group")


def test_each_set_has_a_line_and_all_spans_have_one_together() -> None:
    right, wrong = example("Ada came.", "Ada"), example("Then Bob and Eve left.", "Bob", "Eve")
    lines = list(
        report(FirstWord(), {"all right": [right, right], "all wrong": [wrong], "mixed": [right, wrong]}, most=2)
    )
    assert lines[2:] == [
        "| all right | 2 | 2 | 1.00 | 1.00 | 1.00 | 1.00 |",
        "| all wrong | 1 | 2 | 0.00 | 0.00 | 0.00 | 0.00 |",
        "| mixed | 2 | 3 | 0.50 | 0.33 | 0.40 | 0.40 |",
        "| all spans together | 5 | 7 | 0.6000 | 0.4286 | 0.5000 | 0.5000 |",
    ]


def test_each_label_that_a_set_annotates_has_a_line_of_its_own() -> None:
    text = example("Ada saw Bob.", "Ada", "Bob")
    silent = Example("Ada came.", (), "set", "group", frozenset({"EMAIL"}))
    lines = list(report_labels(FirstWord(), {"some": [text, text], "none": [silent]}, ["PERSON", "URL"]))
    assert lines[2:] == ["| some | PERSON | 2 | 4 | 1.00 | 0.50 | 0.67 |"]
