"""Scores of answers against labelled documents, and the report of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from service.evaluation.labelled_documents import LabelledDocument, LabelledSet, LabelledSpan, LabelScheme
from service.evaluation.report import EvaluationReport, all_together, calibration, set_report
from service.evaluation.scoring import ScoredAnswer, SetScores, from_answer, is_right, score_set

TEXT = "Acme GmbH total 9.00 Anna"
SCHEME = LabelScheme({}, {"SUPPLIER_NAME": "ORGANIZATION", "TOTAL_AMOUNT": "MONEY"})


def span(label: str, part: str, score: float = 1.0) -> LabelledSpan:
    return LabelledSpan(TEXT.index(part), TEXT.index(part) + len(part), label, score)


def one_set(*documents: LabelledDocument) -> LabelledSet:
    return LabelledSet("receipt_a", documents, frozenset({"SUPPLIER_NAME", "TOTAL_AMOUNT"}))


def document(group: str = "g", language: str = "en", **fields: tuple[str, ...]) -> LabelledDocument:
    truth = (span("SUPPLIER_NAME", "Acme GmbH"), span("TOTAL_AMOUNT", "9.00"))
    return LabelledDocument("0", TEXT, truth, group, language, "receipt", fields)


def scores() -> SetScores:
    found = one_set(document(total_amount=("9",), supplier_name=("Other",), address=("x",)), document("h", "de"))
    answers = [
        ScoredAnswer(
            (span("ORGANIZATION", "Acme GmbH", 0.8), span("TOTAL_AMOUNT", "9.00", 0.9), span("PERSON", "Anna")),
            {"total_amount": "9.00"},
            {"total_amount": "8.00", "supplier_name": "Other"},
            tokens=7,
        ),
        ScoredAnswer((span("SUPPLIER_NAME", "Acme", 0.6),)),
    ]
    return score_set(found, answers, SCHEME)


def test_only_labels_that_the_set_annotates_count() -> None:
    fine = scores().fine.score()
    assert (fine.gold, fine.found, fine.right) == (4, 2, 1)


def test_coarse_scores_take_a_general_label_for_a_special_one() -> None:
    coarse = scores().coarse.score()
    assert (coarse.gold, coarse.found, coarse.right) == (4, 3, 2)


def test_spans_are_counted_by_label_language_and_kind() -> None:
    found = scores()
    assert {label: tally.score().f1 for label, tally in found.labels.items()} == {
        "SUPPLIER_NAME": 0.0,
        "TOTAL_AMOUNT": pytest.approx(2 / 3),
    }
    assert {name: tally.score().gold for name, tally in found.languages.items()} == {"en": 2, "de": 2}
    assert found.kinds["receipt"].score().gold == 4
    assert found.scored == [(0.9, True), (0.6, False)]


def test_fields_are_compared_with_and_without_the_choice() -> None:
    roles = {role: (each.truth, each.right, each.right_by_label) for role, each in scores().roles.items()}
    assert roles == {"total_amount": (1, 1, 0), "supplier_name": (1, 0, 1)}


def report() -> EvaluationReport:
    found = scores()
    sets = [set_report(found), set_report(found, notes=["a note"])]
    return all_together("m@stable", "sha256:0", sets, [found, found], tokens=14, seconds=1.5)


def test_a_report_adds_up_and_is_json() -> None:
    found = report()
    assert (found.documents, found.sets[0].documents) == (4, 2)
    assert found.labels["TOTAL_AMOUNT"].gold == 4
    assert found.errors == {**dict.fromkeys(found.errors, 0), "right": 2, "short": 2, "missed": 4}
    assert found.fields["total_amount"].truth == 2
    assert sum(each.entities for each in found.calibration.bins) == 4
    assert msgspec.json.decode(msgspec.json.encode(found), type=EvaluationReport) == found


def test_a_set_of_few_groups_says_that_it_has_no_interval() -> None:
    first, second = report().sets
    assert first.notes == ["2 groups: no interval"]
    assert second.notes == ["2 groups: no interval", "a note"]
    assert first.rates.f1_low is None


def test_an_answer_of_the_service_is_read() -> None:
    def entity(label: str, text: str, score: float) -> dict[str, Any]:
        return {"label": label, "text": text, "start": 0, "end": 4, "score": score}

    entities = [entity("IBAN", "DE1", 0.5), entity("IBAN", "DE2", 0.9), entity("IBAN", "DE3", 0.7)]
    found = from_answer({"entities": entities, "fields": {"roles": {"iban": {"text": "DE3"}}}, "tokens": 5})
    assert (found.fields, found.by_label, found.tokens, len(found.spans)) == ({"iban": "DE3"}, {"iban": "DE2"}, 5, 3)
    assert from_answer({"entities": [], "fields": None, "tokens": 0}).fields == {}


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


def test_scores_that_mean_what_they_say_have_no_error() -> None:
    scored = [(0.75, number % 4 < 3) for number in range(100)]
    found = calibration(scored)
    assert found.error == pytest.approx(0.0)
    assert [(each.above, each.entities, each.right) for each in found.bins] == [(0.7, 100, 0.75)]


def test_the_error_is_the_mean_distance_by_entities() -> None:
    found = calibration([(1.0, False)] * 3 + [(0.25, True)])
    assert found.error == pytest.approx((3 * 1.0 + 1 * 0.75) / 4)
    assert [each.above for each in found.bins] == [0.2, 0.9]
