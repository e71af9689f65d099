"""Scores of answers against labelled documents, and the report of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from service.evaluation.labelled_documents import LabelledDocument, LabelledSet, LabelledSpan, LabelScheme
from service.evaluation.report import EvaluationReport, all_together, calibration, role_scores, set_report
from service.evaluation.scoring import RoleAnswer, ScoredAnswer, SetScores, from_answer, is_right, score_set
from service.evaluation.tables import tables

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
            {"total_amount": RoleAnswer("9.00", 0.9), "kind": RoleAnswer("receipt")},
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
    fields = {"kind": "invoice", "currency": "EUR", "roles": {"iban": {"text": "DE3", "value": "DE3", "score": 0.7}}}
    found = from_answer({"entities": entities, "fields": fields, "tokens": 5})
    assert (found.by_label, found.tokens, len(found.spans)) == ({"iban": "DE2"}, 5, 3)
    roles = {"kind": RoleAnswer("invoice"), "currency": RoleAnswer("EUR"), "iban": RoleAnswer("DE3", 0.7)}
    assert found.fields == roles
    assert from_answer({"entities": [], "fields": None, "tokens": 0}).fields == {"kind": RoleAnswer("none")}


@pytest.mark.parametrize(
    ("role", "choice", "shown"),
    [
        ("total_amount", {"text": "EUR 9,-", "number": "9"}, "9"),
        ("total_amount", {"text": "nine", "value": "nine"}, "nine"),
        ("due_date", {"text": "5 June 2026", "value": "2026-06-05"}, "2026-06-05"),
        ("due_date", {"text": "05/06/26", "value": "05/06/26"}, "05/06/26"),
        ("invoice_id", {"text": "RE 17", "value": "RE17"}, "RE 17"),
        ("invoice_id", {"text": "", "value": "RE17"}, "RE17"),
    ],
)
def test_amounts_and_dates_are_compared_in_their_standard_form(role: str, choice: dict[str, Any], shown: str) -> None:
    fields = {"kind": "invoice", "roles": {role: {"score": 0.9, "value": "", **choice}}}
    answer = from_answer({"entities": [], "fields": fields, "tokens": 0}).fields
    assert answer is not None
    assert answer[role].text == shown


@pytest.mark.parametrize(
    ("role", "choice", "is_marked"),
    [
        ("iban", {"score": 0.5}, False),
        ("iban", {"score": 0.49}, True),
        ("iban", {"score": 0.9, "valid": False}, True),
        ("due_date", {"score": 0.9, "ambiguous": ["2026-05-06", "2026-06-05"]}, True),
        ("total_amount", {"score": 0.9}, True),
    ],
)
def test_a_value_that_the_answer_doubts_is_marked(role: str, choice: dict[str, Any], *, is_marked: bool) -> None:
    roles = {role: {"text": "x", "value": "x", **choice}}
    fields = {"kind": "invoice", "roles": roles, "checks": [{"holds": True}, {"holds": False}]}
    answer = from_answer({"entities": [], "fields": fields, "tokens": 0}).fields
    assert answer is not None
    assert answer[role].is_marked is is_marked


def test_a_wrong_value_is_silent_marked_or_an_invention() -> None:
    truth: dict[str, tuple[str, ...]] = {
        "iban": (),
        "bic": (),
        "tax_id": ("1",),
        "due_date": ("2026-06-05",),
        "kind": ("invoice", "receipt"),
    }
    answer = {
        "iban": RoleAnswer("DE1", 0.9),
        "tax_id": RoleAnswer("2", 0.3, is_marked=True),
        "kind": RoleAnswer("receipt"),
    }
    found = score_set(one_set(replace(document(), fields=truth)), [ScoredAnswer((), answer)], SCHEME)
    states = {role: (each.right, each.silent, each.marked, each.missing) for role, each in found.roles.items()}
    assert states == {
        "iban": (0, 1, 0, 0),
        "bic": (0, 0, 0, 0),
        "tax_id": (0, 0, 1, 0),
        "due_date": (0, 0, 0, 1),
        "kind": (1, 0, 0, 0),
    }
    assert [(each.role, each.answer.score, each.is_right) for each in found.judged] == [
        *(("iban", 0.9, False), ("tax_id", 0.3, False))
    ]


@pytest.mark.parametrize(
    ("scored", "threshold", "kept"),
    [
        ([(0.9, True), (0.8, True), (0.4, False)], 0.8, 2 / 3),
        ([(0.9, True), (0.8, False)], 0.9, 0.5),
        ([(0.9, True), (0.9, False)], None, 0.0),
        ([(0.95, False), *[(0.9, True)] * 99], 0.9, 1.0),
        ([], None, 0.0),
    ],
)
def test_the_threshold_keeps_the_most_values_of_which_99_percent_are_right(
    scored: list[tuple[float, bool]], threshold: float | None, kept: float
) -> None:
    found = role_scores(scored)
    assert (found.threshold, found.values) == (threshold, len(scored))
    assert found.kept == pytest.approx(kept)


def test_the_tables_show_the_states_and_the_scores_of_roles() -> None:
    shown = {table.title: table for table in tables(report())}
    (fields,) = (table for title, table in shown.items() if title.startswith("fields"))
    assert fields.rows[1][1:] == ("total_amount", "1", "1 (1.000)", "0", "0", "0", "0 (0.000)")
    assert shown["scores of roles"].rows[-1] == ("all sets", "2", "0.100", "0.900", "100%")


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
        ("supplier_name", "Acme", "Acme GmbH", True),
        ("supplier_name", "Acme Bau", "Acme GmbH", True),
        ("supplier_name", "AB", "AB Werke GmbH", False),
        ("supplier_name", "Acme Vertrieb Nord", "Acme GmbH", False),
        ("total_amount", "-9.00", "9.00", True),
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
