"""The engine's attention and encoders on a CUDA device: flash attention in half precision, other kernels in float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from service.core.arrays import TokenIds
from service.engine.device.selection import choose_device, choose_dtype, describe
from service.engine.encoder.attention_backends import TABLE
from service.engine.encoder.encoder import load_encoder
from service.families.engine.page_input import example
from tests.support.tiny_models import BOXED, FUSABLE, KINDS, MAX_TOKENS, PACKABLE, make_model

pytestmark = pytest.mark.needs("cuda")

CPU = torch.device("cpu")
BORDERS = (0, 1, 40, 240, 241)


def _sequences() -> list[TokenIds]:
    random = np.random.default_rng(0)
    return [random.integers(5, 200, length).astype(np.int32) for length in (1, 17, MAX_TOKENS, 40, 3)]


def _attention(device: str, dtype: torch.dtype, window: int | None, *, sinks: bool) -> torch.Tensor:
    """With half as many heads of keys, and with sinks, or without either."""
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, 1, 4, BORDERS[-1], 16, generator=generator).to(dtype).to(device)
    if sinks:
        key, value = key[:, ::2], value[:, ::2]
    borders = torch.tensor(BORDERS, dtype=torch.int32, device=device)
    mixed, _ = TABLE(
        torch.nn.Identity(),
        query,
        key,
        value,
        None,
        cu_seqlens=borders,
        borders=BORDERS,
        max_length=200,
        sliding_window=window,
        s_aux=torch.tensor([-2.0, 0.0, 1.0, 4.0], device=device) if sinks else None,
    )
    return mixed.float().cpu()


@pytest.mark.parametrize("sinks", [False, True])
@pytest.mark.parametrize("window", [None, 9])
@pytest.mark.parametrize("precision", ["float32", "float16", "auto"])
def test_attention_is_what_it_is_on_the_cpu(precision: str, window: int | None, sinks: bool) -> None:
    dtype = choose_dtype(precision, choose_device("cuda"))
    tolerance = 1e-4 if dtype == torch.float32 else 0.02
    expected = _attention("cpu", torch.float32, window, sinks=sinks)
    torch.testing.assert_close(_attention("cuda", dtype, window, sinks=sinks), expected, atol=tolerance, rtol=0)


@pytest.mark.parametrize("kind", [*KINDS, *BOXED])
@pytest.mark.parametrize("precision", ["float32", "auto"])
def test_logits_are_those_of_the_cpu(kind: str, precision: str, tmp_path: Path) -> None:
    device = choose_device("cuda")
    dtype = choose_dtype(precision, device)
    # Head sizes of 16, and 96 and more: flash attention needs multiples of 8.
    folder = make_model(tmp_path / kind, kind, hidden=384 if kind in BOXED else 64)
    on_gpu, on_cpu = load_encoder(folder, device, dtype), load_encoder(folder, CPU, torch.float32)
    assert on_gpu.path.packed == (kind in (*PACKABLE, *BOXED) and kind != "layoutlmv3")
    assert on_gpu.path.fused == (kind in (*FUSABLE, "layoutlm"))
    sequences = [example(each, on_gpu.page, seed) for seed, each in enumerate(_sequences())]
    tolerance = 0.002 if dtype == torch.float32 else 0.1
    for given, wanted in zip(on_gpu.forward(sequences), on_cpu.forward(sequences), strict=True):
        assert np.abs(given - wanted).mean() < tolerance


def test_a_description_names_the_device_and_its_memory() -> None:
    assert describe(choose_device("cuda")).endswith(" GiB")
