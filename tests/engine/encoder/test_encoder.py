"""Encoders of each architecture on a CPU against the untouched transformers model, one by one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForTokenClassification, BertConfig, BertModel

from service.core.arrays import TokenIds
from service.core.errors import InternalError, ModelError
from service.engine.encoder import converted_model
from service.engine.encoder.converted_model import Inputs
from service.engine.encoder.encoder import TransformersEncoder, build_encoder, load_encoder, read_checkpoint
from service.engine.encoder.forward_path import CONVERTED, ChosenPath, ForwardPath, PathReason
from service.engine.execution.encoder_wrappers import DividedEncoder
from service.engine.execution.executor import DeviceTurns
from service.families.engine.checkpoint import Checkpoint, parameter_bytes
from service.families.token_classifier.engine.reading import read as read_token_classifier
from tests.support.tiny_models import KINDS, MAX_TOKENS, PACKABLE, make_model

CPU = torch.device("cpu")
LENGTHS = (1, 2, 17, MAX_TOKENS, 40, 100, 3)
UNCONVERTED = ("openai_privacy_filter",)
"""Its experts are chosen by its tokens, which a trace does not hold."""

UNLIKE_LAYERS = ("modernbert", "openai_privacy_filter")
"""One of their two layers sees a window."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("models")
    return {kind: make_model(home / kind, kind, layers=2 if kind in UNLIKE_LAYERS else 1) for kind in KINDS}


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
def test_openvino_computes_what_it_converts_and_torch_the_rest(
    kind: str, encoders: dict[str, TransformersEncoder]
) -> None:
    encoder, by_torch = encoders[kind], ChosenPath(ForwardPath.PADDED, PathReason.ARCHITECTURE)
    assert encoder.path == (by_torch if kind in UNCONVERTED else CONVERTED)
    assert (encoder.kernels, encoder.attention) == (("torch", "own") if kind in UNCONVERTED else ("openvino",) * 2)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_tokens_of_a_text_are_computed_as_by_the_untouched_model(
    kind: str, folders: dict[str, Path], encoders: dict[str, TransformersEncoder]
) -> None:
    sequences = _sequences((30, 12))
    for tokens in sequences:
        tokens[[0, 5, 6]] = 1 if read_checkpoint(folders[kind], torch.float32).first_position else 0
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_sequence_has_the_same_logits_to_the_bit_whatever_is_beside_it(
    dtype: torch.dtype, folders: dict[str, Path]
) -> None:
    divided = DividedEncoder(load_encoder(folders["bert"], CPU, dtype), DeviceTurns())
    sequences = _sequences((30, 33, 37, 40, 61, 63, 64, 90, 100))
    for tokens, beside_others in zip(sequences, divided.forward(sequences), strict=True):
        assert np.array_equal(divided.forward([tokens])[0], beside_others)


@pytest.mark.needs("bfloat16")
@pytest.mark.parametrize("kind", KINDS)
def test_bfloat16_scores_stay_near_float32(
    kind: str, folders: dict[str, Path], encoders: dict[str, TransformersEncoder]
) -> None:
    sequences = _sequences((40, 90))
    half = load_encoder(folders[kind], CPU, torch.bfloat16)
    assert half.dtype_name == "bfloat16"
    for given, wanted in zip(half.forward(sequences), encoders[kind].forward(sequences), strict=True):
        assert np.abs(_scores(given) - _scores(wanted)).mean() < 0.01


@pytest.mark.needs("int8")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", ["bert", "modernbert"])
def test_int8_scores_stay_near_float32(tmp_path: Path, kind: str, dtype: torch.dtype) -> None:
    folder = make_model(tmp_path, kind, hidden=64)
    encoder = load_encoder(folder, CPU, dtype, int8=True)
    assert (encoder.dtype_name, encoder.dtype_reason) == ("int8", "")
    sequences = _sequences((40, 90))
    for given, wanted in zip(encoder.forward(sequences), _untouched(folder, sequences), strict=True):
        assert 0 < np.abs(_scores(given) - _scores(wanted)).mean() < 0.03


def test_a_model_that_is_not_converted_says_that_it_is_not_in_int8(tmp_path: Path) -> None:
    encoder = load_encoder(make_model(tmp_path, "fnet"), CPU, torch.float32, int8=True)
    assert (encoder.dtype_name, encoder.dtype_reason) == ("float32", "torch computes no 8-bit integers")


