"""transformers' own token-classification pipeline, in one process that answers on its standard output.

Set up as its documentation advises for throughput: a list of texts, a batch size, no gradient, float32 (its default).
Each line read on stdin is a JSON order {"batch_size": n, "texts": […]}; each answer is {"seconds": s, "entities": […]}.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline


def main() -> None:
    """`python -m loadtest.peers.transformers_pipeline FOLDER`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    model = AutoModelForTokenClassification.from_pretrained(folder)
    judge = pipeline(
        "token-classification",
        model=model,
        tokenizer=AutoTokenizer.from_pretrained(folder),
        aggregation_strategy="simple",
    )
    print(json.dumps({"ready": True, "threads": torch.get_num_threads()}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_run(judge, **json.loads(line))), flush=True)


@torch.inference_mode()
def _run(judge: Any, batch_size: int, texts: list[str]) -> dict[str, Any]:
    begun = time.perf_counter()
    found = judge(texts, batch_size=batch_size)
    seconds = time.perf_counter() - begun
    names = {"entity_group": "label", "start": "start", "end": "end"}
    entities = [
        [
            {**{ours: entity[theirs] for theirs, ours in names.items()}, "score": float(entity["score"])}
            for entity in each
        ]
        for each in found
    ]
    return {"seconds": seconds, "entities": entities}


if __name__ == "__main__":
    main()
