"""A role's score: what speaks for a choice and against it, and the probability that follows."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from service.core.fields.amount_keywords import amount_keywords
from service.core.fields.checks import SumCheck, check_sum
from service.core.fields.lines import TextLines
from service.core.fields.mentions import WORDS, Choice, Mention, Reason, amount, derived_amount
from service.core.fields.role_scores import Evidence, probability, scored, weighed
from service.core.fields.role_weights import WEIGHTS
from service.core.fields.roles import ROLES
from tests.support.mentions import mentions_in

_TRIPLE = ("NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT")
Marked = tuple[str, str] | tuple[str, str, float]


def scores(text: str, *chosen: Marked, others: tuple[Marked, ...] = (), lead: float = 0.5) -> dict[str, Choice]:
    """The scored choices of a text: each of `chosen` has the role of its label; `others` are mentions beside them."""
    marked = sorted((*chosen, *others), key=lambda each: text.index(each[1]))
    mentions = mentions_in(text, *marked)
    best = {each.label: each for each in mentions if any(each.text == part[1] for part in chosen)}
    choices = {label: Choice(each, Reason.LABEL, lead=lead) for label, each in best.items()}
    lines = TextLines(text)
    sums = [None if (each := best.get(label)) is None else amount(each) for label in _TRIPLE]
    checks = check_sum(sums[0], sums[1], sums[2])
    return scored(choices, checks, mentions, lines, amount_keywords(mentions, lines))


def evidence(text: str, *chosen: Marked, others: tuple[Marked, ...] = (), role: str = "") -> Evidence:
    """The evidence for one role: `role`, or that of the first marked value."""
    return scores(text, *chosen, others=others)[role or chosen[0][0]].evidence


def rescored(choice: Choice, label: str, text: str, *mentions: Mention) -> Evidence:
    """The evidence for a choice that no label gave, or with alternatives."""
    return scored({label: choice}, (), mentions or (choice.best,), TextLines(text), {})[label].evidence


def test_a_choice_that_its_rule_doubts_is_never_likely() -> None:
    (number,) = mentions_in("Invoice no. 17", ("INVOICE_ID", "17", 0.99))
    sure = Choice(number, Reason.LABEL, lead=1.0)
    for choice, is_likely in ((sure, True), (replace(sure, is_doubtful=True), False)):
        (found,) = scored({"INVOICE_ID": choice}, (), [number], TextLines("Invoice no. 17"), {}).values()
        assert (found.score > 0.9, "doubted by its rule" in found.evidence) == (is_likely, not is_likely)
        assert is_likely or found.score <= 0.4


def test_a_paper_that_no_heading_calls_a_bill_is_doubted() -> None:
    (number,) = mentions_in("17", ("INVOICE_ID", "17"))
    choices = {"INVOICE_ID": Choice(number, Reason.LABEL)}
    for is_named in (True, False):
        found = scored(choices, (), [number], TextLines("17"), {}, is_named=is_named)["INVOICE_ID"].evidence
        assert found.get("no heading of a bill") == (None if is_named else -1)


def test_a_choice_has_the_weight_of_its_role_and_of_its_group() -> None:
    assert weighed("INVOICE_ID", {"lead": 0.5}) == {"INVOICE_ID": 1, "NAMED": 1, "lead": 0.5}
    weight = WEIGHTS.get("IBAN", 0) + WEIGHTS.get("ACCOUNT", 0)
    assert probability("IBAN", {}) == pytest.approx(1 / (1 + math.exp(-weight)))


@pytest.mark.parametrize(("score", "number"), [(0.5, 0.0), (0.9, 0.549), (0.98, 0.973), (1.0, 0.973), (0.0, -0.973)])
def test_the_labels_score_counts_as_a_bounded_logit(score: float, number: float) -> None:
    assert evidence("No. 17", ("INVOICE_ID", "17", score))["label"] == number


@pytest.mark.parametrize(
    ("text", "value", "label"),
    [
        ("Invoice no. 17", "17", "INVOICE_ID"),
        ("Due date: 12.03.2026", "12.03.2026", "DUE_DATE"),
        ("Total: 119.00", "119.00", "TOTAL_AMOUNT"),
        ("Bill to:\nAcme GmbH", "Acme GmbH", "RECEIVER_NAME"),
    ],
)
def test_words_for_the_role_speak_for_it(text: str, value: str, label: str) -> None:
    found = evidence(text, (label, value))
    assert found["words"] == 1
    assert "other words" not in found


def test_words_have_a_weight_for_the_roles_group_as_well() -> None:
    found = weighed("DUE_DATE", {"words": 1.0})
    assert (found["words"], found["words NAMED"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "value", "label"),
    [
        ("Purchase order 17", "17", "INVOICE_ID"),
        ("Delivery date: 12.03.2026", "12.03.2026", "DUE_DATE"),
        ("Change: 119.00", "119.00", "TOTAL_AMOUNT"),
        ("Bill to:\nAcme GmbH", "Acme GmbH", "SUPPLIER_NAME"),
    ],
)
def test_words_for_something_else_speak_against_it(text: str, value: str, label: str) -> None:
    found = evidence(text, (label, value))
    assert found["other words"] == -1
    assert "words" not in found


def test_accounts_and_tax_numbers_need_no_words() -> None:
    found = evidence("Invoice no. DE811907980", ("TAX_ID", "DE811907980"))
    assert not {"words", "other words"} & found.keys()


def test_a_value_without_the_roles_label_has_words_alone_or_neither() -> None:
    (number,) = mentions_in("Invoice no. 17", ("ID_NUMBER", "17"))
    (bare,) = mentions_in("17", ("ID_NUMBER", "17"))
    found = rescored(Choice(number, Reason.CONTEXT), "INVOICE_ID", "Invoice no. 17")
    assert (found["no label"], found.get("unnamed"), found.get("label")) == (-1, None, None)
    found = rescored(Choice(bare, Reason.CONTEXT), "INVOICE_ID", "17")
    assert (found["no label"], found["unnamed"]) == (-1, -1)
    by_words = number._replace(label="INVOICE_ID", by_keyword=True)
    found = rescored(Choice(by_words, Reason.CONTEXT), "INVOICE_ID", "Invoice no. 17")
    assert (found["no label"], found.get("label")) == (-1, None)


@pytest.mark.parametrize(("lead", "number"), [(0.3, 0.3), (-0.2, -0.2), (7.0, 1.0), (-7.0, -1.0)])
def test_the_lead_over_the_next_value_counts_within_bounds(lead: float, number: float) -> None:
    (each,) = mentions_in("17", ("INVOICE_ID", "17"))
    assert rescored(Choice(each, Reason.LABEL, lead=lead), "INVOICE_ID", "17")["lead"] == number


@pytest.mark.parametrize(("times", "number"), [(1, None), (2, 1), (4, 2), (64, 2)])
def test_a_value_that_stands_there_again_speaks_for_itself(times: int, number: float | None) -> None:
    text = "17 " * times
    found = mentions_in(text, *[("INVOICE_ID", "17")] * times)
    assert rescored(Choice(found[0], Reason.LABEL), "INVOICE_ID", text, *found).get("repeated") == number


def test_one_value_in_two_roles_is_doubted_in_both() -> None:
    (date,) = mentions_in("12.03.2026", ("DATE", "12.03.2026"))
    choices = {label: Choice(date, Reason.LABEL) for label in ("INVOICE_DATE", "DUE_DATE")}
    found = scored(choices, (), [date], TextLines("12.03.2026"), {})
    assert [each.evidence["value of two roles"] for each in found.values()] == [-1, -1]


def test_another_value_with_the_same_words_is_a_rival() -> None:
    text = "Invoice date 1.3.2026\nInvoice date 2.3.2026"
    first, second = mentions_in(text, ("DATE", "1.3.2026"), ("DATE", "2.3.2026"))
    found = rescored(Choice(first, Reason.CONTEXT, (second,)), "INVOICE_DATE", text, first, second)
    assert found["another value with words"] == -1
    assert "another value with words" not in evidence("Invoice date 1.3.2026", ("INVOICE_DATE", "1.3.2026"))


@pytest.mark.parametrize(
    ("label", "value", "name", "number"),
    [
        ("IBAN", "DE89 3704 0044 0532 0130 00", "checksum", 1),
        ("IBAN", "DE88 3704 0044 0532 0130 00", "wrong checksum", -1),
        ("TOTAL_AMOUNT", "much", "not read", -1),
    ],
)
def test_the_value_itself_speaks_for_or_against_it(label: str, value: str, name: str, number: float) -> None:
    assert evidence(value, (label, value))[name] == number


@pytest.mark.parametrize(
    ("label", "value"), [("INVOICE_ID", "much"), ("TAX_ID", "DE811907980"), ("PURCHASE_ORDER", "4")]
)
def test_a_text_of_any_form_and_a_number_that_was_read_are_not_doubted(label: str, value: str) -> None:
    assert not {"not read", "wrong checksum"} & evidence(value, (label, value)).keys()


@pytest.mark.parametrize(
    ("first", "last", "is_doubted"), [("12.03.2026", "11.03.2026", True), ("11.03.2026", "12.03.2026", False)]
)
def test_a_bill_that_is_due_before_its_date_is_doubted(first: str, last: str, *, is_doubted: bool) -> None:
    for role in ("INVOICE_DATE", "DUE_DATE"):
        found = evidence(f"Of {first}, due {last}", ("INVOICE_DATE", first), ("DUE_DATE", last), role=role)
        assert found.get("due before bill") == (-1 if is_doubted else None)


SUMS = (("NET_AMOUNT", "100.00"), ("TAX_AMOUNT", "19.00"), ("TOTAL_AMOUNT", "119.00"))


def test_amounts_that_add_up_speak_for_one_another() -> None:
    found = [each.evidence for each in scores("Net 100.00 VAT 19.00 Total 119.00", *SUMS).values()]
    assert [each["adds up"] for each in found] == [1, 1, 1]
    wrong = (*SUMS[:2], ("TOTAL_AMOUNT", "120.00"))
    found = [each.evidence for each in scores("Net 100.00 VAT 19.00 Total 120.00", *wrong).values()]
    assert [each["does not add up"] for each in found] == [-1, -1, -1]


@pytest.mark.parametrize("rate", ["", "19%"])
def test_amounts_that_do_not_add_up_score_two_thirds_at_most(rate: str) -> None:
    text = f"Net amount 100.00\nVAT {rate} 19.00\nTotal 129.00"
    sums: tuple[Marked, ...] = (*SUMS[:2], ("TOTAL_AMOUNT", "129.00"))
    found = scores(text, *sums, others=((("PERCENT", rate),) if rate else ()), lead=1.0)
    assert found["TOTAL_AMOUNT"].score <= (0.5 if rate else 2 / 3)
    assert (found["NET_AMOUNT"].score > 2 / 3) == bool(rate)


@pytest.mark.parametrize(
    ("rule", "holds", "number"),
    [
        ("net_amount + tax_amount + shipping = total_amount", True, -1),
        ("net_amount + tax_amount = total_amount", True, None),
        ("net_amount + tax_amount + shipping = total_amount", False, None),
    ],
)
def test_amounts_that_add_up_with_lines_between_prove_less(rule: str, number: float | None, *, holds: bool) -> None:
    (found,) = mentions_in("20.00", ("NET_AMOUNT", "20.00"))
    checks = [SumCheck(rule, holds=holds, difference=Decimal())]
    choice = scored({"NET_AMOUNT": Choice(found, Reason.SUM)}, checks, [found], TextLines("20.00"), {})["NET_AMOUNT"]
    assert choice.evidence.get("lines between the sums") == number


@pytest.mark.parametrize(
    ("label", "rule", "name"),
    [
        ("AMOUNT_DUE", "total_amount - paid_amount = amount_due", "adds up"),
        ("PAID_AMOUNT", "total_amount - paid_amount = amount_due", "adds up"),
        ("PAID_AMOUNT", "net_amount + tax_amount = total_amount", None),
        ("EARLY_PAYMENT_DISCOUNT", "total_amount - paid_amount = amount_due", None),
    ],
)
def test_a_payment_has_a_check_of_its_own(label: str, rule: str, name: str | None) -> None:
    (found,) = mentions_in("20.00", ("MONEY", "20.00"))
    checks = [SumCheck(rule, holds=True, difference=Decimal())]
    evidence = scored({label: Choice(found, Reason.SUM)}, checks, [found], TextLines("20.00"), {})[label].evidence
    assert evidence.get("adds up") == (1 if name else None)
    assert not {"amounts missing", "largest sum", "tax at rate"} & evidence.keys()


@pytest.mark.parametrize(
    ("label", "value", "roles"),
    [
        ("DATE", "12.03.2026", ("INVOICE_DATE", "SUPPLY_DATE")),
        ("MONEY", "20.00", ("NET_AMOUNT", "TOTAL_AMOUNT")),
        ("MONEY", "20.00", ("TOTAL_AMOUNT", "PAID_AMOUNT")),
    ],
)
def test_some_roles_may_have_the_value_of_another_one(label: str, value: str, roles: tuple[str, ...]) -> None:
    (mention,) = mentions_in(value, (label, value))
    choices = {role: Choice(mention, Reason.LABEL) for role in roles}
    found = scored(choices, (), [mention], TextLines(value), {})
    assert not any("value of two roles" in each.evidence for each in found.values())


def test_of_two_tax_numbers_each_is_as_sure_as_its_party() -> None:
    text = "Acme GmbH DE811907980 for Kunz AG DE129273398"
    numbers = (("TAX_ID", "DE811907980"), ("SUPPLIER_NAME", "Acme GmbH"))
    found = scores(text, *numbers, others=(("TAX_ID", "DE129273398"),))
    assert found["TAX_ID"].evidence["party unsure"] == round(found["SUPPLIER_NAME"].score - 1, 3)
    alone = scores(text, numbers[0], others=(("TAX_ID", "DE129273398"),))
    assert alone["TAX_ID"].evidence["party unsure"] == -1
    (number,) = mentions_in("DE811907980", ("TAX_ID", "DE811907980"))
    assert "party unsure" not in rescored(Choice(number, Reason.LABEL), "RECEIVER_TAX_ID", "DE811907980")


@pytest.mark.parametrize(("count", "number"), [(2, -0.5), (1, -1.0)])
def test_amounts_that_are_missing_prove_nothing(count: int, number: float) -> None:
    assert evidence("VAT 19.00 Total 119.00", *SUMS[-count:])["amounts missing"] == number


RATED = (("PERCENT", "19%"),)
AT_RATE, OFF_RATE, OTHERS = "tax at rate", "tax not at rate", "other two at rate"


def rate_evidence(text: str, *marked: Marked) -> dict[str, str | None]:
    """What the stated rate says of each chosen amount, by its last part."""
    found = scores(text, *marked, others=RATED)
    names = {label: {AT_RATE, OFF_RATE, OTHERS} & choice.evidence.keys() for label, choice in found.items()}
    return {label.split("_")[0]: next(iter(said), None) for label, said in names.items()}


@pytest.mark.parametrize(
    ("text", "net", "tax", "total", "odd"),
    [
        ("Net 100.00 VAT 19% 19.00 Total 119.00", "100.00", "19.00", "119.00", ""),
        ("Net 100.00 VAT 19% 19.00 Total 129.00", "100.00", "19.00", "129.00", "TOTAL"),
        ("Net 100.00 VAT 19% 91.00 Total 119.00", "100.00", "91.00", "119.00", "TAX"),
        ("Net 700.00 VAT 19% 19.00 Total 119.00", "700.00", "19.00", "119.00", "NET"),
    ],
)
def test_two_amounts_at_a_stated_rate_prove_each_other_and_not_the_third(
    text: str, net: str, tax: str, total: str, odd: str
) -> None:
    found = rate_evidence(text, ("NET_AMOUNT", net), ("TAX_AMOUNT", tax), ("TOTAL_AMOUNT", total))
    assert found == {label: OTHERS if label == odd else AT_RATE for label in ("NET", "TAX", "TOTAL")}


@pytest.mark.parametrize(
    ("text", "marked", "name"),
    [
        ("VAT 19% 19.00 Total 119.00", SUMS[1:], AT_RATE),
        ("Net 100.00 VAT 19% 19.00", SUMS[:2], AT_RATE),
        ("VAT 90.00 Total 119.00 19%", (("TAX_AMOUNT", "90.00"), SUMS[2]), OFF_RATE),
        ("Net 500.00 19% Total 119.00", (("NET_AMOUNT", "500.00"), SUMS[2]), OFF_RATE),
        ("Net 100.00 VAT 19% 16.00", (SUMS[0], ("TAX_AMOUNT", "16.00")), OFF_RATE),
        ("19%\nNet 100.00\nVAT 16.00", (SUMS[0], ("TAX_AMOUNT", "16.00")), None),
        ("Net 119.00 VAT 0.00 19%", (("NET_AMOUNT", "119.00"), ("TAX_AMOUNT", "0.00")), None),
        ("Total 119.00 19%", SUMS[2:], None),
    ],
)
def test_a_tax_is_a_stated_percentage_of_the_net_or_doubted(
    text: str, marked: tuple[Marked, ...], name: str | None
) -> None:
    assert set(rate_evidence(text, *marked).values()) == {name}


def test_a_rate_proves_none_of_three_amounts_that_differ_by_its_rounding() -> None:
    found = rate_evidence("Net 100.00 VAT 19% 19.00 Total 119.01", *SUMS[:2], ("TOTAL_AMOUNT", "119.01"))
    assert set(found.values()) == {None}


def test_sums_that_disagree_have_a_weight_for_each_role_as_well() -> None:
    found = weighed("TAX_AMOUNT", {"does not add up": -1.0, OFF_RATE: -1.0})
    assert (found["does not add up TAX_AMOUNT"], found["tax not at rate TAX_AMOUNT"]) == (-1, -1)
    assert "other two at rate TAX_AMOUNT" not in found


def test_a_tax_of_several_rates_may_be_none_of_them() -> None:
    text = "Net 100.00 VAT 19% 16.00 of which 7%"
    marked: tuple[Marked, ...] = (SUMS[0], ("TAX_AMOUNT", "16.00"))
    assert OFF_RATE not in evidence(text, *marked, others=(*RATED, ("PERCENT", "7%")))


def test_a_computed_tax_has_no_rate_on_its_line() -> None:
    text = "Net 100.00 19%"
    mentions = mentions_in(text, SUMS[0], *RATED)
    tax = derived_amount("TAX_AMOUNT", Decimal("16.00"), mentions[:1])
    choices = {"NET_AMOUNT": Choice(mentions[0], Reason.LABEL), "TAX_AMOUNT": Choice(tax, Reason.SUM)}
    found = scored(choices, (), mentions, TextLines(text), {})
    assert OFF_RATE not in found["TAX_AMOUNT"].evidence


@pytest.mark.parametrize(
    ("text", "other", "number"),
    [
        ("Total 119.00 of 20.00", "20.00", 1),
        ("Cash: 200.00\nTotal: 119.00", "200.00", 1),
        ("Cost 200.00 Total 119.00", "200.00", -1),
    ],
)
def test_a_total_is_the_largest_sum_but_for_the_payment(text: str, other: str, number: int) -> None:
    assert evidence(text, SUMS[2], others=(("MONEY", other),))["largest sum"] == number


def test_the_score_is_the_logistic_function_of_the_weighted_evidence() -> None:
    bare = probability("IBAN", {})
    assert probability("IBAN", {"no such evidence": 1.0}) == bare
    assert probability("IBAN", {"wrong checksum": -1.0}) < bare < probability("IBAN", {"lead": 0.5})
    assert probability("IBAN", {"lead": 0.5}) < probability("IBAN", {"lead": 1.0}) < 1


def test_more_evidence_never_lowers_a_score() -> None:
    roles = {role.label for role in ROLES} | {role.group.name for role in ROLES}
    assert all(weight >= 0 for name, weight in WEIGHTS.items() if name not in roles)


EVIDENCE = (
    *("label", "no label", "unnamed", "words", "other words", "lead", "another value with words", "repeated"),
    *("value of two roles", "doubted by its rule", "no heading of a bill", "not read", "checksum", "wrong checksum"),
    *("party unsure", "due before bill", "adds up", "does not add up", "lines between the sums", "amounts missing"),
    *("tax at rate", "other two at rate", "tax not at rate", "largest sum"),
)


def test_every_weight_is_of_a_role_its_group_or_known_evidence() -> None:
    groups = {role.group.name for role in ROLES}
    labels = {role.label for role in ROLES}
    known = labels | groups | {*EVIDENCE} | {f"words {group}" for group in groups}
    known |= {f"{name} {label}" for name in ("does not add up", OTHERS, OFF_RATE) for label in labels}
    assert WEIGHTS.keys() <= known


def test_the_reference_describes_all_evidence() -> None:
    reference = (Path(__file__).parents[3] / "service" / "API.md").read_text(encoding="utf-8")
    assert [name for name in EVIDENCE if f"`{name}`" not in reference] == []


def test_the_table_tells_agreement_from_doubt() -> None:
    text = "Invoice no. 17\nTotal: 119.00"
    sure = scores(text, ("INVOICE_ID", "17", 0.95), ("TOTAL_AMOUNT", "119.00", 0.95), lead=1.0)
    unsure = scores("Order 17\nChange: 119.00", ("INVOICE_ID", "17", 0.3), ("TOTAL_AMOUNT", "119.00", 0.3), lead=0.0)
    for label, choice in sure.items():
        assert unsure[label].score + 0.15 < 0.9 < choice.score


def test_a_computed_sum_is_scored_by_what_adds_up() -> None:
    text = "Net 100.00 Total 119.00"
    mentions = mentions_in(text, ("NET_AMOUNT", "100.00"), ("TOTAL_AMOUNT", "119.00"))
    tax = derived_amount("TAX_AMOUNT", Decimal("19.00"), mentions)
    found = scored({"TAX_AMOUNT": Choice(tax, Reason.SUM)}, (), mentions, TextLines(text), {})["TAX_AMOUNT"]
    assert "label" not in found.evidence
    assert found.evidence[WORDS] == 1.0


@pytest.mark.parametrize("score", [0.05, 0.5])
def test_one_of_several_tax_numbers_is_no_surer_than_its_party(score: float) -> None:
    text = "Acme GmbH\nVAT DE136695976\nVAT FR40303265045"
    chosen = ("SUPPLIER_NAME", "Acme GmbH", score), ("TAX_ID", "DE136695976", 0.99)
    found = scores(text, *chosen, others=(("TAX_ID", "FR40303265045", 0.9),))
    assert found["TAX_ID"].score <= found["SUPPLIER_NAME"].score
    alone = scores(text, *chosen)
    assert alone["TAX_ID"].score > alone["SUPPLIER_NAME"].score
