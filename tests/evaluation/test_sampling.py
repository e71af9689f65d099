"""Which documents are scored: whole groups, always the same ones."""

from __future__ import annotations

from collections import Counter

from model_store.builtin.training.examples import Example
from model_store.builtin.training.mixture import HELD_OUT_PERCENT, split
from service.evaluation.records import EvaluationSet, GoldDocument
from service.evaluation.sampling import folds, left_out, limited


def document(number: int, group: str, text: str = "x" * 20) -> GoldDocument:
    return GoldDocument(str(number), text, (), group, "en", "ner", {})


def of(*groups: str) -> EvaluationSet:
    return EvaluationSet("s", tuple(document(number, group) for number, group in enumerate(groups)), frozenset())


MANY = of(*(f"g{number % 40}" for number in range(200)), *["large"] * 120)


def test_left_out_groups_are_those_that_training_leaves_out() -> None:
    examples = [Example(each.text, (), "s", each.group) for each in MANY.documents]
    _, held_out = split(examples)
    found = left_out(MANY, HELD_OUT_PERCENT)
    assert {each.group for each in found.documents} == {each.group for each in held_out}
    assert len(found.documents) == len(held_out) > 0
    assert "large" not in {each.group for each in found.documents}


def test_a_limit_takes_of_each_group_in_turn() -> None:
    found = limited(MANY, 50)
    assert len(found.documents) == 50
    sizes = Counter(each.group for each in found.documents)
    assert len(sizes) == MANY.groups
    assert max(sizes.values()) == 2
    assert limited(MANY, 50) == found
    assert limited(of("a"), 5).documents == of("a").documents


def test_folds_keep_groups_together() -> None:
    parts = folds(MANY, 5)
    groups = [{each.group for each in part.documents} for part in parts]
    assert sum(len(part.documents) for part in parts) == len(MANY.documents)
    assert set.union(*groups) == {each.group for each in MANY.documents}
    assert sum(map(len, groups)) == MANY.groups
