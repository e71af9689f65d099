"""The partial-label loss on values made by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from model_store.builtin.training.encoding import IGNORED, open_tags
from model_store.builtin.training.examples import EVERY_LABEL
from model_store.builtin.training.labels import TAG_IDS
from model_store.builtin.training.loss import partial_label_loss

PERSON = TAG_IDS["B-PERSON"]
SKILL = TAG_IDS["B-SKILL"]


def logits_of(probabilities: dict[int, float]) -> Tensor:
    """One token's logits [1, 1, 71] with these probabilities; nothing is left for other tags."""
    logits = torch.full((1, 1, 71), -1e9)
    for tag, probability in probabilities.items():
        logits[0, 0, tag] = math.log(probability)
    return logits


def loss_of(probabilities: dict[int, float], tag: int, *, settled: frozenset[str], closed_share: float = 0.0) -> float:
    hidden = torch.from_numpy(open_tags(settled)).unsqueeze(0)
    return float(partial_label_loss(logits_of(probabilities), torch.tensor([[tag]]), hidden, closed_share=closed_share))


def test_an_unannotated_label_costs_no_loss_where_gold_is_o() -> None:
    assert loss_of({0: 0.2, SKILL: 0.8}, 0, settled=EVERY_LABEL - {"SKILL"}) == pytest.approx(0.0, abs=1e-6)


def test_a_label_that_the_set_annotates_is_punished_where_the_gold_is_o() -> None:
    assert loss_of({0: 0.25, PERSON: 0.75}, 0, settled=EVERY_LABEL - {"SKILL"}) == pytest.approx(-math.log(0.25))


def test_a_marked_token_is_punished_as_usual() -> None:
    assert loss_of({PERSON: 0.5, SKILL: 0.5}, PERSON, settled=EVERY_LABEL - {"SKILL"}) == pytest.approx(-math.log(0.5))


def test_a_share_of_the_plain_loss_stays_for_o() -> None:
    loss = loss_of({0: 0.2, SKILL: 0.8}, 0, settled=EVERY_LABEL - {"SKILL"}, closed_share=0.1)
    assert loss == pytest.approx(-0.1 * math.log(0.2), rel=1e-5)


def test_ignored_tokens_do_not_count() -> None:
    logits = logits_of({0: 0.5, PERSON: 0.5}).repeat(1, 2, 1)
    tags = torch.tensor([[PERSON, IGNORED]])
    closed = torch.from_numpy(open_tags(EVERY_LABEL)).unsqueeze(0)
    assert float(partial_label_loss(logits, tags, closed)) == pytest.approx(-math.log(0.5))


def test_a_batch_of_ignored_tokens_gives_no_loss_and_no_nan() -> None:
    closed = torch.from_numpy(open_tags(EVERY_LABEL)).unsqueeze(0)
    assert float(partial_label_loss(logits_of({0: 1.0}), torch.tensor([[IGNORED]]), closed)) == 0.0
