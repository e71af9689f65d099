"""What the configuration of a model with free labels says, whatever library wrote it."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from service.core.arrays import Logits
from service.core.errors import ModelError

MOST_WORDS = 1 << 20
"""Most words of a sequence where a configuration sets no limit."""
T = TypeVar("T")


class LabelConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration; its attributes have the names in the file.

    Attributes:
        encoder_config: configuration of the trunk, as transformers writes it.
        max_len: most words of a sequence.
    """

    encoder_config: dict[str, Any] = {}
    max_len: int | None = None

    @property
    @abstractmethod
    def most_labels(self) -> int:
        """The most labels of a sequence."""

    @abstractmethod
    def condense(self, scores: Logits, limit: float) -> Logits:
        """The candidates in the scores of a sequence, of at least this probability."""

    @property
    def overlap_words(self) -> int:
        """The least overlap of windows; 0 where a span may cross their borders, or has no longest width."""
        return 0

    @property
    def scores_spans(self) -> bool:
        """True where spans are scored; else words as starts, ends and insides."""
        return True

    @property
    def chooses_by_total(self) -> bool:
        """True where labels that do not compete have their entities by the greatest total (`core/decoding/spans`)."""
        return True

    @property
    def finds_records(self) -> bool:
        """True where a request may have a schema of records."""
        return False

    @property
    def record_scale(self) -> float:
        """Factor from a span's score to that of a record which begins with it."""
        return 1.0


def read_json(file: Path, kind: type[T]) -> T:
    """The content of a JSON file. Raises ModelError where it is none of this kind."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError) as error:
        raise unreadable(file.parent, error) from error


def unreadable(folder: Path, error: Exception) -> ModelError:
    """The error of a folder whose configuration is not what it should be."""
    return ModelError(f"the configuration of {folder.name} cannot be read: {error}")
