"""Fused model: a token classifier of BERT's kind without transformers' code: embeddings, fused layers, classifier.

BERT, RoBERTa, XLM-RoBERTa, ELECTRA, DistilBERT and LayoutLM are of this kind. Parts are recognised by name, and no
weight may be left over; the check at load finds whether they are put together as here (fused_check.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from transformers import PreTrainedModel

from service.engine.encoder.attention import AttentionBackend
from service.engine.encoder.fused_layer import FusedLayer, added, folded, names_of, parts_of
from service.engine.encoder.layer_subset import list_of_layers
from service.engine.encoder.packed_batch import PackedBatch

_PLACES = ("x_position_embeddings", "y_position_embeddings", "h_position_embeddings", "w_position_embeddings")
"""LayoutLM's tables: of both sides in each direction, and of a box's height and width."""


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """Parts of a model around its layers; DistilBERT has no types, only ELECTRA a projection, only LayoutLM places."""

    words: nn.Embedding
    types: nn.Embedding | None
    positions: nn.Embedding
    places: tuple[nn.Embedding, ...]
    norm: nn.LayerNorm
    projection: nn.Linear | None
    classifier: nn.Linear


class FusedModel:
    """Computes the logits of packed batches with the weights of a model, and replaces its layers.

    Args:
        model: a model that `can_be_fused`. Its own `forward` does not work until `restore`.
        backend: attention of all layers.
        gelu_in_product: let products compute GELU.
    """

    def __init__(self, model: PreTrainedModel, backend: AttentionBackend, *, gelu_in_product: bool = False) -> None:
        parts, place = _parts(model), list_of_layers(model)
        assert parts is not None
        assert place is not None
        self._parent, self._name, self._own_layers = place
        self._maker = parts.projection or parts.norm
        self._own_bias = self._maker.bias
        self._fills = backend.fills
        layers, first_bias = folded([parts_of(layer) for layer in self._own_layers])
        made = [FusedLayer(each, backend, gelu_in_product=gelu_in_product) for each in layers]
        self._layers = [each.run for each in made]
        # From here on the model is another one; `restore` undoes both.
        setattr(self._parent, self._name, nn.ModuleList(made))
        self._maker.bias = added(self._own_bias, first_bias)
        # Parameters as they are, as in the layers.
        types = None if parts.types is None else parts.types.weight
        self._tables = parts.words.weight, parts.positions.weight, types
        self._places = [each.weight for each in parts.places]
        self._norm = parts.norm.weight, parts.norm.bias, parts.norm.eps
        self._projection = None if parts.projection is None else _weights(parts.projection)
        self._classifier = _weights(parts.classifier)

    def restore(self) -> None:
        """Give the model its own layers back; this one must not be used any more."""
        setattr(self._parent, self._name, self._own_layers)
        self._maker.bias = self._own_bias

    def forget_own_layers(self) -> None:
        """Drop the layers and bias that `restore` would need."""
        self._own_layers = nn.ModuleList()
        self._own_bias = self._maker.bias

    def __call__(self, batch: PackedBatch) -> torch.Tensor:
        """Compute, or queue, one forward pass: logits [total, labels]."""
        rows = self._embed(batch)
        out = torch.empty_like(rows) if self._fills else None
        for layer in self._layers:
            rows = layer(rows, batch, out)
        return F.linear(rows, *self._classifier)

    def _embed(self, batch: PackedBatch) -> torch.Tensor:
        """Tokens of a batch → [total, hidden]; summed in transformers' order, so rounded as there."""
        words, positions, types = self._tables
        rows, at = F.embedding(batch.input_ids[0], words), F.embedding(batch.position_ids[0], positions)
        first = () if types is None else (types[0],)
        addends = (*first, at) if batch.boxes is None else (at, *self._placed(batch.boxes[0]), *first)
        for each in addends:
            rows.add_(each)
        weight, bias, epsilon = self._norm
        rows = torch.layer_norm(rows, weight.shape, weight, bias, epsilon, False)
        return F.linear(rows, *self._projection) if self._projection else rows

    def _placed(self, boxes: torch.Tensor) -> Iterator[torch.Tensor]:
        """Boxes [total, 4] → [total, hidden] for each side, then for height and width."""
        x, y, heights, widths = self._places
        left, top, right, bottom = boxes.unbind(1)
        for numbers, table in ((left, x), (top, y), (right, x), (bottom, y), (bottom - top, heights)):
            yield F.embedding(numbers, table)
        yield F.embedding(right - left, widths)


def can_be_fused(model: PreTrainedModel) -> bool:
    """True for a model with exactly the parts of BERT's kind."""
    place = list_of_layers(model)
    return place is not None and _parts(model) is not None and all(names_of(layer) is not None for layer in place[2])


def _parts(model: PreTrainedModel) -> _Parts | None:
    """Find the parts, if they have the expected classes and no weight is left over."""
    base, place = getattr(model, model.base_model_prefix, None), list_of_layers(model)
    embeddings = getattr(base, "embeddings", None)
    parts = _Parts(
        words=getattr(embeddings, "word_embeddings", None),  # type: ignore[arg-type]
        types=getattr(embeddings, "token_type_embeddings", None),
        positions=getattr(embeddings, "position_embeddings", None),  # type: ignore[arg-type]
        places=tuple(getattr(embeddings, name) for name in _PLACES if hasattr(embeddings, name)),
        norm=getattr(embeddings, "LayerNorm", None),  # type: ignore[arg-type]
        projection=getattr(base, "embeddings_project", None),
        classifier=getattr(model, "classifier", None),  # type: ignore[arg-type]
    )
    needed = {
        nn.Embedding: (parts.words, parts.positions, parts.types or parts.words, *parts.places),
        nn.LayerNorm: (parts.norm,),
        nn.Linear: (parts.classifier, parts.projection or parts.classifier),
    }
    if place is None or len(parts.places) not in (0, len(_PLACES)):
        return None
    if not all(type(each) is kind for kind, some in needed.items() for each in some):
        return None
    around = (parts.words, parts.types, parts.positions, *parts.places, parts.norm, parts.projection, parts.classifier)
    modules = (*around, place[2])
    used = {id(weight) for module in modules if module is not None for weight in module.parameters()}
    return parts if {id(weight) for weight in model.parameters()} == used else None


def _weights(linear: nn.Linear) -> tuple[torch.Tensor, torch.Tensor | None]:
    return linear.weight, linear.bias
