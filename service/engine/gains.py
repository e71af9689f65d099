"""`python -m service.engine.gains MODEL`: what CUDA graphs and one product for query, key and value bring, as JSON.

Owns figures of two ways to launch fewer kernels, for the table that `make gpu` prints: one is an option of the service,
the other is not in it. Graphs need CUDA; on a CPU that part is empty, and layers that were compiled are not fused.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import torch

from model_store.catalog import Catalog
from model_store.store import Revision
from service.engine.buckets import bucket_for, buckets
from service.engine.compute import Compute
from service.engine.cuda_recorder import CudaRecorder
from service.engine.encoder import Encoder, load_encoder
from service.engine.encoder_fused import fuse
from service.engine.graph_verdict import race
from service.engine.graphed import Graphed
from service.engine.held import Held
from service.engine.making import ModelMaker
from service.engine.measuring import CPU_BATCH_TOKENS, GPU_BATCH_TOKENS
from service.engine.precision import choose_dtype
from service.engine.recordable import NotRecordable
from service.engine.trial import LATENCY_TOKENS, latency_seconds, throughput
from service.logs import configure
from service.process import die_with_parent
from service.settings import Settings, read_settings


def main() -> int:
    """Print one JSON object; argument: the model."""
    die_with_parent()
    configure("WARNING")
    settings = read_settings()
    compute = Compute()
    maker = ModelMaker(settings, compute, lambda: None)
    revision = Catalog(settings.model_store).resolve(sys.argv[1])
    figures = {"fused": fused(maker.make(revision), compute, maker.device), **graphs(settings, revision, maker.device)}
    sys.stdout.buffer.write(msgspec.json.encode(figures))
    return 0


def fused(held: Held, compute: Compute, device: torch.device) -> dict[str, Any]:
    """Tokens per second of full batches, and one document's time, with three products and with one."""
    tokens = GPU_BATCH_TOKENS if device.type == "cuda" else CPU_BATCH_TOKENS
    module = held.module()
    assert module is not None, "it was made just now"
    three = {"tokens_per_second": throughput(held, tokens), "document_ms": latency_seconds(held) * 1_000}
    document = [np.zeros(LATENCY_TOKENS, dtype=np.int32)]
    layers = compute.submit(fuse, module, lambda: held.runner.encoder.forward(document)).result()
    if not layers:
        return {"layers": 0}
    one = {"tokens_per_second": throughput(held, tokens), "document_ms": latency_seconds(held) * 1_000}
    return {"layers": layers, "three": three, "one": one}


def graphs(settings: Settings, revision: Revision, device: torch.device) -> dict[str, Any]:
    """Each row as the service would find it, and one document's time without and with its graph."""
    if device.type != "cuda":
        return {"rows": [], "document": None}
    encoder = load_encoder(revision.folder, device, choose_dtype(settings.dtype, device))
    graphed = Graphed(encoder, CudaRecorder(device), lambda _: None)
    return {"rows": list(_rows(encoder, graphed)), "document": _document(encoder, graphed)}


def _rows(encoder: Encoder, graphed: Graphed) -> Iterator[dict[str, Any]]:
    for bucket in buckets(encoder.max_tokens):
        begun = time.perf_counter()
        try:
            _, verdict = graphed.try_out(bucket)
        except (NotRecordable, RuntimeError) as error:  # Torch's errors are RuntimeErrors.
            yield {"tokens": bucket.tokens, "failed": f"{type(error).__name__}: {error}".splitlines()[0]}
            return
        yield {
            "tokens": bucket.tokens,
            "plain_ms": verdict.plain_seconds * 1_000,
            "graph_ms": verdict.graph_seconds * 1_000,
            "error": verdict.error,
            "right": verdict.is_right(encoder.dtype_name),
            "kept": verdict.is_right(encoder.dtype_name) and verdict.is_faster,
            "seconds": time.perf_counter() - begun,
        }


@torch.inference_mode()
def _document(encoder: Encoder, graphed: Graphed) -> dict[str, float] | None:
    bucket = bucket_for(buckets(encoder.max_tokens), [LATENCY_TOKENS])
    if bucket is None:
        return None
    try:
        recording, _ = graphed.try_out(bucket)
    except (NotRecordable, RuntimeError):  # The rows say why.
        return None
    document = [np.zeros(LATENCY_TOKENS, dtype=np.int32)]
    plain, graph = race(encoder.forward, recording.forward, document, time.perf_counter)
    return {"plain_ms": plain * 1_000, "graph_ms": graph * 1_000}


if __name__ == "__main__":
    sys.exit(main())