def test_a_converted_model_leaves_no_weights_with_torch(folders: dict[str, Path]) -> None:
    encoder = load_encoder(folders["bert"], CPU, torch.float32)
    assert all(each.is_meta for each in encoder.module.parameters())


def test_a_known_conversion_computes_the_same(
    folders: dict[str, Path], encoders: dict[str, TransformersEncoder]
) -> None:
    encoder = load_encoder(folders["modernbert"], CPU, torch.float32, known=CONVERTED)
    for given, wanted in zip(encoder.forward(_sequences()), encoders["modernbert"].forward(_sequences()), strict=True):
        np.testing.assert_array_equal(given, wanted)


@pytest.mark.parametrize("damage", ["raises", "differs"])
def test_a_conversion_that_fails_or_differs_is_not_used(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = converted_model._traced

    def broken(checkpoint: Checkpoint, inputs: Inputs, tokens: int) -> object:
        if damage == "raises":
            raise RuntimeError("no such operation")
        weight = checkpoint.model.classifier.bias
        weight.data += 0.01
        graph = trace(checkpoint, inputs, tokens).clone()
        weight.data = weight - 0.01
        return graph

    monkeypatch.setattr(converted_model, "_traced", broken)
    encoder = load_encoder(make_model(tmp_path), CPU, torch.float32)
    reason = PathReason.FAILED if damage == "raises" else PathReason.ACCURACY
    assert encoder.path == ChosenPath(ForwardPath.PADDED, reason)
    np.testing.assert_allclose(encoder.forward(_sequences())[2], _untouched(tmp_path, _sequences())[2], atol=1e-4)


def test_openvino_sends_nothing_writes_nothing_and_leaves_signals_alone(tmp_path: Path) -> None:
    """Its own converter reports its use, and keeps an id for that in the home directory. It sets the stack that signals
    are handled on; with it gone after converted models were replaced, the stop of a service ended in a crash.
    """
    folder, home = make_model(tmp_path / "model"), tmp_path / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", WATCHED, str(folder)], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["converted", "converted", "handled"]), done.stderr
    assert list(home.rglob("*")) == []


WATCHED = """
import gc, os, signal, sys, torch
from pathlib import Path
from service.engine.encoder.encoder import load_encoder

def watch(event, _):
    if event.startswith(("socket.", "subprocess.", "os.posix_spawn", "os.fork", "urllib.")):
        print(event)

sys.addaudithook(watch)
signal.signal(signal.SIGTERM, lambda *_: print("handled"))
served = [load_encoder(Path(sys.argv[1]), torch.device("cpu"), torch.float32) for _ in range(2)]
while served:
    print(served[0].path.path)
    del served[0]
    gc.collect()
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_model_of_weights_that_are_no_numbers_still_computes(tmp_path: Path) -> None:
    weights = load_file(make_model(tmp_path) / "model.safetensors")
    weights["classifier.bias"] *= float("nan")
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    encoder = load_encoder(tmp_path, CPU, torch.bfloat16)
    assert encoder.kernels == "torch"
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
    """It would be given every box zero, and answer as a blind one."""
    folder = make_model(tmp_path / "m")
    config = json.loads((folder / "config.json").read_text()) | {"model_type": kind}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=rf"\({kind}\) sees where each token stands"):
        read_token_classifier(folder, torch.float32, hollow=hollow)


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
    assert load_encoder(folder, CPU, torch.float32).path == CONVERTED


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
@pytest.mark.parametrize("kind", PACKABLE)
def test_a_known_path_is_taken(
    kind: str, path: ForwardPath, folders: dict[str, Path], encoders: dict[str, TransformersEncoder]
) -> None:
    encoder = load_encoder(folders[kind], CPU, torch.float32, known=ChosenPath(path))
    assert (encoder.path.path, encoder.kernels) == (path, "torch")
    for given, wanted in zip(encoder.forward(_sequences()), encoders[kind].forward(_sequences()), strict=True):
        np.testing.assert_allclose(given, wanted, atol=1e-4)


def test_a_checkpoint_knows_the_bytes_of_its_weights(folders: dict[str, Path]) -> None:
    checkpoint = read_checkpoint(folders["bert"], torch.float32)
    stored = load_file(folders["bert"] / "model.safetensors")
    assert checkpoint.weight_bytes == sum(each.numel() * each.element_size() for each in stored.values())
    assert parameter_bytes(build_encoder(checkpoint, CPU, torch.float32).module) == checkpoint.weight_bytes
