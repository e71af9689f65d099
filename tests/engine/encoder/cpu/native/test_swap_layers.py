"""The swap of layers: models compute the same with it, and others keep their own layers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from service.core.arrays import Logits
from service.engine.encoder.cpu.native.swap_layers import NativeLayer, join_layers
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from tests.support.tiny_models import make_model

pytestmark = pytest.mark.needs("linear-kernels")

SEQUENCES = [np.arange(5, 5 + length, dtype=np.int32) for length in (40, 3, 17)]


def _load(folder: Path, *, int8: bool = False) -> TransformersEncoder:
    return load_encoder(folder, torch.device("cpu"), torch.bfloat16, int8=int8)


def _joined(encoder: TransformersEncoder) -> int:
    return sum(isinstance(module, NativeLayer) for module in encoder.module.modules())


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "electra"])
@pytest.mark.parametrize("int8", [False, True])
def test_a_swapped_model_computes_the_same_bit_for_bit(
    kind: str, int8: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_model(tmp_path, kind, hidden=128)
    joined = _load(folder, int8=int8)
    monkeypatch.setattr("service.engine.encoder.cpu.native.kernels.join_layers", lambda *_, **__: 0)
    parts = _load(folder, int8=int8)
    assert (_joined(joined), _joined(parts)) == (2, 0)
    assert joined.parameter_bytes == parts.parameter_bytes
    for one, other in zip(joined.forward(SEQUENCES), parts.forward(SEQUENCES), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ["distilbert", "modernbert", "deberta-v2"])
def test_a_model_of_another_kind_keeps_its_layers(kind: str, tmp_path: Path) -> None:
    encoder = _load(make_model(tmp_path, kind, hidden=128))
    assert _joined(encoder) == 0
    assert len(encoder.forward(SEQUENCES)) == len(SEQUENCES)


def test_an_unsupported_head_size_keeps_its_layers(tmp_path: Path) -> None:
    assert _joined(_load(make_model(tmp_path, "bert", hidden=64))) == 0


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TransformersEncoder:
    """A model of BERT's kind whose layers can be swapped, and are not yet."""
    monkeypatch.setattr("service.engine.encoder.cpu.native.kernels.join_layers", lambda *_, **__: 0)
    return _load(make_model(tmp_path, "bert", hidden=128))


def _layers(encoder: TransformersEncoder) -> nn.ModuleList:
    layers = encoder.module.get_submodule("bert.encoder.layer")
    assert isinstance(layers, nn.ModuleList)
    return layers


def _join(encoder: TransformersEncoder) -> int:
    """Swap the layers and count them; the model must compute the same."""
    before = encoder.forward(SEQUENCES)
    joined = join_layers(encoder.module, lambda: encoder.forward(SEQUENCES))
    for one, other in zip(encoder.forward(SEQUENCES), before, strict=True):
        np.testing.assert_array_equal(one, other)
    assert joined == _joined(encoder)
    return joined


def test_a_layer_that_computes_something_else_is_kept(parts: TransformersEncoder) -> None:
    layer = _layers(parts)[1]
    plain = type(layer).forward
    layer.forward = lambda *rows, **rest: plain(layer, *rows, **rest) * 2
    assert _join(parts) == 1
    assert _layers(parts)[1] is layer


def test_a_layer_with_a_sliding_window_is_kept(parts: TransformersEncoder) -> None:
    own = _layers(parts)[0].get_submodule("attention.self")
    plain = type(own).forward
    own.forward = lambda *rows, **rest: plain(own, *rows, sliding_window=8, **rest)
    assert _join(parts) == 1


def test_layers_called_with_a_further_argument_are_kept(parts: TransformersEncoder) -> None:
    """Alone it does what ours does; what the model hands it tells them apart."""
    layer, encoder = _layers(parts)[0], parts.module.get_submodule("bert.encoder")
    plain, plain_encoder = type(layer).forward, type(encoder).forward
    layer.forward = lambda *rows, more=0.0, **rest: plain(layer, *rows, **rest) + more
    encoder.forward = lambda *rows, **rest: plain_encoder(encoder, *rows, more=1.0, **rest)
    _layers(parts)[1].forward = layer.forward
    assert _join(parts) == 0


def test_a_layer_with_another_signature_is_kept(parts: TransformersEncoder) -> None:
    _layers(parts)[0].forward = lambda rows: rows
    assert join_layers(parts.module, list) == 1
    assert [isinstance(layer, NativeLayer) for layer in _layers(parts)] == [False, True]


def test_a_model_that_fails_gets_its_layers_back(parts: TransformersEncoder) -> None:
    def failing_trial() -> list[Logits]:
        if _joined(parts):
            raise AttributeError("NativeLayer has no attention")
        return []

    assert join_layers(parts.module, failing_trial) == 0
    assert _joined(parts) == 0
