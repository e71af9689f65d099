"""Configuration of a GLiNER folder: `gliner_config.json`, with the library's defaults where it says nothing.

What is not served is refused when a folder is published (`model_store/families/gliner.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from model_store.families.gliner import GLINER_CONFIG
from service.core.arrays import Logits
from service.core.decoding.spans import grid_candidates
from service.families.free_labels.config import LabelConfig, read_json

TOKEN_LEVEL = "token_level"


class GlinerConfig(LabelConfig, frozen=True, kw_only=True):
    """Configuration of a GLiNER model.

    Attributes:
        labels_encoder, labels_encoder_config: name and configuration of another trunk, which reads the labels of a
            bi-encoder.
        max_width: longest entity in words, where spans are scored.
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
    max_len: int | None = 384
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
    def most_labels(self) -> int:
        """The most labels of a sequence; of a bi-encoder that scores spans, to which they cost little, more."""
        return 4 * self.max_types if self.reads_labels_apart and self.scores_spans else self.max_types

    @property
    def overlap_words(self) -> int:
        """The least overlap of windows: every span is whole in one, with words around it."""
        return 2 * self.max_width if self.scores_spans else 0

    @property
    def reads_labels_apart(self) -> bool:
        """True for a bi-encoder, whose labels are in no prompt and do not change each other's scores."""
        return self.labels_encoder is not None

    def condense(self, scores: Logits, limit: float) -> Logits:
        """The candidates in the scores of a sequence; starts, ends and insides as they are: spans cross windows."""
        return grid_candidates(scores, self.max_width, limit) if self.scores_spans else scores


def read_config(folder: Path) -> GlinerConfig:
    """The configuration of a folder. Raises ModelError where it cannot be read."""
    return read_json(folder / GLINER_CONFIG, GlinerConfig)
