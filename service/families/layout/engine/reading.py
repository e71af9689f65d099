"""A token classifier that sees where each word stands on its page, read from a Hugging Face folder by transformers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.utils.weak import WeakIdKeyDictionary

from model_store.families.layout import LARGEST, PREPROCESSOR, PROCESSOR, is_box, picture_options
from model_store.families.registry import read_object
from service.core.errors import ModelError
from service.families.engine.checkpoint import Checkpoint
from service.families.engine.page_input import Colours, PageInput, PictureInput
from service.families.token_classifier.engine.reading import read_classifier

IN_SHARES = {"layoutlm": False, "lilt": False, "bros": True, "layoutlmv3": False}
"""Kinds of models that can be served: True for those whose boxes are shares of the page."""
Box = tuple[float, float, float, float]
Options = dict[str, Any]


def read(folder: Path, dtype: torch.dtype, *, hollow: bool = False) -> Checkpoint:
    """Read the folder's token classifier, without the pooler, which scores of tokens do not need.

    Args and errors as for `token_classifier.engine.reading.read`.
    """
    checkpoint = read_classifier(folder, dtype, hollow=hollow, check=_check)
    base: Any = checkpoint.model.base_model
    if getattr(base, "pooler", None) is not None:
        base.pooler = nn.Identity()
    if checkpoint.model.config.model_type == "bros":
        embeddings, size = base.bbox_embeddings, checkpoint.model.config.dim_bbox_sinusoid_emb_1d
        embeddings.bbox_sinusoid_emb = Sinusoids(size, embeddings.bbox_projection)
    if checkpoint.model.config.model_type == "layoutlmv3":
        biases = WeakIdKeyDictionary()
        for layer in base.encoder.layer:
            layer.attention.self = BiasedAttention(layer.attention.self, biases)
        if hasattr(base, "patch_embed"):
            base.patch_embed.proj = Patches(base.patch_embed.proj)
    in_shares = IN_SHARES[checkpoint.model.config.model_type]
    options, config = read_object(folder / "tokenizer_config.json"), checkpoint.model.config
    picture = _picture(folder, config) if getattr(config, "visual_embed", False) else None
    return replace(checkpoint, page=PageInput(in_shares, _padding_box(options, in_shares=in_shares), picture))


class BiasedAttention(nn.Module):
    """LayoutLMv3's attention by torch's kernel, which holds no scores; transformers' code reads them ten times.

    Args:
        biases: `rel_pos` of each batch that is computed now → the bias made of it; shared by all layers.
    """

    def __init__(self, own: Any, biases: WeakIdKeyDictionary) -> None:
        super().__init__()
        self._biases = biases
        self.query, self.key, self.value = own.query, own.key, own.value
        self._heads, self._size = int(own.num_attention_heads), int(own.attention_head_size)

    def forward(
        self,
        hidden_states: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        rel_pos: torch.Tensor | None = None,
        rel_2d_pos: torch.Tensor | None = None,
        **_unused: object,
    ) -> tuple[torch.Tensor, None]:
        """[n, tokens, hidden] → the same shape, and no weights; biases [n, heads, tokens, tokens] by distances."""
        shape = *hidden_states.shape[:-1], self._heads, self._size
        query, key, value = (
            linear(hidden_states).view(shape).transpose(1, 2) for linear in (self.query, self.key, self.value)
        )
        scaling, bias = self._size**-0.5, attention_mask
        if rel_pos is not None:
            if rel_pos not in self._biases:
                distances = (rel_pos if rel_2d_pos is None else rel_pos + rel_2d_pos).mul(scaling)
                self._biases[rel_pos] = distances if attention_mask is None else distances.add_(attention_mask)
            bias = self._biases[rel_pos]
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=scaling)
        return mixed.transpose(1, 2).flatten(2), None


class Patches(nn.Module):
    """LayoutLMv3's convolution of patches that do not overlap, as one matrix product."""

    def __init__(self, own: nn.Conv2d) -> None:
        super().__init__()
        assert own.bias is not None
        self._size = own.kernel_size
        self.product = nn.Linear(own.weight[0].numel(), own.out_channels, device="meta")
        self.product.weight = nn.Parameter(own.weight.data.flatten(1), requires_grad=False)
        self.product.bias = nn.Parameter(own.bias.data, requires_grad=False)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """[n, colours, height, width] → [n, hidden, rows, columns]; pixels beyond the last whole patch are left out."""
        (high, wide), (n, colours, height, width) = self._size, pixels.shape
        rows, columns = height // high, width // wide
        whole = pixels[:, :, : rows * high, : columns * wide].reshape(n, colours, rows, high, columns, wide)
        patches = whole.permute(0, 2, 4, 1, 3, 5).reshape(n, rows, columns, -1)
        found: torch.Tensor = self.product(patches)
        return found.permute(0, 3, 1, 2)


