"""Padded rows: groups of similar or equal lengths, and the check that a row has the logits that it has alone."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import AutoModelForTokenClassification, AutoTokenizer, PreTrainedModel

from service.core.arrays import TokenIds
from service.core.errors import ModelError
from service.engine.encoder.encoder import TransformersEncoder, load_encoder, read_checkpoint
from service.engine.encoder.forward_path import ChosenPath, ForwardPath, PathReason
from service.engine.encoder.padded_rows import Segments, group_rows, pad, path_of_rows
from service.text.pipeline import prepare
from service.text.tokenizer import TextTokenizer
from tests.support.tiny_models import MAX_TOKENS, MIXING, UNPACKABLE, make_model

CPU = torch.device("cpu")
EQUAL = ChosenPath(ForwardPath.EQUAL, PathReason.PADDING)
SPARSE_FROM_TOKENS = (5 + 2) * 16 + 1
"""From this length on the tiny BigBird attends sparsely, to one random block of 16 tokens."""


def _sequences(*lengths: int) -> list[TokenIds]:
    random = np.random.default_rng(1)
    return [random.integers(5, 200, length).astype(np.int32) for length in lengths]


def _small(folder: Path, kind: str) -> Path:
    """A model of one layer; Funnel pools, and so mixes rows, between two."""
    return make_model(folder, kind, layers=2 if kind == "funnel" else 1)


def _load(folder: Path, kind: str, known: ChosenPath | None = None) -> TransformersEncoder:
    return load_encoder(_small(folder, kind), CPU, torch.float32, known=known)


@cache
def _unused(folder: Path) -> PreTrainedModel:
    return AutoModelForTokenClassification.from_pretrained(folder)


def _fresh(folder: Path, tokens: TokenIds) -> np.ndarray:
    """What transformers computes for a sequence, with a model that has computed nothing before."""
    model = deepcopy(_unused(folder))
    with torch.no_grad():
        return np.asarray(model(input_ids=torch.from_numpy(tokens).long()[None]).logits[0])


@pytest.mark.parametrize("kind", [*MIXING, "big_bird"])
def test_a_model_that_mixes_rows_runs_rows_of_equal_length(tmp_path: Path, kind: str) -> None:
    encoder = _load(tmp_path, kind)
    assert encoder.path == EQUAL
    sequences = _sequences(40, 3, 38, MAX_TOKENS - 2, 40, 39, 120, 200)
    for given, tokens in zip(encoder.forward(sequences), sequences, strict=True):
        np.testing.assert_allclose(given, _fresh(tmp_path, tokens), atol=1e-4, rtol=0)


@pytest.mark.parametrize("kind", UNPACKABLE)
def test_a_model_whose_mask_hides_padding_runs_padded(tmp_path: Path, kind: str) -> None:
    checkpoint = read_checkpoint(make_model(tmp_path, kind), torch.float32)
    path = ChosenPath(ForwardPath.PADDED, PathReason.ARCHITECTURE)
    assert path_of_rows(checkpoint, PathReason.ARCHITECTURE, MAX_TOKENS) == path


@pytest.mark.parametrize(("longest", "path"), [(SPARSE_FROM_TOKENS - 1, "padded"), (SPARSE_FROM_TOKENS + 20, "equal")])
def test_only_lengths_that_a_model_will_get_are_tried(tmp_path: Path, longest: int, path: str) -> None:
    checkpoint = read_checkpoint(make_model(tmp_path, "big_bird"), torch.float32)
    assert path_of_rows(checkpoint, PathReason.ARCHITECTURE, longest).path == path


def test_a_model_whose_rows_change_each_other_runs_them_one_by_one(tmp_path: Path) -> None:
    checkpoint = read_checkpoint(make_model(tmp_path, "deberta-v2"), torch.float32)
    checkpoint.model.classifier.register_forward_hook(lambda _, __, logits: logits - logits.mean(0))
    assert path_of_rows(checkpoint, PathReason.ARCHITECTURE, 64) == ChosenPath(ForwardPath.SINGLE, PathReason.BATCH)


@pytest.mark.parametrize("known", [None, ChosenPath(ForwardPath.PADDED, PathReason.ARCHITECTURE)])
def test_a_short_row_leaves_the_logits_of_long_ones(tmp_path: Path, known: ChosenPath | None) -> None:
    encoder = _load(tmp_path, "big_bird", known)
    long, short = _sequences(SPARSE_FROM_TOKENS + 100, 30)
    for _ in range(2):
        np.testing.assert_allclose(encoder.forward([long])[0], _fresh(tmp_path, long), atol=1e-4, rtol=0)
        encoder.forward([short])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_trial_in_half_precision_leaves_a_model_as_it_was(tmp_path: Path, dtype: torch.dtype) -> None:
    encoder = load_encoder(_small(tmp_path, "big_bird"), CPU, dtype)
    assert encoder.dtype_reason == ""
    long, short = _sequences(SPARSE_FROM_TOKENS + 100, 30)
    (before,) = encoder.forward([long])
    encoder.forward([short])
    np.testing.assert_array_equal(encoder.forward([long])[0], before)
    np.testing.assert_allclose(before, _fresh(tmp_path, long), atol=0.05, rtol=0)


@pytest.mark.parametrize(("path", "groups"), [("equal", [[0, 2], [3], [1, 4]]), ("single", [[0], [1], [2], [3], [4]])])
def test_rows_share_a_batch_as_far_as_the_path_allows(path: str, groups: list[list[int]]) -> None:
    assert group_rows([9, 7, 9, 8, 7], ForwardPath(path)) == groups


XLNET, FUNNEL, LAST_TWO = "$A:0 [SEP]:0 [CLS]:2", "[CLS]:2 $A:0 [SEP]:0", "[CLS] $A:1 [SEP]:1"


@pytest.mark.parametrize(
    ("kind", "template", "given"),
    [
        ("xlnet", XLNET, True),
        ("funnel", FUNNEL, True),
        ("convbert", LAST_TWO, True),
        ("bert", LAST_TWO, True),
        ("bert", LAST_TWO, False),
        ("xlnet", XLNET, False),
        ("mpnet", "<s>:1 $A:1 </s>:1", True),
        ("fnet", "[CLS] $A [SEP]", True),
    ],
)
def test_segment_ids_are_those_of_transformers(tmp_path: Path, kind: str, template: str, given: bool) -> None:
    _small(tmp_path, kind)
    _write_template(tmp_path, template, ["input_ids", "attention_mask", *["token_type_ids"] * given])
    text = "invoice number 12 from anna smith in berlin"
    inputs = dict(AutoTokenizer.from_pretrained(tmp_path)(text, return_tensors="pt"))
    if kind == "mpnet":  # It takes none.
        del inputs["token_type_ids"]
    with torch.no_grad():
        theirs = AutoModelForTokenClassification.from_pretrained(tmp_path)(**inputs).logits[0]
    tokenizer = TextTokenizer(tmp_path)
    prepared = prepare(tokenizer, text, longest=MAX_TOKENS, overlap=0)
    ours, _ = load_encoder(tmp_path, CPU, torch.float32).forward([*prepared.sequences, *_sequences(3)])
    np.testing.assert_allclose(ours, theirs, atol=1e-4, rtol=0)


def test_segment_ids_that_a_model_has_no_embeddings_for_are_refused(tmp_path: Path) -> None:
    make_model(tmp_path, "convbert")
    _write_template(tmp_path, FUNNEL, ["input_ids", "token_type_ids"])
    with pytest.raises(ModelError, match="a segment id 2, and the model embeddings for 2 alone"):
        load_encoder(tmp_path, CPU, torch.float32)


def _write_template(folder: Path, template: str, names: list[str]) -> None:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    specials = [part.partition(":")[0] for part in template.split() if not part.startswith("$A")]
    tokenizer.post_processor = TemplateProcessing(
        single=template, special_tokens=[(each, tokenizer.token_to_id(each)) for each in specials]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    options = json.loads((folder / "tokenizer_config.json").read_text()) | {"model_input_names": names}
    (folder / "tokenizer_config.json").write_text(json.dumps(options))


@pytest.mark.parametrize(("length", "wanted"), [(6, [2, 1, 1, 1, 0, 3]), (3, [2, 0, 3]), (2, [0, 3]), (1, [3])])
def test_segment_ids_of_a_sequence(length: int, wanted: list[int]) -> None:
    assert Segments((2,), 1, (0, 3)).of(length).tolist() == wanted


def test_groups_hold_similar_lengths_and_each_sequence_once() -> None:
    lengths = [100, 10, 95, 11, 98, 1, 50, 12]
    groups = group_rows(lengths, ForwardPath.PADDED)
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        padded = len(group) * max(lengths[index] for index in group)
        assert sum(lengths[index] for index in group) >= 0.9 * padded
    assert len(groups) < len(lengths)


def test_padding_is_masked() -> None:
    ids, mask = pad([np.array([5, 6, 7], dtype=np.int32), np.array([8], dtype=np.int32)], padding_id=1)
    assert ids.tolist() == [[5, 6, 7], [8, 1, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]
