"""Pages per second of models that see where words stand, on a CPU: the service beside transformers' own code.

Both sides have the same random models of base size and the same pages, compute in float32, and take turns.
transformers computes at its best batch size, and also tokenizes. Clients of the service, on the same cores, send one
page a request without a pause; its figures include HTTP and JSON.
"""

from __future__ import annotations

import base64
import io
import random
import statistics
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from PIL import Image, ImageDraw

from loadtest.bench.fixtures import PipelineProcess, published, seconds_to_post, service, texts

MODELS = ("layoutlm", "lilt", "bros", "layoutlmv3")
PAGES = 16
BATCH_SIZES = (1, 4, 8)
CLIENTS = 16
ROUNDS = 3
WIDTH, HEIGHT, MARGIN, LINE, LETTER = 595.0, 842.0, 40.0, 16.0, 5.0
LIBRARY, SERVICE = "transformers' own code", "service"


def measure(home: Path) -> None:
    """Print a row for each kind of model."""
    print("\n## Models that see pages, CPU, float32\n")
    print(f"| model | {LIBRARY}, pages a second | {SERVICE} | ratio in each round | other labels |")
    print("|---|---|---|---|---|")
    for model in MODELS:
        print(f"| {model} | {_row(home, model)} |", flush=True)


def pages() -> list[dict[str, Any]]:
    """Make pages of words in lines, as long as the benchmark's texts, with their pictures."""
    draw = random.Random(5)
    return [_page(text.split(), draw) for text in texts(PAGES)]


def _page(words: list[str], draw: random.Random) -> dict[str, Any]:
    picture = Image.new("RGB", (int(WIDTH), int(HEIGHT)), "white")
    pen, placed = ImageDraw.Draw(picture), []
    left, top = MARGIN, MARGIN
    for word in words:
        wide = LETTER * len(word)
        if left + wide > WIDTH - MARGIN:
            left, top = draw.choice((MARGIN, MARGIN, WIDTH / 3)), top + LINE
        placed.append({"text": word, "box": [left, top, left + wide, top + 10]})
        pen.text((left, top), word, fill="black")
        left += wide + LETTER
    written = io.BytesIO()
    picture.save(written, "PNG")
    image = base64.b64encode(written.getvalue()).decode()
    return {"width": WIDTH, "height": HEIGHT, "words": placed, "image": image}


def _row(home: Path, model: str) -> str:
    folder, sample = published(home, model), pages()
    with ExitStack() as stack:
        running = stack.enter_context(service(home, MODELS=model, DTYPE="float32"))
        library = stack.enter_context(closing(PipelineProcess("loadtest.bench.transformers_pipeline", str(folder))))
        size = max(BATCH_SIZES, key=lambda size: _ask(library, sample[:8], size))
        theirs = library.ask(batch_size=size, pages=sample)["labels"]
        different = _different(theirs, [_labels(running.url, page) for page in sample])
        contenders = {
            LIBRARY: partial(_ask, library, sample, size),
            SERVICE: partial(_ask_service, running.url, sample),
        }
        found = [{name: ask() for name, ask in contenders.items()} for _ in range(ROUNDS)]
    speeds = [f"{statistics.median(each[name] for each in found):.2f}" for name in contenders]
    each = ", ".join(f"{each[SERVICE] / each[LIBRARY]:.2f}" for each in found)
    return f"{speeds[0]} in batches of {size} | {speeds[1]} | {each} | {different:.2%}"


def _ask(library: PipelineProcess, sample: list[dict[str, Any]], size: int) -> float:
    return len(sample) / float(library.ask(batch_size=size, pages=sample)["seconds"])


def _ask_service(url: str, sample: list[dict[str, Any]]) -> float:
    return len(sample) / seconds_to_post(f"{url}/extract", [{"pages": [page]} for page in sample], CLIENTS)


def _labels(url: str, page: dict[str, Any]) -> list[str]:
    """The label of each word, as the service has it."""
    body = {"pages": [page], "aggregation": "simple", "deadline_ms": 300_000}
    (document,) = httpx.post(f"{url}/extract", json=body, timeout=300.0).raise_for_status().json()["documents"]
    labels = ["O"] * len(page["words"])
    for entity in document["entities"]:
        first, end = entity["words"]
        labels[first:end] = [entity["label"]] * (end - first)
    return labels


def _different(theirs: list[list[str]], ours: list[list[str]]) -> float:
    """Share of words whose labels differ."""
    pairs = [
        (one.rpartition("-")[2], other)
        for pair in zip(theirs, ours, strict=True)
        for one, other in zip(*pair, strict=True)
    ]
    return sum(one != other for one, other in pairs) / len(pairs)