class Sinusoids(nn.Module):
    """Sines and cosines of BROS's boxes, in float32; its own code computes them in the precision of its weights.

    Args:
        size: numbers for each coordinate.
        projection: layer that takes the result, in whose precision it is returned.
    """

    def __init__(self, size: int, projection: nn.Linear) -> None:
        super().__init__()
        self._size = size
        self._projection = [projection]  # A list, so that it is no part of this module.

    def frequencies(self, device: torch.device) -> torch.Tensor:
        """[size / 2] float32."""
        return 1 / 10_000 ** (torch.arange(0.0, self._size, 2.0, device=device) / self._size)

    def forward(self, boxes: torch.Tensor) -> torch.Tensor:
        """[…, coordinates] → […, coordinates × size]: for each its sines, then its cosines."""
        angles = boxes.float().unsqueeze(-1) * self.frequencies(boxes.device)
        found = torch.cat([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        return found.to(self._projection[0].weight.dtype)


def _check(folder: Path) -> None:
    """Refuse a model of another kind, one that scores relations, and one whose embeddings do not cover a page."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    kind, architectures = config.get("model_type"), config.get("architectures") or ()
    if kind not in IN_SHARES:
        raise ModelError(f"the folder {folder.name} has a model of a kind that is not served with boxes, {kind!r}")
    if any("Spade" in str(each) for each in architectures):
        raise ModelError(f"the folder {folder.name} has a model that scores relations of tokens; only labels are read")
    places = config.get("max_2d_position_embeddings", LARGEST + 1)
    if not IN_SHARES[kind] and (not isinstance(places, int) or places <= LARGEST):
        raise ModelError(
            f"the folder {folder.name} has embeddings for {places} coordinates of a box; there are {LARGEST + 1}, from "
            f"0 to {LARGEST}"
        )


def _padding_box(options: Options, *, in_shares: bool) -> Box:
    """Read the box of padding tokens from the tokenizer's options, in the model's numbers; zeros if they name none."""
    box = options.get("pad_token_box") or [0] * 4
    if not is_box(box):
        raise ModelError(f"tokenizer_config.json has a `pad_token_box` that is no box: {box!r}")
    left, top, right, bottom = (each / LARGEST if in_shares else each for each in box)
    return left, top, right, bottom


def _picture(folder: Path, config: Any) -> PictureInput:
    """Read how the folder's image processor makes numbers of a picture; LayoutLMv3's own values are the defaults.

    Raises:
        ModelError: its pictures have another size than the model's, or a value is no number.
    """
    files = [name for name in (PREPROCESSOR, PROCESSOR) if (folder / name).is_file()]
    options = picture_options({name: read_object(folder / name) for name in files})
    size = options.get("size", config.input_size)
    sides = {size} if isinstance(size, int) else set(size.values()) if isinstance(size, dict) else {None}
    if sides != {config.input_size} or config.input_size % 2:
        raise ModelError(
            f"{PREPROCESSOR} makes pictures of the size {size!r}, and the model sees {config.input_size} pixels"
        )
    factor = options.get("rescale_factor", 1 / 255) if options.get("do_rescale", True) else 1
    normal = options.get("do_normalize", True)
    mean, deviation = (
        _colours(options.get(name, 0.5) if normal else plain) for name, plain in (("image_mean", 0), ("image_std", 1))
    )
    if not isinstance(factor, int | float) or 0 in deviation:
        raise ModelError(f"{PREPROCESSOR} says nothing of numbers: a factor {factor!r} and deviations {deviation}")
    return PictureInput(config.input_size, factor, mean, deviation)


def _colours(said: object) -> Colours:
    """A number for each colour, or for all."""
    match [said] * 3 if isinstance(said, int | float) else said:
        case [int() | float() as red, int() | float() as green, int() | float() as blue]:
            return red, green, blue
    raise ModelError(f"{PREPROCESSOR} says no number for each colour: {said!r}")
