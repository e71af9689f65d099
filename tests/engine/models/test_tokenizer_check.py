"""A folder's tokens against those of transformers, with each option of tokenizer_config.json that changes some."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loadtest.bench.random_models import write_tokenizer
from service.core.errors import ModelError
from service.engine.models.tokenizer_check import refuse_other_tokens
from tests.support.tiny_models import make_model

BERT, ROBERTA = {"tokenizer_class": "BertTokenizer"}, {"tokenizer_class": "RobertaTokenizer"}
ADDED = {"content": "berlin", "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}


def _folder(folder: Path, kind: str, options: dict[str, Any]) -> Path:
    make_model(folder, kind)
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | options))
    return folder


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("bert", BERT | {"do_lower_case": False}),
        ("bert", BERT | {"strip_accents": False}),
        ("bert", BERT | {"tokenize_chinese_chars": False}),
        ("roberta", ROBERTA | {"add_prefix_space": False}),
        ("bert", {"additional_special_tokens": ["Jane"]}),
        ("bert", {"extra_special_tokens": ["zebra"]}),
        ("bert", {"added_tokens_decoder": {"900": ADDED}}),
        ("bert", {"split_special_tokens": True}),
        ("bert", {"cls_token": "[FIRST]"}),
    ],
    ids=lambda value: next(reversed(value)) if isinstance(value, dict) else value,
)
def test_an_option_that_changes_tokens_is_refused_by_name(tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=f"by its option {next(reversed(options))}: "):
        refuse_other_tokens(_folder(tmp_path, kind, options))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("bert", {}),
        ("bert", {"padding_side": "left", "unheard_of": 7}),
        ("bert", BERT | {"do_lower_case": True, "strip_accents": None}),
        ("bert", {"additional_special_tokens": ["[MASK]"], "split_special_tokens": False}),
        ("roberta", ROBERTA | {"add_prefix_space": True}),
        ("deberta-v2", {"bos_token": None}),
    ],
    ids=str,
)
def test_options_that_leave_the_tokens_pass(tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    refuse_other_tokens(_folder(tmp_path, kind, options))


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_a_folder_without_options_passes(tmp_path: Path, content: str | None) -> None:
    make_model(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    if content is not None:
        (tmp_path / "tokenizer_config.json").write_text(content)
    refuse_other_tokens(tmp_path)


def test_models_of_the_benchmarks_may_be_published(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    refuse_other_tokens(tmp_path)
