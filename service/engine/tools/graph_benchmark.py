"""`python -m service.engine.tools.graph_benchmark MODEL`: times each row of a model as a CUDA graph and prints JSON.

For the table that `make gpu` prints. Needs CUDA: prints an empty object without it.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from model_store.local.catalog import Catalog
from service.engine.cuda_graphs.buckets import buckets
from service.engine.cuda_graphs.capturable import NotCapturable
from service.engine.cuda_graphs.capture import CudaGraphCapture
from service.engine.cuda_graphs.graph import CapturableEncoder, GraphCapture, GraphedRow
from service.engine.cuda_graphs.graphed_encoder import GraphedEncoder
from service.engine.cuda_graphs.validation import race
from service.engine.device.dtype import choose_dtype
from service.engine.encoder.encoder import load_encoder
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.factory import ModelFactory
from service.engine.tools.engine_benchmark import LATENCY_TOKENS
from service.engine.tools.printed_figures import print_figures
from service.metrics.gpu import GraphMetrics
from service.process import exit_now
from service.settings import Settings


def main() -> int:
    """Print one JSON object; argument: the model."""
    return print_figures(_figures)


def _figures(settings: Settings, model: str) -> dict[str, Any]:
    factory = ModelFactory(settings, DeviceExecutor(), lambda: None)
    if factory.device.type != "cuda":
        return {}
    revision = Catalog(settings.model_store).resolve(model)
    encoder = load_encoder(revision.folder, factory.device, choose_dtype(settings.dtype, factory.device))
    return graphs(encoder, CudaGraphCapture(factory.device))


def graphs(encoder: CapturableEncoder, graph_capture: GraphCapture) -> dict[str, Any]:
    """The check of each row up to one that fails, and one document's time without and with its graph."""
    graphed = GraphedEncoder(encoder, graph_capture, lambda _: None, GraphMetrics(), "")
    rows: list[dict[str, Any]] = []
    document = None
    for bucket in buckets(encoder.max_tokens):
        begun = time.perf_counter()
        try:
            graph, check = graphed.try_capture(bucket)
        except (NotCapturable, RuntimeError) as error:  # Torch's errors are RuntimeErrors.
            rows.append({"tokens": bucket.tokens, "failed": f"{type(error).__name__}: {error}".splitlines()[0]})
            break
        rows.append(
            {
                "tokens": bucket.tokens,
                "plain_ms": check.plain_seconds * 1_000,
                "graph_ms": check.graph_seconds * 1_000,
                "error": check.error,
                "right": check.is_accurate(encoder.dtype_name),
                "kept": check.is_good(encoder.dtype_name),
                "seconds": time.perf_counter() - begun,
            }
        )
        if bucket.fits([LATENCY_TOKENS]):
            document = _document(encoder, graph)
    return {"rows": rows, "document": document}


@torch.inference_mode()
def _document(encoder: CapturableEncoder, graph: GraphedRow) -> dict[str, float]:
    document = [np.zeros(LATENCY_TOKENS, dtype=np.int32)]
    plain_seconds, graph_seconds = race(
        lambda batch: encoder.begin(batch)(), graph.forward, document, time.perf_counter
    )
    return {"plain_ms": plain_seconds * 1_000, "graph_ms": graph_seconds * 1_000}


if __name__ == "__main__":
    exit_now(main())
