"""What a model is, read out of its config.json and tokenizer_config.json. Pure: decoded JSON in, a Description out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model_store.contents.allowed_files import CONFIG, TOKENIZER_CONFIG

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
"""Families that count positions from `pad_token_id + 1`, and so have that many fewer to use."""

_DEFAULT_LABELS = ("LABEL_0", "LABEL_1")
"""What transformers assumes, and therefore does not write, for a classifier of two classes without names."""

_FALLBACK_TOKENS = 512
_UNLIMITED_TOKENS = 10**9
"""Tokenizers without a limit say so by an enormous `model_max_length`."""


@dataclass(frozen=True, slots=True)
class Description:
    """`max_tokens` counts the tokens of one input, special tokens included; `labels[i]` names class i."""

    architecture: str
    model_type: str
    labels: tuple[str, ...]
    max_tokens: int


Json = Mapping[str, object]


def description_problems(config: Json, tokenizer_config: Json) -> list[str]:
    """One sentence for each reason why these are no token classifier that can be served."""
    problems = []
    for name, content in ((CONFIG, config), (TOKENIZER_CONFIG, tokenizer_config)):
        if "auto_map" in content:
            problems.append(f"{name} has `auto_map`, which asks for remote code; remote code never runs here.")
    if not isinstance(config.get("model_type"), str) or not config.get("model_type"):
        problems.append(f"{CONFIG} must say its `model_type`.")
    problems += _architecture_problems(config)
    if "id2label" in config and _labels(config) is None:
        problems.append(f"`id2label` in {CONFIG} must give each class 0, 1, 2, … a label of its own.")
    return problems


def describe(config: Json, tokenizer_config: Json) -> Description:
    """The Description; only for what has no `description_problems`."""
    labels = _labels(config) if "id2label" in config else _DEFAULT_LABELS
    assert labels is not None
    model_type = str(config["model_type"])
    return Description(
        architecture=_architecture(config) or f"{model_type}{_SUFFIX}",
        model_type=model_type,
        labels=labels,
        max_tokens=_max_tokens(config, tokenizer_config),
    )


def _architectures(config: Json) -> list[object]:
    architectures = config.get("architectures")
    return architectures if isinstance(architectures, list) else []


def _architecture(config: Json) -> str | None:
    named = (name for name in _architectures(config) if isinstance(name, str) and name.endswith(_SUFFIX))
    return next(named, None)


def _architecture_problems(config: Json) -> list[str]:
    if _architecture(config):
        return []
    if found := _architectures(config):
        return [f"{CONFIG} names the architecture {found[0]!a}; only token classifiers (…{_SUFFIX}) are served."]
    if "id2label" in config:
        return []
    return [f"{CONFIG} names neither a token classification architecture (…{_SUFFIX}) nor labels (`id2label`)."]


def _labels(config: Json) -> tuple[str, ...] | None:
    id2label = config.get("id2label")
    if not isinstance(id2label, dict) or not id2label:
        return None
    labels = [id2label.get(str(number)) for number in range(len(id2label))]
    words = [label for label in labels if isinstance(label, str) and label]
    return tuple(words) if len(set(words)) == len(id2label) else None


def _max_tokens(config: Json, tokenizer_config: Json) -> int:
    """The smaller of what the position embeddings and the tokenizer allow; 512 where neither says anything."""
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
    """`value` as a whole number above 0; tokenizers write their enormous limits as floats."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    return int(value) if value < _UNLIMITED_TOKENS else _UNLIMITED_TOKENS
