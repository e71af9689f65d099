"""Module swaps, and their restoration after a failed trial."""

from __future__ import annotations

import torch
from torch import nn
from transformers.activations import GELUActivation

from service.engine.encoder.cpu.module_swap import ModuleSwap, has_gelu, swap_or_restore, without_gelu


def test_a_trial_that_succeeds_keeps_the_new_modules() -> None:
    model, new = nn.Sequential(nn.ReLU()), nn.Identity()
    assert swap_or_restore([ModuleSwap(model, "0", new)], lambda: model(torch.zeros(1)))
    assert model[0] is new


def test_a_trial_that_fails_restores_all_modules() -> None:
    model = nn.Sequential(nn.ReLU(), nn.Tanh())
    old = list(model)
    news = [ModuleSwap(model, "0", nn.Identity()), ModuleSwap(model, "1", nn.Linear(3, 3))]
    assert not swap_or_restore(news, lambda: model(torch.zeros(1, 5)))
    assert list(model) == old


class Intermediate(nn.Module):
    def __init__(self, **more: nn.Module) -> None:
        super().__init__()
        self.dense = nn.Linear(4, 4)
        self.intermediate_act_fn = GELUActivation()
        for name, module in more.items():
            setattr(self, name, module)


def test_gelu_is_swapped_only_right_after_its_layer() -> None:
    plain, other = Intermediate(), Intermediate(norm=nn.LayerNorm(4))
    assert has_gelu(plain)
    assert not has_gelu(other)
    found = without_gelu([plain, other, nn.Linear(2, 2)])
    assert [each.parent for each in found] == [plain]
