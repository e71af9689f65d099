"""What a model is, by its config."""

from __future__ import annotations

import pytest

from model_store.contents.model_config import describe, description_problems

CONFIG = {
    "architectures": ["BertForTokenClassification"],
    "model_type": "bert",
    "max_position_embeddings": 512,
    "id2label": {"0": "O", "1": "B-NAME"},
}


def without(*keys: str, **more: object) -> dict[str, object]:
    return {key: value for key, value in CONFIG.items() if key not in keys} | more


def test_labels_come_in_the_order_of_their_classes() -> None:
    labels = {str(number): f"L{number}" for number in reversed(range(12))}
    assert describe(without(id2label=labels), {}).labels == tuple(f"L{number}" for number in range(12))


def test_two_classes_without_names_have_the_names_that_transformers_gives_them() -> None:
    assert describe(without("id2label"), {}).labels == ("LABEL_0", "LABEL_1")


def test_labels_without_an_architecture_are_enough() -> None:
    assert description_problems(without("architectures"), {}) == []
    assert describe(without("architectures"), {}).architecture == "bertForTokenClassification"


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
def test_the_longest_input_is_what_positions_and_tokenizer_both_allow(
    config: dict[str, object], tokenizer_config: dict[str, object], tokens: int
) -> None:
    assert describe(config, tokenizer_config).max_tokens == tokens


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (without(auto_map={"AutoModel": "evil.Model"}), "remote code never runs"),
        (without(architectures=["BertForSequenceClassification"]), "only token classifiers"),
        (without("architectures", "id2label"), "neither a token classification architecture"),
        (without("model_type"), "`model_type`"),
        (without(id2label={"0": "O", "2": "B-NAME"}), "each class"),
        (without(id2label={"0": "O", "1": "O"}), "each class"),
        (without(id2label={"0": "O", "1": ""}), "each class"),
        (without(id2label=["O"]), "each class"),
    ],
)
def test_what_is_no_token_classifier_is_explained(config: dict[str, object], sentence: str) -> None:
    assert any(sentence in problem for problem in description_problems(config, {}))


def test_a_tokenizer_may_not_ask_for_remote_code_either() -> None:
    assert "tokenizer_config.json" in description_problems(CONFIG, {"auto_map": {}})[0]
