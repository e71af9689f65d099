"""The halves that the head start of the built-in model is measured on."""

from __future__ import annotations

from model_store.builtin.training.evaluation.head_start import half, relabelled

RECORDS = [{"group": f"g{number % 10}", "text": "x" * 10, "entities": []} for number in range(40)]


def test_a_half_has_whole_groups_of_half_the_text_and_none_that_is_scored() -> None:
    kept = half(RECORDS, {"g1", "g2"})
    groups = {record["group"] for record in kept}
    assert len(kept) == 20
    assert [record for record in RECORDS if record["group"] in groups] == kept
    assert not groups & {"g1", "g2"}


def test_a_half_is_the_same_each_time_whatever_the_order() -> None:
    assert {r["group"] for r in half(RECORDS, ())} == {r["group"] for r in half(RECORDS[::-1], ())}


def test_labels_are_the_models_and_what_has_none_is_left_out() -> None:
    record = {"entities": [{"start": 0, "end": 1, "label": "total"}, {"start": 2, "end": 3, "label": "logo"}]}
    (found,) = relabelled([record], {"total": "TOTAL_AMOUNT", "logo": None})
    assert found["entities"] == [{"start": 0, "end": 1, "label": "TOTAL_AMOUNT"}]
