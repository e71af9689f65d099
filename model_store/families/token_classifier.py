"""Folders of token classifiers, as transformers writes them: architecture and labels from config.json. Pure."""

from __future__ import annotations

from collections.abc import Collection

from model_store.errors import FolderProblem
from model_store.families.family import (
    CONFIG,
    TOKENIZER_CONFIG,
    Contents,
    Json,
    ModelConfig,
    max_tokens,
    remote_code_problems,
)

_SUFFIX = "ForTokenClassification"
_DEFAULT_LABELS = ("LABEL_0", "LABEL_1")
"""The default labels of transformers for two classes, which it does not write to config.json."""


class TokenClassifierFolder:
    """Folders of models that score each token for labels of their own."""

    config, subfolders = CONFIG, ()
    more_configs: tuple[str, ...] = ()
    conversion = ""
    has_labels = True

    def owns(self, contents: Contents) -> bool:
        """True for each folder with the usual configuration: the other families are asked first."""
        return CONFIG in contents

    def problems(self, contents: Contents, names: Collection[str]) -> list[FolderProblem]:
        """The reasons why the configuration describes no token classifier that can be served."""
        config = contents[CONFIG]
        problems = remote_code_problems(contents, (CONFIG, TOKENIZER_CONFIG))
        if not isinstance(config.get("model_type"), str) or not config.get("model_type"):
            problems.append(FolderProblem("no_model_type", f"{CONFIG} must say its `model_type`."))
        problems += _architecture_problems(config)
        if "id2label" in config and _labels(config) is None:
            sentence = f"`id2label` in {CONFIG} must give each class 0, 1, 2, … a label of its own."
            problems.append(FolderProblem("labels", sentence))
        return problems

    def describe(self, contents: Contents) -> ModelConfig:
        """The properties of a folder without problems."""
        config = contents[CONFIG]
        labels = _labels(config) if "id2label" in config else _DEFAULT_LABELS
        assert labels is not None
        model_type = str(config["model_type"])
        return ModelConfig(
            architecture=_architecture(config) or f"{model_type}{_SUFFIX}",
            model_type=model_type,
            labels=labels,
            max_tokens=max_tokens(config, contents.get(TOKENIZER_CONFIG, {})),
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
