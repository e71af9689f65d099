"""The layers that a model gets on a CPU, by precision; with each it computes nearly the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from service.core.arrays import TokenIds
from service.engine.encoder.acceleration import Kernels
from service.engine.encoder.cpu.int8_linear import Int8Linear
from service.engine.encoder.cpu.prepacked_linear import PrepackedLinear
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from tests.support.tiny_models import make_model

CPU = torch.device("cpu")
SEQUENCES: list[TokenIds] = [np.arange(5, 5 + length, dtype=np.int32) for length in (40, 3, 17)]
LINEARS = 13
"""Linear layers in a model of two layers of BERT's kind, the head included."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"), hidden=128)


@pytest.fixture(scope="module")
def exact(folder: Path) -> TransformersEncoder:
    return load_encoder(folder, CPU, torch.float32)


@pytest.mark.parametrize(
    ("dtype", "int8", "kernels", "layers"),
    [
        (torch.float32, False, Kernels.TORCH, {nn.Linear: LINEARS}),
        (torch.float32, True, Kernels.ONEDNN, {nn.Linear: 1, Int8Linear: LINEARS - 1}),
        (torch.bfloat16, False, Kernels.ONEDNN, {PrepackedLinear: LINEARS}),
        (torch.bfloat16, True, Kernels.ONEDNN, {PrepackedLinear: 1, Int8Linear: LINEARS - 1}),
    ],
)
def test_without_the_parked_kernels_torch_and_onednn_compute(
    folder: Path, exact: TransformersEncoder, dtype: torch.dtype, int8: bool, kernels: Kernels, layers: dict[type, int]
) -> None:
    encoder = load_encoder(folder, CPU, dtype, int8=int8, native_kernels=False)
    assert encoder.kernels is kernels
    found = Counter(type(module) for module in encoder.module.modules())
    assert {kind: found[kind] for kind in (nn.Linear, PrepackedLinear, Int8Linear) if found[kind]} == layers
    for near, true in zip(encoder.forward(SEQUENCES), exact.forward(SEQUENCES), strict=True):
        assert np.linalg.norm(near - true) < 0.1 * np.linalg.norm(true)


@pytest.mark.needs("linear-kernels")
@pytest.mark.parametrize("int8", [False, True])
def test_the_parked_kernels_compute_where_they_run(folder: Path, int8: bool) -> None:
    assert load_encoder(folder, CPU, torch.bfloat16, int8=int8).kernels is Kernels.NATIVE
