"""`python -m service.engine.tools.kernel_benchmark MODEL`: times a model's ways to compute on a GPU and prints JSON.

Fused layers in 16 bits, and in 8 where the device has such products, those by torch's row operators and by compiled
ones; for the table that `make gpu` prints. Needs CUDA: no way is listed without it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from model_store.local.catalog import Catalog
from service.core.errors import ModelError
from service.engine.device.dtype import FP8, choose_dtype
from service.engine.encoder.cuda.options import FusedOptions
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.execution.executor import DeviceExecutor
from service.engine.execution.packed_batch import pack
from service.engine.models.factory import ModelFactory
from service.engine.tools.printed_figures import print_figures
from service.process import exit_now
from service.settings import Settings

SEQUENCE_TOKENS = 128
BATCH_TOKENS = (2_048, 8_192, 65_536)
WARM_RUNS, RUNS = 2, 9


def main() -> int:
    """Print one JSON object; argument: the model."""
    return print_figures(_figures)


def _figures(settings: Settings, model: str) -> dict[str, Any]:
    return {"tokens": BATCH_TOKENS, "ways": list(_ways(settings, model))}


def _ways(settings: Settings, model: str) -> Iterator[dict[str, Any]]:
    """What was asked for and what runs (a device may refuse, a model may not fit), with milliseconds of each size."""
    factory = ModelFactory(settings, DeviceExecutor(), lambda: None)
    if factory.device.type != "cuda":
        return
    folder = Catalog(settings.model_store).resolve(model).folder
    for dtype_setting, compiled in (("auto", False), (FP8, False), (FP8, True)):
        try:
            dtype = choose_dtype(dtype_setting, factory.device)
        except ModelError:
            continue
        options = FusedOptions(compiled_kernels=compiled, float8=dtype_setting == FP8)
        encoder = load_encoder(folder, factory.device, dtype, options=options)
        yield {
            "asked": f"{dtype_setting}, {'compiled' if compiled else 'torch'}",
            "runs": f"{encoder.dtype_name}, {encoder.kernels.value}, {encoder.path.path.value}",
            "milliseconds": [_milliseconds(encoder, tokens) for tokens in BATCH_TOKENS],
        }


@torch.inference_mode()
def _milliseconds(encoder: TransformersEncoder, tokens: int) -> float:
    """The median time of a batch, from its launch to its end on the device."""
    sequences = [np.zeros(SEQUENCE_TOKENS, dtype=np.int32)] * (tokens // SEQUENCE_TOKENS)
    batch = pack(sequences, encoder.device, encoder.first_position)
    seconds = []
    for _ in range(WARM_RUNS + RUNS):
        torch.cuda.synchronize(encoder.device)
        begun = time.perf_counter()
        encoder.compute(batch)
        torch.cuda.synchronize(encoder.device)
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds[WARM_RUNS:]) * 1_000


if __name__ == "__main__":
    exit_now(main())
