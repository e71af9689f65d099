"""What the checks of GLiNER's and GLiNER2's folders share: both are given their labels with each request. Pure."""

from __future__ import annotations

from model_store.errors import FolderProblem
from model_store.families.family import TOKENIZER_CONFIG, Contents, Json, ModelConfig, max_tokens, remote_code_problems
from model_store.manifest import LABEL_EXTRACTION

SPAN_MODES = ("markerV0", "marker", "token_level")
SIZES = ("max_width", "max_len")
SERVED: Json = {
    "words_splitter_type": "whitespace",
    "subtoken_pooling": "first",
    "token_pooling": "first",
}
"""Options of which one value is served."""
_ONE_SIDED = ("t5", "mt5", "llama", "qwen2", "qwen3", "gpt2", "mistral")


def trunk_problems(trunk: Json, contents: Contents, missing: str) -> list[FolderProblem]:
    """The reasons why a trunk cannot be served. `missing`: the sentence for a trunk without a `model_type`."""
    problems = remote_code_problems(contents, (TOKENIZER_CONFIG,))
    if not isinstance(trunk.get("model_type"), str):
        problems.append(FolderProblem("no_encoder_config", missing))
    elif trunk["model_type"] in _ONE_SIDED:
        problems.append(unserved(f"an encoder of the kind {trunk['model_type']!a}"))
    return problems


def size_problems(sizes: Json, file: str) -> list[FolderProblem]:
    """A problem for each size in a file that is no number above 0."""
    wrong = (name for name, size in sizes.items() if not isinstance(size, int) or size < 1)
    return [FolderProblem("config", f"`{name}` in {file} must be a number above 0.") for name in wrong]


def other_than(config: Json, served: Json) -> list[FolderProblem]:
    """A problem for each option with another value than the one that is served."""
    others = ((name, config[name]) for name, value in served.items() if config.get(name) not in (None, value))
    return [unserved(f"`{name}` {value!a}") for name, value in others]


def unserved(what: str) -> FolderProblem:
    """The problem of a configuration that has something which is not served."""
    return FolderProblem("unserved_variant", f"The configuration has {what}; models of this variant are not served.")


def described(architecture: str, trunk: Json, contents: Contents) -> ModelConfig:
    """The properties of a model with this trunk."""
    return ModelConfig(
        architecture=architecture,
        model_type=str(trunk["model_type"]),
        labels=(),
        max_tokens=max_tokens(trunk, contents.get(TOKENIZER_CONFIG, {})),
        task=LABEL_EXTRACTION,
    )
