"""transformers' token-classification pipeline in a process of its own, which answers JSON lines.

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


def main() -> None:
    """`python -m loadtest.bench.transformers_pipeline FOLDER`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    model = AutoModelForTokenClassification.from_pretrained(folder, dtype="float32")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    run = pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple")
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(run, **json.loads(line))), flush=True)


@torch.inference_mode()
def _answer(run: Any, batch_size: int, texts: list[str]) -> dict[str, Any]:
    began = time.perf_counter()
    entities = [[_plain(entity) for entity in document] for document in run(texts, batch_size=batch_size)]
    return {"seconds": time.perf_counter() - began, "entities": entities}


def _plain(entity: dict[str, Any]) -> dict[str, Any]:
    score = float(entity["score"])
    return {"label": entity["entity_group"], "start": entity["start"], "end": entity["end"], "score": score}


if __name__ == "__main__":
    main()
