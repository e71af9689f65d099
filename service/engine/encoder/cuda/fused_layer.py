"""A layer of BERT's kind as one function: nine kernels, seven with compiled ones, and a tenth of transformers' Python.

Query, key and value are one product. On a GPU in half precision GELU is computed by the product before it, in the form
of a hyperbolic tangent, which is off by 0.0005 at most: less than bfloat16's rounding. The layer owns its weights, so
the module that it replaces can be dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from transformers.activations import GELUActivation

from service.engine.encoder.attention import AttentionBackend, AttentionCall
from service.engine.encoder.cuda.row_operators import TORCH_ROWS, RowOperators
from service.engine.execution.packed_batch import PackedBatch


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


class FusedLayer(nn.Module):
    """Computes what a layer of BERT's kind computes on packed rows."""

    def __init__(
        self,
        layer: nn.Module,
        names: LayerNames,
        backend: AttentionBackend,
        *,
        gelu_in_product: bool = False,
        operators: RowOperators = TORCH_ROWS,
    ) -> None:
        """Take over the weights of a layer that `names_of` accepts; its query, key and value become views.

        Args:
            gelu_in_product: let the product compute GELU where that is what follows it.
            operators: compute the sums with the residual and their normalisation.
        """
        super().__init__()
        parts = [_linear(layer, name) for name in (names.query, names.key, names.value)]
        self.qkv = _joined(parts)
        self.mixed, self.inner, self.outer = (_linear(layer, name) for name in (names.mixed, names.inner, names.outer))
        self.mixed_norm, self.outer_norm = (_norm(layer, name) for name in names.norms())
        self.head_size = int(layer.get_submodule(names.attention).attention_head_size)  # type: ignore[arg-type]
        self.activation = _activation(layer.get_submodule(names.activation))
        self._gelu_in_product = gelu_in_product and self.activation is F.gelu
        self._backend = backend
        self._add_norm = operators.add_norm
        # Parameters as they are: reading one off a module takes longer than to launch a kernel.
        self._weights = tuple(
            (each.weight, each.bias)
            for each in (self.qkv, self.mixed, self.mixed_norm, self.inner, self.outer, self.outer_norm)
        )
        self._epsilons = self.mixed_norm.eps, self.outer_norm.eps
        self._scaling = self.head_size**-0.5

    def run(self, rows: torch.Tensor, batch: PackedBatch, out: torch.Tensor | None) -> torch.Tensor:
        """[total, hidden] of this batch → the same shape; `out` of that shape too: what attention may overwrite."""
        (w_qkv, b_qkv), (w_mixed, b_mixed), (g_mixed, n_mixed), (w_in, b_in), (w_out, b_out), (g_out, n_out) = (
            self._weights
        )
        size, add_norm = self.head_size, self._add_norm
        query, key, value = F.linear(rows, w_qkv, b_qkv).view(rows.shape[0], 3, -1, size).unbind(1)
        lengths = batch.cu_seqlens, batch.borders, batch.max_length
        out = None if out is None else out.view(query.shape)
        call = AttentionCall(query, key, value, *lengths, self._scaling, None, out)
        mixed = self._backend.run(call).flatten(1)
        rows = add_norm(F.linear(mixed, w_mixed, b_mixed), rows, g_mixed, n_mixed, self._epsilons[0])
        if self._gelu_in_product:
            inner = torch._addmm_activation(b_in, rows, w_in.t(), use_gelu=True)
        else:
            inner = self.activation(F.linear(rows, w_in, b_in))
        return add_norm(F.linear(inner, w_out, b_out), rows, g_out, n_out, self._epsilons[1])


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
