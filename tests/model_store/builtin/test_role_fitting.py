"""The fit of the roles' scores: signs, penalties, halves of the data, and the table that is written."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from model_store.builtin.training.pages.hard_bills import KNOWN, hard_bill, hard_bills
from model_store.builtin.training.pages.hard_payments import FAULTS, with_faults
from model_store.builtin.training.role_fitting import (
    GENERATED,
    GENERATED_WEIGHT,
    Example,
    example,
    fit_weights,
    is_fitted_on,
    table,
)
from service.evaluation.labelled_documents import LabelledSpan
from service.evaluation.scoring import JudgedRole, RoleAnswer


def examples(right: int, wrong: int, **numbers: float) -> list[Example]:
    return [Example(numbers, is_right=number < right) for number in range(right + wrong)]


def test_a_judged_value_is_an_example_of_its_role_and_group() -> None:
    judged = JudgedRole("a", "iban", RoleAnswer("DE89", 0.9, evidence={"checksum": 1.0}), is_right=True)
    assert example(judged) == Example({"IBAN": 1, "ACCOUNT": 1, "checksum": 1}, is_right=True)
    made = example(judged, is_generated=True)
    assert (made.numbers[GENERATED], made.weight) == (1, GENERATED_WEIGHT)


def test_generated_bills_do_not_say_how_many_values_are_right() -> None:
    generated = [each._replace(numbers={**each.numbers, GENERATED: 1}) for each in examples(10, 90, SUM=1)]
    found = fit_weights([*examples(95, 5, SUM=1), *generated])
    assert found["SUM"] == pytest.approx(2.9, abs=0.4)
    assert GENERATED not in found


def test_evidence_is_weighed_by_how_often_it_is_right() -> None:
    found = fit_weights([*examples(50, 50, SUM=1), *examples(95, 5, SUM=1, words=1), *examples(5, 95, SUM=1, other=-1)])
    assert found["words"] == pytest.approx(2.7, abs=0.3)
    assert found["other"] == pytest.approx(2.7, abs=0.3)
    assert abs(found.get("SUM", 0)) < 0.1


def test_evidence_for_a_value_never_counts_against_it() -> None:
    found = fit_weights(
        [*examples(90, 10, SUM=1), *examples(50, 50, SUM=1, words=1), *examples(99, 1, SUM=1, other=-1)]
    )
    assert not {"words", "other"} & found.keys()


def test_rare_and_certain_evidence_has_the_weight_that_is_expected_of_it() -> None:
    rare = [Example({"SUM": 1, "not read": -1}, is_right=True)]
    assert fit_weights([*examples(90, 10, SUM=1), *rare])["not read"] > 1.5
    often = [Example({"SUM": 1, "not read": -1}, is_right=number > 100) for number in range(9_000)]
    assert fit_weights([*examples(450, 50, SUM=1), *often]).get("not read", 0) < 0.5


def test_a_rare_role_counts_as_its_group() -> None:
    found = fit_weights([*examples(90, 10, SUM=1, NET_AMOUNT=1), *examples(1, 0, SUM=1, TAX_AMOUNT=1)])
    assert found["SUM"] > 1
    assert abs(found.get("TAX_AMOUNT", 0)) < 0.1
    assert fit_weights(examples(10, 90, NAMED=1))["NAMED"] < -1


def test_an_examples_weight_counts_as_that_many() -> None:
    light = [each._replace(weight=0.001) for each in examples(0, 100, SUM=1)]
    assert fit_weights([*light, *examples(90, 10, SUM=1)])["SUM"] > 1


def test_each_group_is_in_one_half() -> None:
    halves = [is_fitted_on("bills", str(number)) for number in range(400)]
    assert 150 < sum(halves) < 250
    assert [number for number in range(12) if is_fitted_on("bills", str(number))] == [0, 2, 3, 4, 6, 7, 8, 9]


def test_the_table_is_a_module_with_groups_and_roles_first() -> None:
    made: dict[str, object] = {}
    exec(table({"words": 1.5, "IBAN": -0.2, "ACCOUNT": 1.0}, "bills 12"), made)
    assert made["FITTED_ON"] == "bills 12"
    weights = made["WEIGHTS"]
    assert isinstance(weights, dict)
    assert list(weights.items()) == [("ACCOUNT", 1.0), ("IBAN", -0.2), ("words", 1.5)]


def test_a_number_with_a_wrong_checksum_is_never_right() -> None:
    judged = JudgedRole("a", "iban", RoleAnswer("DE88", 0.9, evidence={"wrong checksum": -1.0}), is_right=True)
    assert not example(judged).is_right
    found = fit_weights([*examples(90, 10, ACCOUNT=1), *examples(0, 10, ACCOUNT=1, **{"wrong checksum": -1})])
    assert found["wrong checksum"] > 3


def test_hard_bills_know_their_fields_and_can_be_had_again() -> None:
    bills = list(hard_bills(1, 40))
    assert bills == list(hard_bills(1, 40))
    assert {frozenset(bill.fields) for bill in bills} == {frozenset(label.lower() for label in KNOWN)}
    assert len({bill.group for bill in bills}) > 35
    assert any(not bill.fields["due_date"] for bill in bills)
    assert any(bill.fields["due_date"] for bill in bills)


def test_a_tax_of_several_rates_is_their_sum() -> None:
    fields = [bill.fields for bill in map(hard_bill, map(Random, range(200)))]
    roles = ("net_amount", "tax_amount", "total_amount")
    sums = [[_digits(each[role][0]) for role in roles] for each in fields if all(each[role] for role in roles)]
    assert len(sums) > 100
    assert [net + tax for net, tax, _ in sums] == [total for _, _, total in sums]


def _digits(text: str) -> int:
    return int("".join(filter(str.isdigit, text)))


def test_hard_bills_have_values_of_every_role_that_they_know() -> None:
    found = Counter(role for bill in hard_bills(2, 150) for role, values in bill.fields.items() if values)
    assert found.keys() == {label.lower() for label in KNOWN}
    assert min(found.values()) >= 4


def test_a_fault_changes_one_digit_of_a_value_and_no_length() -> None:
    text, spans = "Total 119.00 for x", [LabelledSpan(6, 12, "TOTAL_AMOUNT"), LabelledSpan(17, 18, "TOTAL_AMOUNT")]
    found = [with_faults(Random(number), text, spans) for number in range(200)]
    assert {len(each) for each in found} == {len(text)}
    changed = [sum(a != b for a, b in zip(text, each, strict=True)) for each in found]
    assert set(changed) == {0, 1}
    assert sum(changed) == pytest.approx(200 * FAULTS["TOTAL_AMOUNT"], abs=15)
