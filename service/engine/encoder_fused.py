"""Query, key and value of attention as one product, where all three read the same tensor.

One matrix of three times the height: the input is read once, and a GPU starts one kernel rather than three. For plain
`nn.Linear` layers; a model's code stays as it is. Not used in service: `gains.py` measures it (DECISIONS.md).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import nn

from service.engine.exchange import Exchange, try_out

TRIOS = (("query", "key", "value"), ("q_lin", "k_lin", "v_lin"), ("q_proj", "k_proj", "v_proj"))
"""As BERT's family, DistilBERT and others name them."""


class _Waiting(threading.local):
    """What one thread's first layer has left for the others, and the tensor that it was made of."""

    def __init__(self) -> None:
        self.rows: torch.Tensor | None = None
        self.products: dict[int, torch.Tensor] = {}


class _Product:
    """One product for three layers; no module, so that only one of the three owns the weights."""

    def __init__(self, linear: nn.Linear, parts: int) -> None:
        self._linear = linear
        self._parts = parts
        self._waiting = _Waiting()
        self.missed = 0

    def take(self, index: int, rows: torch.Tensor) -> torch.Tensor:
        """What layer `index` makes of rows. The first layer has the others' made as well; these take theirs."""
        waiting = self._waiting
        if index == 0:
            products: tuple[torch.Tensor, ...] = self._linear(rows).chunk(self._parts, dim=-1)
            waiting.rows, waiting.products = rows, dict(enumerate(products[1:], start=1))
            return products[0]
        product, same = waiting.products.pop(index, None), waiting.rows is rows
        if not waiting.products:
            waiting.rows = None
        if product is not None and same:
            return product
        self.missed += 1
        return self._alone(index, rows)

    def _alone(self, index: int, rows: torch.Tensor) -> torch.Tensor:
        weight, bias = self._linear.weight.chunk(self._parts)[index], self._linear.bias
        return nn.functional.linear(rows, weight, None if bias is None else bias.chunk(self._parts)[index])


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
    exchanges: list[Exchange] = []
    products: list[_Product] = []
    for parent, names, linears in _trios(model):
        whole = _joined(linears)
        product = _Product(whole, len(linears))
        products.append(product)
        owned = (whole, *[None] * (len(linears) - 1))
        parts = (FusedLinear(index, product, each) for index, each in enumerate(owned))
        exchanges += [Exchange(parent, name, part) for name, part in zip(names, parts, strict=True)]

    def run() -> None:
        trial()
        if any(product.missed for product in products):
            raise RuntimeError("query, key and value do not read the same tensor")

    return len(products) if exchanges and try_out(exchanges, run) else 0


def _trios(model: nn.Module) -> Iterator[tuple[nn.Module, tuple[str, ...], list[nn.Linear]]]:
    for parent in model.modules():
        for names in TRIOS:
            children = [getattr(parent, name, None) for name in names]
            linears = [child for child in children if isinstance(child, nn.Linear)]
            if len(linears) == len(names) and _are_alike(linears):
                yield parent, names, linears


def _are_alike(linears: Sequence[nn.Linear]) -> bool:
    """Of one class, without anything of their own, and of one shape."""
    first = linears[0]
    shapes = {(type(each), each.weight.shape, each.bias is None) for each in linears}
    return type(first) is nn.Linear and len(shapes) == 1


def _joined(linears: Sequence[nn.Linear]) -> nn.Linear:
    first = linears[0]
    outputs = sum(each.out_features for each in linears)
    whole = nn.Linear(first.in_features, outputs, bias=first.bias is not None, device="meta", dtype=first.weight.dtype)
    whole.weight = nn.Parameter(torch.cat([each.weight.detach() for each in linears]), requires_grad=False)
    if first.bias is not None:
        whole.bias = nn.Parameter(torch.cat([each.bias.detach() for each in linears]), requires_grad=False)
    return whole
