"""Query, key and value of attention as one product, where all three read the same tensor.

One matrix of three times the height: the input is read once, and a GPU starts one kernel rather than three. For plain
`nn.Linear` layers and one thread at a time, as a GPU's batches are queued; a model's code stays as it is. Not used in
service: `gains.py` measures it (DECISIONS.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import nn

from service.engine.encoder.cpu.module_swap import ModuleSwap, swap_or_restore

TRIOS = (("query", "key", "value"), ("q_lin", "k_lin", "v_lin"), ("q_proj", "k_proj", "v_proj"))
"""As BERT's family, DistilBERT and others name them."""


class _Product:
    """One product for three layers; no module, so that only one of the three owns the weights."""

    def __init__(self, linear: nn.Linear, parts: int) -> None:
        self._linear = linear
        self._parts = parts
        self._rows: torch.Tensor | None = None
        self._waiting: dict[int, torch.Tensor] = {}

    def take(self, index: int, rows: torch.Tensor) -> torch.Tensor:
        """What layer `index` makes of rows. The first layer has the others' made as well; these take theirs.

        Raises:
            RuntimeError: another tensor than the first layer's.
        """
        if index == 0:
            self._rows, self._waiting = rows, dict(enumerate(self._linear(rows).chunk(self._parts, dim=-1)))
        elif self._rows is not rows or index not in self._waiting:
            raise RuntimeError("query, key and value do not read the same tensor")
        product = self._waiting.pop(index)
        if not self._waiting:
            self._rows = None
        return product


class FusedLinear(nn.Module):
    """One of the three: computes what its `nn.Linear` computed."""

    def __init__(self, index: int, product: _Product, owned: nn.Linear | None) -> None:
        super().__init__()
        self._index = index
        self._product = product
        self.owned = owned

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """[…, inputs] → […, outputs], a slice of all three's outputs."""
        return self._product.take(self._index, rows)


def fuse(model: nn.Module, trial: Callable[[], object]) -> int:
    """Exchange all trios; how many there are now. None where one's layers do not read the same tensor.

    Args:
        trial: runs the model once.
    """
    exchanges: list[ModuleSwap] = []
    for parent, names, linears in _trios(model):
        whole = _joined(linears)
        product = _Product(whole, len(linears))
        exchanges += [
            ModuleSwap(parent, name, FusedLinear(index, product, None if index else whole))
            for index, name in enumerate(names)
        ]
    return len(exchanges) // 3 if exchanges and swap_or_restore(exchanges, trial) else 0


def _trios(model: nn.Module) -> Iterator[tuple[nn.Module, tuple[str, ...], list[nn.Linear]]]:
    for parent in model.modules():
        for names in TRIOS:
            linears = [child for name in names if type(child := getattr(parent, name, None)) is nn.Linear]
            if len(linears) == len(names) and _are_alike(linears):
                yield parent, names, linears


def _are_alike(linears: Sequence[nn.Linear]) -> bool:
    return len({(each.weight.shape, each.bias is None) for each in linears}) == 1


def _joined(linears: Sequence[nn.Linear]) -> nn.Linear:
    first = linears[0]
    outputs = sum(each.out_features for each in linears)
    whole = nn.Linear(first.in_features, outputs, bias=first.bias is not None, device="meta", dtype=first.weight.dtype)
    whole.weight = nn.Parameter(torch.cat([each.weight.detach() for each in linears]), requires_grad=False)
    if first.bias is not None:
        whole.bias = nn.Parameter(torch.cat([each.bias.detach() for each in linears]), requires_grad=False)
    return whole
