"""Kernels a layer on each device: what is launched, by name, for each kind of model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.cuda_emulator.devices import A10G, H200, L4, T4, Device
from tests.cuda_emulator.emulated_run import Gpu, emulate
from tests.support.tiny_models import make_model

LAYERS = 3


def _launched(gpu: Gpu, kind: str, dtype: str) -> tuple[str, str, str, list[Counter[str]]]:
    """The path, its reason, the precision, and the kernels of one batch with one layer and with more."""
    from service.engine.device.selection import choose_device, choose_dtype
    from service.engine.encoder.encoder import load_encoder
    from service.families.engine.page_input import example

    device = choose_device("cuda")
    counts = []
    for layers in (LAYERS, 2 * LAYERS):
        folder = make_model(
            gpu.folder / str(layers), kind, hidden=384 if kind in ("lilt", "layoutlmv3") else 256, layers=layers
        )
        encoder = load_encoder(folder, device, choose_dtype(dtype, device))
        batch = [example(np.full(length, 7, dtype=np.int32), encoder.page) for length in (2, 17, 40)]
        encoder.forward(batch)
        with gpu.kernels() as kernels:
            encoder.forward(batch)
        counts.append(Counter(kernels))
    return encoder.path.path.value, encoder.path.reason.value, encoder.dtype_name, counts


def _per_layer(counts: list[Counter[str]]) -> Counter[str]:
    """Kernels of one layer, by a part of their names."""
    more, fewer = counts[1], counts[0]
    names: Counter[str] = Counter()
    for name, count in (more - fewer).items():
        names[_role(name)] += count
    assert all(count % LAYERS == 0 for count in names.values()), names
    return Counter({role: count // LAYERS for role, count in names.items()})


def _role(name: str) -> str:
    roles = {
        "flash_fwd": "flash",
        "fmha_cutlassF": "fmha",
        "layer_norm": "norm",
        "GeluCUDAKernel": "gelu",
        "Gelu": "gelu",
    }
    roles |= {"gemm": "product", "Lt": "product", "matmul": "product", "add": "add", "Fill": "fill"}
    return next((role for part, role in roles.items() if part.lower() in name.lower()), name)


@pytest.mark.parametrize("kind", ["bert", "distilbert", "electra", "layoutlm"])
@pytest.mark.parametrize(("device", "attention"), [(T4, "fmha"), (A10G, "flash"), (L4, "flash"), (H200, "flash")])
def test_a_layer_of_bert_s_kind_is_seven_kernels(device: Device, attention: str, kind: str, tmp_path: Path) -> None:
    path, reason, _, counts = emulate(_launched, device, tmp_path, kind, "auto")
    assert (path, reason) == ("fused", "none")
    assert _per_layer(counts) == {"product": 4, attention: 1, "norm": 2}


def test_flash_attention_fills_the_tensor_that_it_is_given(tmp_path: Path) -> None:
    assert emulate(_filled, A10G, tmp_path) == (True, {"flash": 1})


def _filled(gpu: Gpu) -> tuple[bool, dict[str, int]]:
    import torch

    from service.engine.encoder.attention import AttentionCall
    from service.engine.encoder.attention_backends import FlashAttention

    rows = torch.empty(8, 2, 64, device="cuda", dtype=torch.bfloat16)
    borders, out = torch.tensor([0, 3, 8], dtype=torch.int32, device="cuda"), torch.empty_like(rows)
    call = AttentionCall(rows, rows, rows, borders, (0, 3, 8), 5, 0.125, None, out)
    with gpu.kernels() as kernels:
        found = FlashAttention().run(call)
    return found.data_ptr() == out.data_ptr(), {_role(name): count for name, count in kernels.items()}


def test_in_float32_gelu_is_a_kernel_of_its_own(tmp_path: Path) -> None:
    path, _, dtype, counts = emulate(_launched, A10G, tmp_path, "bert", "float32")
    assert (path, dtype) == ("fused", "float32")
    assert _per_layer(counts) == {"product": 4, "fmha": 1, "norm": 2, "gelu": 1}


def test_other_models_keep_their_code_and_it_is_said(tmp_path: Path) -> None:
    assert emulate(_launched, A10G, tmp_path, "modernbert", "auto")[:2] == ("packed", "architecture")
    assert emulate(_launched, T4, tmp_path, "deberta-v2", "auto")[:2] == ("packed", "architecture")
    assert emulate(_launched, A10G, tmp_path, "layoutlmv3", "auto")[:3] == ("padded", "architecture", "bfloat16")


@pytest.mark.parametrize(("kind", "attention"), [("lilt", "flash"), ("bros", "fmha")])
def test_boxes_in_attention_take_one_kernel_of_it_a_layer(kind: str, attention: str, tmp_path: Path) -> None:
    path, reason, dtype, counts = emulate(_launched, A10G, tmp_path, kind, "auto")
    assert (path, reason, dtype) == ("packed", "architecture", "bfloat16")
    assert _per_layer(counts)[attention] == 1
