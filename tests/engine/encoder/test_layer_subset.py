"""A model with the first layers of each kind only, and all of them afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, AutoModelForTokenClassification, PreTrainedModel

from service.engine.encoder.layer_subset import first_layers_only
from tests.support.tiny_models import KINDS, make_model


def layers_in(model: torch.nn.Module) -> int:
    return max(len(part) for part in model.modules() if isinstance(part, torch.nn.ModuleList))


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_runs_with_few_layers_and_is_restored(tmp_path: Path, kind: str) -> None:
    folder = make_model(tmp_path, kind, layers=12)
    model = AutoModelForTokenClassification.from_pretrained(folder).eval()
    ids = torch.arange(5, 20).unsqueeze(0)
    with torch.inference_mode():
        before = model(input_ids=ids).logits
        with first_layers_only(model, 2):
            assert layers_in(model) <= 6
            few = model(input_ids=ids).logits
        assert layers_in(model) == 12
        assert torch.equal(model(input_ids=ids).logits, before)
    assert few.shape == before.shape
    assert not torch.equal(few, before)


def test_full_and_sliding_attention_are_two_kinds_of_layer(tmp_path: Path) -> None:
    folder = make_model(tmp_path, "modernbert", layers=12)
    model: PreTrainedModel = AutoModelForTokenClassification.from_pretrained(folder)
    kinds = AutoConfig.from_pretrained(folder).layer_types
    assert len(set(kinds)) == 2
    with first_layers_only(model, 1):
        kept = [layer.attention_type for layer in model.base_model.layers]
    assert set(kept) == set(kinds)
    assert len(kept) <= 3  # The first layer has no norm, which makes it a kind of its own.


def test_all_layers_are_restored_after_a_failure(tmp_path: Path) -> None:
    model = AutoModelForTokenClassification.from_pretrained(make_model(tmp_path, layers=5))
    with pytest.raises(ValueError, match="a bug"), first_layers_only(model, 2):
        raise ValueError("a bug")
    assert layers_in(model) == 5


def test_a_model_without_one_list_of_layers_keeps_all() -> None:
    plain = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    with first_layers_only(plain, 1):
        assert len(plain) == 2
    several = torch.nn.Module()
    several.first = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))
    several.second = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))
    with first_layers_only(several, 1):
        assert len(several.first) == len(several.second) == 3
