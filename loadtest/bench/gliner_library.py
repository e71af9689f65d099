"""The `gliner` library in a process of its own, which answers JSON lines.

Each line on stdin is a request {"texts": […], "labels": […], "threshold": t, "batch_size": n}; its answer is
{"seconds": s, "entities": n, "peak_bytes": b}: their number, and the most memory of the process so far.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from typing import Any

from gliner import GLiNER


def main() -> None:
    """`python -m loadtest.bench.gliner_library FOLDER`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    chosen = parser.parse_args()
    answers, sys.stdout = sys.stdout, sys.stderr  # The library prints.
    model = GLiNER.from_pretrained(chosen.folder, local_files_only=True)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(model, **json.loads(line))), file=answers, flush=True)


def _answer(model: Any, texts: list[str], labels: list[str], threshold: float, batch_size: int) -> dict[str, Any]:
    began = time.perf_counter()
    found = model.inference(texts, labels, threshold=threshold, batch_size=batch_size)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "entities": sum(map(len, found)), "peak_bytes": peak}


if __name__ == "__main__":
    main()
