"""transformers' token-classification pipeline, which every peer runs; as a program it answers JSON lines.

Set up as its documentation advises for throughput: a list of texts, a batch size, no gradient, float32 (its default).
Each line on stdin is a request {"batch_size": n, "texts": […]}; its answer is {"seconds": s, "entities": […]}.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

Entities = list[dict[str, Any]]


class ExtractionPipeline:
    """A pipeline with `simple` aggregation; with `threads` 0 torch chooses their number."""

    def __init__(self, folder: str, threads: int = 0, dtype: str = "float32") -> None:
        if threads:
            torch.set_num_threads(threads)
        model = AutoModelForTokenClassification.from_pretrained(folder, dtype=dtype)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        self._pipeline = pipeline(
            "token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple"
        )

    @torch.inference_mode()
    def entities(self, texts: list[str], batch_size: int) -> list[Entities]:
        """The entities of each text, as JSON values."""
        return [[_plain(entity) for entity in found] for found in self._pipeline(texts, batch_size=batch_size)]

    def answers(self, texts: list[str]) -> list[dict[str, Any]]:
        """The answer for each text of a batch."""
        return [{"documents": [{"entities": found}]} for found in self.entities(texts, len(texts))]


def _plain(entity: dict[str, Any]) -> dict[str, Any]:
    score = float(entity["score"])
    return {"label": entity["entity_group"], "start": entity["start"], "end": entity["end"], "score": score}


def main() -> None:
    """`python -m loadtest.bench.peers.servers.pipeline FOLDER`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--dtype", default="float32")
    chosen = parser.parse_args()
    pipeline = ExtractionPipeline(chosen.folder, dtype=chosen.dtype)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_run(pipeline, **json.loads(line))), flush=True)


def _run(pipeline: ExtractionPipeline, batch_size: int, texts: list[str]) -> dict[str, Any]:
    began = time.perf_counter()
    entities = pipeline.entities(texts, batch_size)
    return {"seconds": time.perf_counter() - began, "entities": entities}


if __name__ == "__main__":
    main()
