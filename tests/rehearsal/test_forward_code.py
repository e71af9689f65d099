"""What `gleaner_model_path` says runs a model is what the device is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rehearsal.devices import A10G, H200, T4, Device
from tests.rehearsal.engine_parts import SmallEngine
from tests.rehearsal.scene import Gpu, play

LONG = 120
"""Tokens, more than ModernBERT's window has."""
KERNELS = {"flash": "flash_fwd", "memory_efficient": "fmha_cutlassF"}
"""Label → part of the name of a kernel that is launched if it is said, and only then."""
Labels = tuple[str, ...]


def _said_and_launched(gpu: Gpu, kind: str, dtype: str) -> tuple[Labels, set[str]]:
    """The labels of the metric, and which of `KERNELS` a batch launches."""
    engine = SmallEngine(gpu, kind, dtype=dtype, hidden=256)
    status = engine.model.status
    with gpu.kernels() as launched:
        engine.answers([engine.launch(LONG, 7)])
    seen = {label for label, part in KERNELS.items() if any(part in name for name in launched)}
    return (status.path, status.attention, status.kernels, status.dtype, status.reason), seen


@pytest.mark.parametrize(
    ("device", "kind", "dtype", "said"),
    [
        (A10G, "bert", "auto", ("fused", "flash", "cuda", "bfloat16", "none")),
        (A10G, "bert", "float32", ("fused", "memory_efficient", "cuda", "float32", "none")),
        (T4, "bert", "auto", ("fused", "memory_efficient", "cuda", "float16", "none")),
        (H200, "modernbert", "auto", ("packed", "flash", "cuda", "bfloat16", "architecture")),
        (T4, "modernbert", "auto", ("packed", "memory_efficient+windowed", "cuda", "float16", "architecture")),
        (T4, "deberta-v2", "auto", ("padded", "own", "cuda", "float16", "architecture")),
    ],
)
def test_what_is_said_to_run_is_what_is_launched(
    device: Device, kind: str, dtype: str, said: Labels, tmp_path: Path
) -> None:
    found, launched = play(_said_and_launched, device, tmp_path, kind, dtype)
    assert found == said
    assert launched == {label for label in KERNELS if label in {*said, *said[1].split("+")}}
