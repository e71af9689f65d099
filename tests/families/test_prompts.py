from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.core.errors import ModelError
from service.families.free_labels.prompt import Prompt
from service.families.gliner2.config import SpanConfig, read_config
from service.families.gliner2.prompt import Gliner2Prompt
from service.text.tokenizer import Vocabulary
from tests.support.label_models import HOME, word_tokenizer

GLINER, GLINER2 = "uni-token-bert", "gliner25-boundary"


def prompt(name: str) -> Prompt:
    return word_tokenizer(HOME / name).prompt


def words(name: str, text: str) -> list[str]:
    return [f"{text}."[start:end] for start, end in prompt(name).words(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" \n", []),
        ("Jane Doe-Smith, A_1.", ["Jane", "Doe-Smith", ",", "A_1", "."]),
        ("-a- 3.5 東京の", ["-", "a", "-", "3", ".", "5", "東京の"]),
        ("<<ENT>>", ["<", "<", "ENT", ">", ">"]),
    ],
)
def test_words_are_those_of_gliner(text: str, found: list[str]) -> None:
    assert words(GLINER, text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" ", []),
        ("Ask Jane_X@x.org!", ["Ask", "Jane_X@x.org", "!"]),
        ("see www.x.org/a?b c", ["see", "www.x.org/a?b", "c", "."]),
        ("at www.x.org", ["at", "www.x.org."]),
        (f"{'-' * 9}a@x.org", [f"{'-' * 9}a@x.org", "."]),
        ("@me की", ["@me", "की", "."]),
        ("[E]", ["[", "E", "]", "."]),
    ],
)
def test_words_of_gliner2_know_addresses_and_end_with_a_stop(text: str, found: list[str]) -> None:
    assert words(GLINER2, text) == found


def test_a_mailbox_is_looked_for_in_so_many_characters_alone() -> None:
    dashes = "-" * 128
    assert words(GLINER2, f"{dashes}@x.org") == [f"{dashes}@x.org", "."]
    assert words(GLINER2, f"--{dashes}@x.org") == ["-", "-", f"{dashes}@x.org", "."]


def test_words_of_gliner2_are_read_in_lower_case() -> None:
    two = prompt(GLINER2)
    assert two.tokens(["BERLIN", "berlin"])[0] == two.tokens(["BERLIN", "berlin"])[1]


@pytest.mark.parametrize(
    ("options", "read"),
    [
        ({}, (8, "count_lstm")),
        (
            {"max_width": 12, "architecture": None, "span_head": None, "counting_layer": "count_lstm_v2"},
            (12, "count_lstm_v2"),
        ),
        ({"max_width": 12, "architecture": "span", "span_head": {"max_width": 6}}, (6, "count_lstm")),
    ],
)
def test_a_span_models_options_are_read_of_each_version(
    tmp_path: Path, options: dict[str, Any], read: tuple[int, str]
) -> None:
    (tmp_path / "encoder_config").mkdir()
    (tmp_path / "encoder_config" / "config.json").write_text("{}")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "extractor", **options}))
    config = read_config(tmp_path)
    assert isinstance(config, SpanConfig)
    assert (config.max_width, config.counting_layer) == read


def test_a_tokenizer_without_the_prompts_tokens_is_refused(tmp_path: Path) -> None:
    vocabulary = Vocabulary(HOME / GLINER / "tokenizer.json", "")
    with pytest.raises(ModelError, match="no token"):
        Gliner2Prompt(vocabulary)
