"""OpenVINO or ONNX Runtime in a process of its own, which answers JSON lines: the same weights, one text at a time.

Each is used as its documentation advises: all cores for a single text; for many texts at once OpenVINO's queue of
requests, or one ONNX Runtime session of one thread for each core. Texts are tokenized before the clock starts, and not
padded. Each line on stdin is a request {"way": "in turn" | "at once", "texts": […]}; its answer is {"seconds": s}.
The greeting says how far the logits of one text are from torch's.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer

Run = Callable[[Sequence[Any]], Any]
"""Computes texts, each an int64 array of token ids [1, tokens]; in turn it returns their logits."""
CORES = os.cpu_count() or 1
PRECISIONS = {"float32": "f32", "bfloat16": "bf16"}
EXAMPLE_TOKENS, PROOF_TOKENS = 200, 165
"""Tokens of the text with which a model is traced, more than ModernBERT's window: else its mask would not be traced."""


class Logits(torch.nn.Module):
    """A token classifier from ids [texts, tokens] to logits [texts, tokens, labels], without padding."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.model = AutoModelForTokenClassification.from_pretrained(folder, dtype="float32")

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(input_ids=input_ids).logits
        return logits


def openvino(logits: Logits, example: torch.Tensor, precision: str) -> dict[str, Run]:
    """Convert and compile for low latency, and for many at once."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # It reports conversions to its makers.
    from openvino import AsyncInferQueue, Core, convert_model

    core, converted = Core(), convert_model(logits, example_input=example)
    options = {"INFERENCE_PRECISION_HINT": PRECISIONS[precision]}
    lone, many = (
        core.compile_model(converted, "CPU", {**options, "PERFORMANCE_HINT": hint})
        for hint in ("LATENCY", "THROUGHPUT")
    )
    queue = AsyncInferQueue(many)

    def at_once(texts: Sequence[Any]) -> None:
        for ids in texts:
            queue.start_async([ids])
        queue.wait_all()

    return {"in turn": lambda texts: [lone([ids])[0] for ids in texts], "at once": at_once}


def onnxruntime(logits: Logits, example: torch.Tensor, precision: str) -> dict[str, Run]:
    """Export by torch and open a session of all cores, and one session for each; always in float32."""
    from onnxruntime import InferenceSession, SessionOptions

    def session(threads: int) -> Any:
        options = SessionOptions()
        options.intra_op_num_threads = threads
        return InferenceSession(file, options, providers=["CPUExecutionProvider"])

    with tempfile.TemporaryDirectory() as folder:
        file, names = Path(folder) / "model.onnx", ["input_ids"]
        axes = {"input_ids": {0: "texts", 1: "tokens"}}
        torch.onnx.export(logits, (example,), file, input_names=names, dynamic_axes=axes, dynamo=False)
        lone, many = session(CORES), [session(1) for _ in range(CORES)]
    free: SimpleQueue[Any] = SimpleQueue()
    for each in many:
        free.put(each)

    def run(one: Any, ids: Any) -> Any:
        return one.run(None, {"input_ids": ids})[0]

    def run_free(ids: Any) -> None:
        one = free.get()
        run(one, ids)
        free.put(one)

    pool = ThreadPoolExecutor(CORES)
    return {
        "in turn": lambda texts: [run(lone, ids) for ids in texts],
        "at once": lambda texts: list(pool.map(run_free, texts)),
    }


LIBRARIES = {"OpenVINO": openvino, "ONNX Runtime": onnxruntime}


@torch.inference_mode()
def main() -> None:
    """`python -m loadtest.bench.inference_libraries LIBRARY FOLDER PRECISION`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("folder")
    parser.add_argument("precision", choices=PRECISIONS)
    chosen = parser.parse_args()
    answers, sys.stdout = sys.stdout, sys.stderr  # Exporters print.
    logits, tokenizer = Logits(chosen.folder).eval(), AutoTokenizer.from_pretrained(chosen.folder)
    example, proof = (torch.randint(5, 100, (1, tokens)) for tokens in (EXAMPLE_TOKENS, PROOF_TOKENS))
    ways = LIBRARIES[chosen.library](logits, example, chosen.precision)
    difference = abs(ways["in turn"]([proof.numpy()])[0] - logits(proof).numpy()).max()
    print(json.dumps({"difference": float(difference)}), file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        texts = [tokenizer(text, return_tensors="np")["input_ids"].astype("int64") for text in asked["texts"]]
        began = time.perf_counter()
        ways[asked["way"]](texts)
        print(json.dumps({"seconds": time.perf_counter() - began}), file=answers, flush=True)


if __name__ == "__main__":
    main()
