"""A model's properties, from its config."""

from __future__ import annotations

import pytest

from model_store.errors import FolderProblem
from model_store.families.family import Json, ModelConfig
from model_store.families.token_classifier import TokenClassifierFolder

CONFIG = {
    "architectures": ["BertForTokenClassification"],
    "model_type": "bert",
    "max_position_embeddings": 512,
    "id2label": {"0": "O", "1": "B-NAME"},
}


def config_problems(config: Json, tokenizer_config: Json) -> list[FolderProblem]:
    contents = {"config.json": config, "tokenizer_config.json": tokenizer_config}
    return TokenClassifierFolder().problems(contents, contents.keys())


def parse_config(config: Json, tokenizer_config: Json) -> ModelConfig:
    return TokenClassifierFolder().describe({"config.json": config, "tokenizer_config.json": tokenizer_config})


def without(*keys: str, **more: object) -> dict[str, object]:
    return {key: value for key, value in CONFIG.items() if key not in keys} | more


def test_labels_come_in_the_order_of_their_classes() -> None:
    labels = {str(number): f"L{number}" for number in reversed(range(12))}
    assert parse_config(without(id2label=labels), {}).labels == tuple(f"L{number}" for number in range(12))


def test_labels_without_an_architecture_are_enough() -> None:
    assert config_problems(without("architectures"), {}) == []
    assert parse_config(without("architectures"), {}).architecture == "bertForTokenClassification"


@pytest.mark.parametrize(
    ("config", "tokenizer_config", "tokens"),
    [
        (CONFIG, {}, 512),
        (CONFIG, {"model_max_length": 128}, 128),
        (CONFIG, {"model_max_length": 1e30}, 512),
        (CONFIG, {"model_max_length": 1000000000000000019884624838656}, 512),
        (without(model_type="xlm-roberta", max_position_embeddings=514, pad_token_id=1), {}, 512),
        (without(model_type="roberta", max_position_embeddings=514), {}, 512),
        (without(max_position_embeddings=-1), {"model_max_length": 1024}, 1024),
        (without("max_position_embeddings"), {}, 512),
    ],
)
def test_max_tokens_is_the_smaller_limit_of_positions_and_tokenizer(
    config: dict[str, object], tokenizer_config: dict[str, object], tokens: int
) -> None:
    assert parse_config(config, tokenizer_config).max_tokens == tokens


@pytest.mark.parametrize(
    ("config", "code"),
    [
        (without(auto_map={"AutoModel": "evil.Model"}), "remote_code"),
        (without(architectures=["BertForSequenceClassification"]), "architecture"),
        (without("architectures", "id2label"), "no_architecture"),
        (without("model_type"), "no_model_type"),
        (without(id2label={"0": "O", "2": "B-NAME"}), "labels"),
        (without(id2label={"0": "O", "1": "O"}), "labels"),
        (without(id2label={"0": "O", "1": ""}), "labels"),
        (without(id2label=["O"]), "labels"),
    ],
)
def test_a_config_of_another_model_is_a_problem(config: dict[str, object], code: str) -> None:
    assert [problem.code for problem in config_problems(config, {})] == [code]


def test_a_tokenizer_with_remote_code_is_a_problem() -> None:
    (problem,) = config_problems(CONFIG, {"auto_map": {}})
    assert problem.code == "remote_code"
    assert "tokenizer_config.json" in problem.sentence
