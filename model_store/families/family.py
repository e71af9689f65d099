"""A family of models, as its folders tell: the interface of each one, and what their checks share. Pure.

A folder is known by the names of its files and by its decoded JSON files, `contents`. How a family's models are served
is in the package of the same name in `service/families`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from model_store.errors import FolderProblem
from model_store.manifest import TOKEN_CLASSIFICATION, Task

CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"

Json = Mapping[str, object]
Contents = Mapping[str, Json]
"""A folder's JSON files by their names."""

POSITIONS_AFTER_PADDING = frozenset(
    {
        "camembert",
        "data2vec-text",
        "ibert",
        "layoutlmv3",
        "lilt",
        "longformer",
        "luke",
        "mpnet",
        "roberta",
        "roberta-prelayernorm",
        "xlm-roberta",
        "xlm-roberta-xl",
        "xmod",
    }
)
"""Model types that count positions from `pad_token_id + 1`, and so can use that many fewer."""
FALLBACK_TOKENS = 512
UNLIMITED_TOKENS = 10**9
"""Least `model_max_length` which means that the tokenizer has no limit."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A model's properties, from its configuration.

    `max_tokens` counts the tokens of one input, special tokens included; `labels[i]` names class i. `needs`:
    a phrase for the publisher on what its documents must have beside a text.
    """

    architecture: str
    model_type: str
    labels: tuple[str, ...]
    max_tokens: int
    task: Task = TOKEN_CLASSIFICATION
    needs: str = ""


class FolderFamily(Protocol):
    """A kind of models, as far as their folders tell.

    Attributes:
        config: name of the JSON file that every folder has.
        more_configs: names of other JSON files that say how its models compute.
        subfolders: names of folders that may stand in one, each with files of the usual names.
        conversion: how a folder is written whole, as the end of a sentence; empty where its tools do it anyway.
        has_labels: True if a model has labels of its own, so that it can be trained; else each request gives it some.
    """

    @property
    def config(self) -> str: ...
    @property
    def more_configs(self) -> tuple[str, ...]: ...
    @property
    def subfolders(self) -> tuple[str, ...]: ...
    @property
    def conversion(self) -> str: ...
    @property
    def has_labels(self) -> bool: ...

    def owns(self, contents: Contents) -> bool:
        """True for a folder of this family."""

    def problems(self, contents: Contents, names: Collection[str]) -> list[FolderProblem]:
        """The reasons why one of its folders, with files of these names, cannot be served."""

    def describe(self, contents: Contents) -> ModelConfig:
        """The properties of a folder without problems."""


def remote_code_problems(contents: Contents, names: Iterable[str]) -> list[FolderProblem]:
    """A problem for each of these files that asks for code."""
    sentence = "{} has `auto_map`, which asks for remote code; remote code never runs here."
    asking = (name for name in names if "auto_map" in contents.get(name, {}))
    return [FolderProblem("remote_code", sentence.format(name)) for name in asking]


def max_tokens(config: Json, tokenizer_config: Json) -> int:
    """The smaller limit of position embeddings and tokenizer; 512 if neither has one."""
    limits = []
    positions = _positive(config.get("max_position_embeddings"))
    if positions is not None:
        limits.append(positions - _reserved_positions(config))
    tokens = _positive(tokenizer_config.get("model_max_length"))
    if tokens is not None and tokens < UNLIMITED_TOKENS:
        limits.append(tokens)
    return max(1, min(limits, default=FALLBACK_TOKENS))


def _reserved_positions(config: Json) -> int:
    if config.get("model_type") not in POSITIONS_AFTER_PADDING:
        return 0
    padding = config.get("pad_token_id", 1)
    return padding + 1 if isinstance(padding, int) else 0


def _positive(value: object) -> int | None:
    """`value` as a positive int, floats included (1e30 means no limit); None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    return int(value) if value < UNLIMITED_TOKENS else UNLIMITED_TOKENS
