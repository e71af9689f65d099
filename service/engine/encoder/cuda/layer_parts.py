"""The parts of a layer of BERT's kind: their names in transformers' modules, and what a fused layer takes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from transformers.activations import GELUActivation


@dataclass(frozen=True, slots=True)
class LayerNames:
    """The names of a layer's parts: modules, within the layer.

    Attributes:
        attention: the module that knows the size of a head.
        mixed, mixed_norm: the product after attention, and the normalisation of its sum with the residual.
        inner, outer, outer_norm: the two products of the feed-forward part, and its normalisation.
    """

    attention: str
    query: str
    key: str
    value: str
    mixed: str
    mixed_norm: str
    inner: str
    activation: str
    outer: str
    outer_norm: str

    def linears(self) -> tuple[str, ...]:
        return self.query, self.key, self.value, self.mixed, self.inner, self.outer

    def norms(self) -> tuple[str, ...]:
        return self.mixed_norm, self.outer_norm


BERT = LayerNames(
    attention="attention.self",
    query="attention.self.query",
    key="attention.self.key",
    value="attention.self.value",
    mixed="attention.output.dense",
    mixed_norm="attention.output.LayerNorm",
    inner="intermediate.dense",
    activation="intermediate.intermediate_act_fn",
    outer="output.dense",
    outer_norm="output.LayerNorm",
)
DISTILBERT = LayerNames(
    attention="attention",
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    mixed="attention.out_lin",
    mixed_norm="sa_layer_norm",
    inner="ffn.lin1",
    activation="ffn.activation",
    outer="ffn.lin2",
    outer_norm="output_layer_norm",
)


@dataclass(frozen=True, slots=True, eq=False)
class LayerParts:
    """What a layer computes with.

    Attributes:
        qkv: query, key and value as one product.
        mixed, mixed_norm: the product after attention, and the normalisation of its sum with the layer's input.
        inner, outer, outer_norm: the two products of the feed-forward part, and its normalisation.
        head_size: features of a head of attention.
    """

    qkv: nn.Linear
    mixed: nn.Linear
    mixed_norm: nn.LayerNorm
    inner: nn.Linear
    activation: Callable[[torch.Tensor], torch.Tensor]
    outer: nn.Linear
    outer_norm: nn.LayerNorm
    head_size: int


def parts_of(layer: nn.Module) -> LayerParts:
    """The parts of a layer that `names_of` accepts; its query, key and value become views of the first."""
    names = names_of(layer)
    assert names is not None
    return LayerParts(
        qkv=_joined([_linear(layer, name) for name in (names.query, names.key, names.value)]),
        mixed=_linear(layer, names.mixed),
        mixed_norm=_norm(layer, names.mixed_norm),
        inner=_linear(layer, names.inner),
        activation=_activation(layer.get_submodule(names.activation)),
        outer=_linear(layer, names.outer),
        outer_norm=_norm(layer, names.outer_norm),
        head_size=int(layer.get_submodule(names.attention).attention_head_size),  # type: ignore[arg-type]
    )


def names_of(layer: nn.Module) -> LayerNames | None:
    """The names of a layer's parts, if it has exactly those of BERT's kind, linear layers of torch's own, all heads."""
    parameters = {name for name, _ in layer.named_parameters()}
    for names in (BERT, DISTILBERT):
        parts = (*names.linears(), *names.norms())
        if parameters == {f"{part}.{each}" for part in parts for each in ("weight", "bias")}:
            linears = [layer.get_submodule(name) for name in names.linears()]
            norms = [layer.get_submodule(name) for name in names.norms()]
            exact = all(type(each) is nn.Linear for each in linears) and all(
                type(each) is nn.LayerNorm for each in norms
            )
            has_heads = isinstance(getattr(layer.get_submodule(names.attention), "attention_head_size", None), int)
            mixed = layer.get_submodule(names.mixed)
            return names if exact and has_heads and mixed.in_features == mixed.out_features else None
    return None


def _joined(parts: list[nn.Linear]) -> nn.Linear:
    """One linear layer for several of the same input, whose weights become views of its own: no byte is held twice."""
    joined = nn.Linear(parts[0].in_features, sum(part.out_features for part in parts), device="meta")
    weight, bias = torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])
    joined.weight, joined.bias = (nn.Parameter(each, requires_grad=False) for each in (weight, bias))
    sizes = [part.out_features for part in parts]
    for part, some_weight, some_bias in zip(parts, torch.split(weight, sizes), torch.split(bias, sizes), strict=True):
        part.weight.data, part.bias.data = some_weight, some_bias
    return joined


def _activation(module: nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    return F.gelu if isinstance(module, GELUActivation) and module.act is F.gelu else module


def _linear(layer: nn.Module, name: str) -> nn.Linear:
    found = layer.get_submodule(name)
    assert isinstance(found, nn.Linear)
    return found


def _norm(layer: nn.Module, name: str) -> nn.LayerNorm:
    found = layer.get_submodule(name)
    assert isinstance(found, nn.LayerNorm)
    return found
