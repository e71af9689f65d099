"""Configurations of GLiNER2 folders, of the architectures `span` and `boundary` (2.5).

What is not served is refused when a folder is published (`model_store/families/gliner2.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from model_store.families.family import CONFIG
from model_store.families.gliner2 import BOUNDARY, TRUNK_CONFIG
from service.core.arrays import Logits
from service.core.decoding.records import condense_records, is_record_pool
from service.core.decoding.spans import grid_candidates, pool_candidates
from service.families.free_labels.config import LabelConfig, read_json, unreadable


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


class Gliner2Config(LabelConfig, frozen=True, kw_only=True):
    """Configuration that both architectures share."""

    labels_per_pass: int = 50

    @property
    def most_labels(self) -> int:
        return self.labels_per_pass


class SpanConfig(Gliner2Config, frozen=True, kw_only=True):
    """Configuration of a GLiNER2 model.

    Attributes:
        max_width: longest entity in words.
        counting_layer: the layer that makes the queries of labels.
    """

    max_width: int = 8
    counting_layer: str = "count_lstm"

    @property
    def overlap_words(self) -> int:
        """The least overlap of windows: every span is whole in one, with words around it."""
        return 2 * self.max_width

    @property
    def chooses_by_total(self) -> bool:
        """False: the best entities come first, as with labels that compete."""
        return False

    def condense(self, scores: Logits, limit: float) -> Logits:
        return grid_candidates(scores, self.max_width, limit)


class BoundaryConfig(Gliner2Config, frozen=True, kw_only=True):
    """Configuration of a GLiNER2.5 model, whose spans have no longest width."""

    boundary_head: BoundaryOptions

    @property
    def finds_records(self) -> bool:
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


def read_config(folder: Path) -> SpanConfig | BoundaryConfig:
    """The configuration of a folder. Raises ModelError where it cannot be read."""
    content = read_json(folder / CONFIG, dict[str, Any])
    content["encoder_config"] = read_json(folder / TRUNK_CONFIG, dict[str, Any])
    try:
        if content.get("architecture") == BOUNDARY:
            return msgspec.convert(content, BoundaryConfig)
        given = content | (content.get("span_head") or {})  # Older ones have no head.
        return msgspec.convert({name: each for name, each in given.items() if each is not None}, SpanConfig)
    except msgspec.ValidationError as error:
        raise unreadable(folder, error) from error
