"""A model's properties, from its decoded config.json and tokenizer_config.json: architecture, labels, limits. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model_store.contents.allowed_files import CONFIG, TOKENIZER_CONFIG
from model_store.errors import FolderProblem
from model_store.manifest import TOKEN_CLASSIFICATION, Task

_SUFFIX = "ForTokenClassification"
_POSITIONS_AFTER_PADDING = frozenset(
    {
        "camembert",
        "data2vec-text",
        "ibert",
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

_DEFAULT_LABELS = ("LABEL_0", "LABEL_1")
"""The default labels of transformers for two classes, which it does not write to config.json."""

_FALLBACK_TOKENS = 512
_UNLIMITED_TOKENS = 10**9
"""`model_max_length` from this value on means that the tokenizer has no limit."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """`max_tokens` counts the tokens of one input, special tokens included; `labels[i]` names class i."""

    architecture: str
    model_type: str
    labels: tuple[str, ...]
    max_tokens: int
    task: Task = TOKEN_CLASSIFICATION


Json = Mapping[str, object]


def config_problems(config: Json, tokenizer_config: Json) -> list[FolderProblem]:
    """The reasons why the two files do not describe a token classifier that can be served."""
    problems = []
    for name, content in ((CONFIG, config), (TOKENIZER_CONFIG, tokenizer_config)):
        if "auto_map" in content:
            sentence = f"{name} has `auto_map`, which asks for remote code; remote code never runs here."
            problems.append(FolderProblem("remote_code", sentence))
    if not isinstance(config.get("model_type"), str) or not config.get("model_type"):
        problems.append(FolderProblem("no_model_type", f"{CONFIG} must say its `model_type`."))
    problems += _architecture_problems(config)
    if "id2label" in config and _labels(config) is None:
        sentence = f"`id2label` in {CONFIG} must give each class 0, 1, 2, … a label of its own."
        problems.append(FolderProblem("labels", sentence))
    return problems


def parse_config(config: Json, tokenizer_config: Json) -> ModelConfig:
    """The ModelConfig of files that have no `config_problems`."""
    labels = _labels(config) if "id2label" in config else _DEFAULT_LABELS
    assert labels is not None
    model_type = str(config["model_type"])
    return ModelConfig(
        architecture=_architecture(config) or f"{model_type}{_SUFFIX}",
        model_type=model_type,
        labels=labels,
        max_tokens=max_tokens(config, tokenizer_config),
    )


def _architectures(config: Json) -> list[object]:
    architectures = config.get("architectures")
    return architectures if isinstance(architectures, list) else []


def _architecture(config: Json) -> str | None:
    named = (name for name in _architectures(config) if isinstance(name, str) and name.endswith(_SUFFIX))
    return next(named, None)


def _architecture_problems(config: Json) -> list[FolderProblem]:
    if _architecture(config):
        return []
    if found := _architectures(config):
        sentence = f"{CONFIG} names the architecture {found[0]!a}; only token classifiers (…{_SUFFIX}) are served."
        return [FolderProblem("architecture", sentence)]
    if "id2label" in config:
        return []
    sentence = f"{CONFIG} names neither a token classification architecture (…{_SUFFIX}) nor labels (`id2label`)."
    return [FolderProblem("no_architecture", sentence)]


def _labels(config: Json) -> tuple[str, ...] | None:
    id2label = config.get("id2label")
    if not isinstance(id2label, dict) or not id2label:
        return None
    labels = [id2label.get(str(number)) for number in range(len(id2label))]
    words = [label for label in labels if isinstance(label, str) and label]
    return tuple(words) if len(set(words)) == len(id2label) else None


def max_tokens(config: Json, tokenizer_config: Json) -> int:
    """The smaller limit of position embeddings and tokenizer; 512 if neither has one."""
    limits = []
    positions = _positive(config.get("max_position_embeddings"))
    if positions is not None:
        limits.append(positions - _reserved_positions(config))
    tokens = _positive(tokenizer_config.get("model_max_length"))
    if tokens is not None and tokens < _UNLIMITED_TOKENS:
        limits.append(tokens)
    return max(1, min(limits, default=_FALLBACK_TOKENS))


def _reserved_positions(config: Json) -> int:
    if config.get("model_type") not in _POSITIONS_AFTER_PADDING:
        return 0
    padding = config.get("pad_token_id", 1)
    return padding + 1 if isinstance(padding, int) else 0


def _positive(value: object) -> int | None:
    """`value` as a positive int, floats included (1e30 means no limit); None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    return int(value) if value < _UNLIMITED_TOKENS else _UNLIMITED_TOKENS
