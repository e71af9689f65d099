"""Fused layer of BERT's kind as one function: seven kernels on a GPU, and a tenth of transformers' Python.

Query, key and value are one product. The products before a normalisation add themselves to the residual, whose biases
are folded (`folded`). On a GPU in half precision GELU is computed by the product before it, in the form of a hyperbolic
tangent, which is off by 0.0005 at most: less than bfloat16's rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from transformers.activations import GELUActivation

from service.engine.encoder.attention import AttentionBackend, AttentionCall
from service.engine.encoder.packed_batch import PackedBatch


class FusedLayer(nn.Module):
    """Layer of BERT's kind on packed rows.

    Args:
        parts: weights with folded biases. They belong to this layer, so their former module can be dropped.
        gelu_in_product: let the product compute GELU where that follows it.
    """

    def __init__(self, parts: LayerParts, backend: AttentionBackend, *, gelu_in_product: bool = False) -> None:
        super().__init__()
        self.qkv, self.mixed, self.inner, self.outer = parts.qkv, parts.mixed, parts.inner, parts.outer
        self.mixed_norm, self.outer_norm = parts.mixed_norm, parts.outer_norm
        self._heads_shape = -1, 3, parts.mixed.in_features // parts.head_size, parts.head_size
        self._scaling = parts.head_size**-0.5
        self._backend = backend
        self._activation = parts.activation
        self._gelu_in_product = gelu_in_product and parts.activation is F.gelu
        # Parameters as they are: reading one off a module takes longer than to launch a kernel.
        self._weights = tuple(
            (each.weight, each.bias)
            for each in (self.qkv, self.mixed, self.mixed_norm, self.inner, self.outer, self.outer_norm)
        )
        self._columns = self.outer_norm.normalized_shape
        self._epsilons = self.mixed_norm.eps, self.outer_norm.eps

    def run(self, rows: torch.Tensor, batch: PackedBatch, out: torch.Tensor | None) -> torch.Tensor:
        """[total, hidden] of this batch → the same shape; overwrites `rows`.

        Args:
            out: tensor of the same shape for attention to fill, if its back-end does that.
        """
        columns, (mixed_epsilon, out_epsilon) = self._columns, self._epsilons
        (w_qkv, b_qkv), (w_mixed, _), (g_mixed, n_mixed), (w_in, b_in), (w_out, _), (g_out, n_out) = self._weights
        mixed = self._attend(F.linear(rows, w_qkv, b_qkv), batch, out)
        # By torch's own binding: the function in F takes as long again to look at what it was given.
        rows = torch.layer_norm(rows.addmm_(mixed, w_mixed.t()), columns, g_mixed, n_mixed, mixed_epsilon, False)
        if self._gelu_in_product:
            inner = torch._addmm_activation(b_in, rows, w_in.t(), use_gelu=True)
        else:
            inner = self._activation(F.linear(rows, w_in, b_in))
        return torch.layer_norm(rows.addmm_(inner, w_out.t()), columns, g_out, n_out, out_epsilon, False)

    def _attend(self, qkv: torch.Tensor, batch: PackedBatch, out: torch.Tensor | None) -> torch.Tensor:
        """[total, 3 x hidden] → [total, hidden]; `out` of that shape is filled, and only for a back-end that does."""
        query, key, value = qkv.view(self._heads_shape).unbind(1)
        filled = None if out is None else out.view(query.shape)
        lengths = batch.cu_seqlens, batch.borders, batch.max_length
        mixed = self._backend.run(AttentionCall(query, key, value, *lengths, self._scaling, None, filled))
        return mixed.flatten(1) if out is None else out


@dataclass(frozen=True, slots=True)
class LayerNames:
    """Names of the modules within a layer.

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
    """Weights of a layer.

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
    """Take the parts of a layer that `names_of` accepts; its query, key and value become views of `qkv`."""
    names = names_of(layer)
    assert names is not None
    return LayerParts(
        qkv=joined([_linear(layer, name) for name in (names.query, names.key, names.value)]),
        mixed=_linear(layer, names.mixed),
        mixed_norm=_norm(layer, names.mixed_norm),
        inner=_linear(layer, names.inner),
        activation=_activation(layer.get_submodule(names.activation)),
        outer=_linear(layer, names.outer),
        outer_norm=_norm(layer, names.outer_norm),
        head_size=int(layer.get_submodule(names.attention).attention_head_size),  # type: ignore[arg-type]
    )


def names_of(layer: nn.Module) -> LayerNames | None:
    """Find the names of a layer's parts; None unless they are exactly BERT's kind, with torch's own linear layers."""
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


def joined(parts: list[nn.Linear]) -> nn.Linear:
    """Join linear layers of the same input; their weights become views of the joined one's: no byte is held twice."""
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


def folded(layers: Sequence[LayerParts]) -> tuple[list[LayerParts], torch.Tensor]:
    """Fold the biases of `mixed` and `outer` in successive layers into other weights; results stay the same.

    norm(r + x W + b) is norm(r′ + x W) with r′ = r + b. The normalisation that makes r adds b beside its own bias, for
    nothing, and the other product that reads r′ has W b taken off its own bias. What is left is a product that adds
    itself to r′ in place: cuBLAS reads the sum's other operand where it would have read a bias, and the kernel for the
    sum, with its pass over memory, is gone.

    Returns:
        The layers, with the given weights, and the addend that the first one expects in its rows.
    """
    after = [*(layer.mixed.bias for layer in layers[1:]), None]
    return [_folded(layer, bias) for layer, bias in zip(layers, after, strict=True)], layers[0].mixed.bias


def added(bias: torch.Tensor | None, addend: torch.Tensor) -> nn.Parameter:
    return nn.Parameter(addend if bias is None else bias + addend, requires_grad=False)


def _folded(layer: LayerParts, after: torch.Tensor | None) -> LayerParts:
    """Fold one layer. `after`: addend that the next layer expects in its rows."""
    return replace(
        layer,
        qkv=_reading_more(layer.qkv, layer.mixed.bias),
        mixed=_with_bias(layer.mixed, None),
        mixed_norm=_adding(layer.mixed_norm, layer.outer.bias),
        inner=_reading_more(layer.inner, layer.outer.bias),
        outer=_with_bias(layer.outer, None),
        outer_norm=layer.outer_norm if after is None else _adding(layer.outer_norm, after),
    )


def _reading_more(linear: nn.Linear, addend: torch.Tensor) -> nn.Linear:
    """Adjust a product's bias so that rows with `addend` added give the same results."""
    surplus = F.linear(addend.float()[None], linear.weight.float())[0]
    return _with_bias(linear, nn.Parameter((linear.bias.float() - surplus).to(linear.bias.dtype), requires_grad=False))


def _with_bias(linear: nn.Linear, bias: nn.Parameter | None) -> nn.Linear:
    made = nn.Linear(linear.in_features, linear.out_features, bias=False, device="meta")
    made.weight, made.bias = linear.weight, bias  # type: ignore[assignment]
    return made


def _adding(norm: nn.LayerNorm, addend: torch.Tensor) -> nn.LayerNorm:
    made = nn.LayerNorm(norm.normalized_shape, norm.eps, device="meta")
    made.weight, made.bias = norm.weight, added(norm.bias, addend)
    return made
