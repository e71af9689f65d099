"""Encoders of each architecture, packed or padded, against the untouched transformers model one by one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForTokenClassification, BertConfig, BertModel

from service.core.arrays import TokenIds
from service.core.errors import InternalError, ModelError
from service.engine.encoder.encoder import TransformersEncoder, build_encoder, load_encoder, read_checkpoint
from service.engine.encoder.forward_path import ChosenPath, ForwardPath
from tests.support.tiny_models import FULL_PRECISION, KINDS, MAX_TOKENS, PACKABLE, UNPACKABLE, make_model

CPU = torch.device("cpu")
LENGTHS = (1, 2, 17, MAX_TOKENS, 40, 100, 3)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: make_model(tmp_path_factory.mktemp("models") / kind, kind) for kind in KINDS}


@pytest.fixture(scope="module")
def encoders(folders: dict[str, Path]) -> dict[str, TransformersEncoder]:
    return {kind: load_encoder(folder, CPU, torch.float32) for kind, folder in folders.items()}


def _sequences(lengths: tuple[int, ...] = LENGTHS, seed: int = 0) -> list[TokenIds]:
    random = np.random.default_rng(seed)
    return [random.integers(5, 200, length).astype(np.int32) for length in lengths]


def _untouched(folder: Path, sequences: list[TokenIds]) -> list[np.ndarray]:
    model = AutoModelForTokenClassification.from_pretrained(folder)
    with torch.no_grad():
        return [model(input_ids=torch.from_numpy(each).long()[None]).logits[0].numpy() for each in sequences]


@pytest.mark.parametrize("kind", KINDS)
def test_logits_equal_the_untouched_model_s_one_by_one(
    kind: str, folders: dict[str, Path], encoders: dict[str, TransformersEncoder]
) -> None:
    sequences = _sequences()
    expected = _untouched(folders[kind], sequences)
    for given, wanted in zip(encoders[kind].forward(sequences), expected, strict=True):
        assert given.dtype == np.float32
        np.testing.assert_allclose(given, wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_a_packable_kind_are_packed(kind: str, encoders: dict[str, TransformersEncoder]) -> None:
    assert encoders[kind].packed == (kind in PACKABLE)
    named = {"deberta-v2": "disentangled", **dict.fromkeys(UNPACKABLE, "own")}
    assert encoders[kind].attention == named.get(kind, "blockwise")


@pytest.mark.parametrize("kind", KINDS)
def test_padding_tokens_of_a_text_are_computed_as_by_the_untouched_model(
    kind: str, folders: dict[str, Path], encoders: dict[str, TransformersEncoder]
) -> None:
    sequences = _sequences((30, 12))
    for tokens in sequences:
        tokens[[0, 5, 6]] = 1 if encoders[kind].first_position else 0
    for given, wanted in zip(encoders[kind].forward(sequences), _untouched(folders[kind], sequences), strict=True):
        np.testing.assert_allclose(given, wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_results_do_not_depend_on_batch_mates_or_order(kind: str, encoders: dict[str, TransformersEncoder]) -> None:
    sequences = _sequences((30, 7, 120, 30, 64))
    together = encoders[kind].forward(sequences)
    backwards = encoders[kind].forward(sequences[::-1])[::-1]
    alone = [encoders[kind].forward([each])[0] for each in sequences]
    for index in range(len(sequences)):
        np.testing.assert_allclose(together[index], alone[index], atol=1e-5, rtol=0)
        np.testing.assert_allclose(backwards[index], alone[index], atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_bfloat16_scores_stay_near_float32(
    kind: str, folders: dict[str, Path], encoders: dict[str, TransformersEncoder]
) -> None:
    sequences = _sequences((40, 90))
    half = load_encoder(folders[kind], CPU, torch.bfloat16)
    assert half.packed == (kind in PACKABLE)
    for given, wanted in zip(half.forward(sequences), encoders[kind].forward(sequences), strict=True):
        assert np.abs(_scores(given) - _scores(wanted)).mean() < 0.01


@pytest.mark.parametrize(
    ("kind", "int8", "fails"),
    [(kind, False, kind in FULL_PRECISION) for kind in (*FULL_PRECISION, "bert", "mpnet")]
    + [("fnet", True, True), ("deberta", True, False), ("bert", True, False)],
)
def test_a_model_whose_code_fails_in_bfloat16_runs_in_float32(
    tmp_path: Path, kind: str, int8: bool, fails: bool
) -> None:
    folder = make_model(tmp_path, kind, hidden=64)
    encoder = load_encoder(folder, CPU, torch.bfloat16, int8=int8)
    assert encoder.dtype_reason.startswith("its code fails in bfloat16: ") == fails
    assert encoder.dtype_name == ("int8" if int8 else "float32" if fails else "bfloat16")
    sequences = _sequences((40, 90))
    for given, wanted in zip(encoder.forward(sequences), _untouched(folder, sequences), strict=True):
        assert np.abs(_scores(given) - _scores(wanted)).mean() < 0.03


def test_weights_that_are_no_numbers_are_no_fault_of_bfloat16(tmp_path: Path) -> None:
    weights = load_file(make_model(tmp_path) / "model.safetensors")
    weights["classifier.bias"] *= float("nan")
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    encoder = load_encoder(tmp_path, CPU, torch.bfloat16)
    assert (encoder.dtype_name, encoder.dtype_reason) == ("bfloat16", "")
    assert np.isnan(encoder.forward(_sequences((40,)))[0]).all()


def _scores(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def test_a_folder_without_a_classification_head_is_refused(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "model")
    config = BertConfig.from_pretrained(folder)
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    with pytest.raises(ModelError, match="no token classification head"):
        load_encoder(folder, CPU, torch.float32)


def test_a_folder_with_pickled_weights_only_is_refused(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "model")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="no safetensors weights"):
        load_encoder(folder, CPU, torch.float32)


@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("kind", ["layoutlm", "lilt", "bros", "layoutlmv2", "layoutlmv3", "markuplm"])
def test_a_model_that_sees_where_a_token_stands_is_refused(kind: str, hollow: bool, tmp_path: Path) -> None:
    """It was served with every box zero, and answered as a blind one."""
    folder = make_model(tmp_path / "m")
    config = json.loads((folder / "config.json").read_text()) | {"model_type": kind}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=rf"\({kind}\) sees where each token stands"):
        read_checkpoint(folder, torch.float32, hollow=hollow)


@pytest.mark.parametrize("change", ["missing", "unexpected"])
def test_a_folder_whose_weights_do_not_fit_its_config_is_refused(tmp_path: Path, change: str) -> None:
    folder = make_model(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    if change == "missing":
        del weights["bert.encoder.layer.1.output.dense.weight"]
    else:
        weights["bert.encoder.layer.9.output.dense.weight"] = torch.zeros(2, 2)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=f"weights {change}"):
        load_encoder(folder, CPU, torch.float32)


def test_unused_pooler_weights_are_accepted(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    weights["bert.pooler.dense.weight"] = torch.zeros(2, 2)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert load_encoder(folder, CPU, torch.float32).packed


@pytest.mark.parametrize("damage", ["config", "weights"])
def test_a_broken_folder_is_refused_with_one_sentence(tmp_path: Path, damage: str) -> None:
    folder = make_model(tmp_path / "model")
    broken = folder / ("config.json" if damage == "config" else "model.safetensors")
    broken.write_bytes(b"{")
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        load_encoder(folder, CPU, torch.float32)
    assert "\n" not in caught.value.detail


def test_the_tokenizer_s_limit_counts_if_it_is_smaller(tmp_path: Path, folders: dict[str, Path]) -> None:
    folder = tmp_path / "model"
    shutil.copytree(folders["bert"], folder)
    settings = folder / "tokenizer_config.json"
    settings.write_text(settings.read_text().replace(f'"model_max_length": {MAX_TOKENS}', '"model_max_length": 128'))
    assert load_encoder(folder, CPU, torch.float32).max_tokens == 128


@pytest.mark.parametrize("tokens", [[], [7] * (MAX_TOKENS + 1), [5, -1], [5, 99_999]])
def test_a_sequence_that_the_model_cannot_take_is_refused(
    tokens: list[int], encoders: dict[str, TransformersEncoder]
) -> None:
    with pytest.raises(InternalError):
        encoders["bert"].forward([np.array(tokens, dtype=np.int32)])


@pytest.mark.parametrize("path", [ForwardPath.PACKED, ForwardPath.PADDED])
def test_a_known_path_is_taken(
    folders: dict[str, Path], encoders: dict[str, TransformersEncoder], path: ForwardPath
) -> None:
    encoder = load_encoder(folders["bert"], CPU, torch.float32, known=ChosenPath(path))
    assert encoder.path.path is path
    for given, wanted in zip(encoder.forward(_sequences()), encoders["bert"].forward(_sequences()), strict=True):
        np.testing.assert_allclose(given, wanted, atol=1e-4)


def test_a_checkpoint_knows_the_bytes_of_its_weights(folders: dict[str, Path]) -> None:
    checkpoint = read_checkpoint(folders["bert"], torch.float32)
    stored = load_file(folders["bert"] / "model.safetensors")
    assert checkpoint.weight_bytes == sum(each.numel() * each.element_size() for each in stored.values())
    assert build_encoder(checkpoint, CPU, torch.float32).parameter_bytes == checkpoint.weight_bytes
