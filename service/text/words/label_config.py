"""Configuration of a model with free labels: what worker and engine need of its folder.

Two kinds of folders: GLiNER's, with `gliner_config.json`, and GLiNER2's, with a `config.json` of the type `extractor`.
What is not served is refused when a folder is published (`model_store/contents/label_models.py`).
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from service.core.arrays import Logits
from service.core.decoding.records import condense_records, is_record_pool
from service.core.decoding.spans import grid_candidates, pool_candidates
from service.core.errors import ModelError

GLINER_FILE = "gliner_config.json"
CONFIG_FILE = "config.json"
TRUNK_FILE = "encoder_config/config.json"
"""GLiNER2's: the configuration of its trunk."""
LABELS_TOKENIZER = "labels_tokenizer"
"""A bi-encoder's: the folder with the tokenizer of its labels."""
EXTRACTOR = "extractor"
BOUNDARY = "boundary"
"""The `architecture` of GLiNER2.5; of GLiNER2 it is `span`, also where none is named."""
TOKEN_LEVEL = "token_level"
MOST_WORDS = 1 << 20


class _FreeLabels(msgspec.Struct, frozen=True):
    """What holds of most folders."""

    @property
    def scores_spans(self) -> bool:
        """True where spans are scored; else words as starts, ends and insides."""
        return True

    @property
    def finds_records(self) -> bool:
        """True where a request may have a schema of records."""
        return False

    @property
    def record_scale(self) -> float:
        """By how much a span's score is multiplied to say how sure a record is that begins with it."""
        return 1.0


class GlinerConfig(_FreeLabels, frozen=True):
    """A GLiNER folder's, with the library's defaults where it says nothing.

    Attributes:
        encoder_config: of the trunk, as transformers writes it.
        labels_encoder, labels_encoder_config: of another trunk, which reads the labels (a bi-encoder).
        max_width: longest entity in words, of a model that scores spans.
        max_len: most words of a sequence.
        max_types: most labels that it was trained with at a time.
        class_token_index: the id of `ent_token`; -1 where the tokenizer says it.
        embed_ent_token: a label is read at its `ent_token`, and not at the token behind it.
    """

    encoder_config: dict[str, Any]
    labels_encoder: str | None = None
    labels_encoder_config: dict[str, Any] | None = None
    hidden_size: int = 512
    span_mode: str = "markerV0"
    max_width: int = 12
    max_len: int = 384
    max_types: int = 25
    num_rnn_layers: int = 1
    class_token_index: int = -1
    embed_ent_token: bool = True
    ent_token: str = "<<ENT>>"
    sep_token: str = "<<SEP>>"

    @property
    def scores_spans(self) -> bool:
        """Spans of up to `max_width` words, unless it works at token level."""
        return self.span_mode != TOKEN_LEVEL

    @property
    def labels_per_pass(self) -> int:
        """The most labels of a sequence; of a bi-encoder that scores spans, to which they cost little, more."""
        return 4 * self.max_types if self.reads_labels_apart and self.scores_spans else self.max_types

    @property
    def reads_labels_apart(self) -> bool:
        """True for a bi-encoder, whose labels are in no prompt and do not change each other's scores."""
        return self.labels_encoder is not None

    @property
    def overlap_words(self) -> int:
        """The least overlap of windows: every span is whole in one, with words around it."""
        return 2 * self.max_width if self.scores_spans else 0

    def condense(self, scores: Logits, limit: float) -> Logits:
        """The candidates in the scores of a sequence; starts, ends and insides as they are: spans cross windows."""
        return grid_candidates(scores, self.max_width, limit) if self.scores_spans else scores


class BoundaryOptions(msgspec.Struct, frozen=True):
    """The head of GLiNER2.5.

    Attributes:
        pool_boundary_top_k: starts, and ends, whose pairs may be in the pool of candidates.
        enable_records: its folder has the weights that find records.
    """

    boundary_dim: int
    boundary_refinement_layers: int = 1
    pool_boundary_top_k: int = 64
    pool_size: int = 192
    min_pool_per_query: int = 4
    enable_span_content: bool = True
    pair_temperature: float = 1.0
    abstention_threshold: float = 0.5
    enable_records: bool = False
    record_temperature: float = 1.0


class SpanConfig(_FreeLabels, frozen=True):
    """A GLiNER2 folder's, of the architecture `span`. `counting_layer`: what makes the queries of labels."""

    max_width: int = 8
    counting_layer: str = "count_lstm"
    encoder_config: dict[str, Any] = {}
    max_len: int | None = None
    labels_per_pass: int = 50

    @property
    def overlap_words(self) -> int:
        """The least overlap of windows: every span is whole in one, with words around it."""
        return 2 * self.max_width

    def condense(self, scores: Logits, limit: float) -> Logits:
        """The candidates in the scores of a sequence."""
        return grid_candidates(scores, self.max_width, limit)


class Gliner2Config(_FreeLabels, frozen=True):
    """A GLiNER2 folder's, of the architecture `boundary` (2.5)."""

    boundary_head: BoundaryOptions
    encoder_config: dict[str, Any] = {}
    max_len: int | None = None
    labels_per_pass: int = 50

    @property
    def overlap_words(self) -> int:
        """There is no longest span."""
        return 0

    @property
    def finds_records(self) -> bool:
        """As its folder says."""
        return self.boundary_head.enable_records

    @property
    def record_scale(self) -> float:
        """The score of a pair is divided by one temperature, and that of a record by another."""
        return self.boundary_head.pair_temperature / self.boundary_head.record_temperature

    def condense(self, scores: Logits, limit: float) -> Logits:
        """The candidates in the scores of a sequence; of one that asks for records, their pool."""
        if is_record_pool(scores):
            return condense_records(scores, limit, self.record_scale)
        return pool_candidates(scores, limit)


LabelConfig = GlinerConfig | SpanConfig | Gliner2Config


def config_file(folder: Path) -> str | None:
    """The file that describes a model with free labels; None for a folder of another model."""
    if (folder / GLINER_FILE).is_file():
        return GLINER_FILE
    with suppress(OSError, ValueError):
        content = json.loads((folder / CONFIG_FILE).read_bytes())
        if isinstance(content, dict) and content.get("model_type") == EXTRACTOR:
            return CONFIG_FILE
    return None


def is_label_model(folder: Path) -> bool:
    """True for a folder whose model is given its labels."""
    return config_file(folder) is not None


def read_config(folder: Path) -> LabelConfig:
    """The configuration of a folder that is a label model's.

    Raises:
        ModelError: it cannot be read.
    """
    try:
        if config_file(folder) == GLINER_FILE:
            return msgspec.json.decode((folder / GLINER_FILE).read_bytes(), type=GlinerConfig)
        content = msgspec.json.decode((folder / CONFIG_FILE).read_bytes(), type=dict[str, Any])
        trunk = msgspec.json.decode((folder / TRUNK_FILE).read_bytes(), type=dict[str, Any])
        if content.get("architecture") == BOUNDARY:
            return msgspec.convert({**content, "encoder_config": trunk}, Gliner2Config)
        given = {**content, **(content.get("span_head") or {}), "encoder_config": trunk}  # Older ones have no head.
        return msgspec.convert({name: each for name, each in given.items() if each is not None}, SpanConfig)
    except (OSError, msgspec.DecodeError) as error:
        raise ModelError(f"the configuration of {folder.name} cannot be read: {error}") from error
