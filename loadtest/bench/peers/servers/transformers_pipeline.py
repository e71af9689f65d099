"""transformers' token-classification pipeline in a process that answers JSON lines.

Set up as its documentation advises for throughput: a list of texts, a batch size, no gradient, float32 (its default).
Each line on stdin is a request {"batch_size": n, "texts": […]}; its answer is {"seconds": s, "entities": […]}.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from loadtest.bench.peers.servers.pipeline import ExtractionPipeline


def main() -> None:
    """`python -m loadtest.bench.peers.servers.transformers_pipeline FOLDER`."""
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
