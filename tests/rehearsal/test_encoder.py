"""Which models run packed on which device, in which precision, by which kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from service.core.arrays import TokenIds
from tests.rehearsal.devices import A10G
from tests.rehearsal.scene import Gpu, play
from tests.support.tiny_models import make_model


def batch(*lengths: int) -> list[TokenIds]:
    return [np.full(length, 7, dtype=np.int32) for length in lengths]


def _answers(gpu: Gpu) -> tuple[bool, str, list[tuple[int, ...]], list[str]]:
    from service.engine.device.dtype import choose_dtype
    from service.engine.device.selection import choose_device
    from service.engine.encoder.encoder import load_encoder

    device = choose_device("cuda")
    encoder = load_encoder(make_model(gpu.folder / "m", hidden=64), device, choose_dtype("auto", device))
    with gpu.kernels() as kernels:
        rows = encoder.forward(batch(2, 17, 40))
    return encoder.packed, encoder.dtype_name, [row.shape for row in rows], list(kernels)


def test_a_model_is_loaded_packed_and_answers(tmp_path: Path) -> None:
    packed, dtype, shapes, kernels = play(_answers, A10G, tmp_path)
    assert (packed, dtype, shapes) == (True, "bfloat16", [(2, 7), (17, 7), (40, 7)])
    assert any("flash_fwd" in kernel for kernel in kernels)
