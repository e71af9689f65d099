"""transformers' token-classification pipeline in a process of its own, which answers JSON lines.

Set up as its documentation advises for throughput: a list of texts, a batch size, no gradient, float32 (its default).
Each line on stdin is a request {"batch_size": n, "texts": […]}; its answer is {"seconds": s, "entities": […]}.

No pipeline takes boxes: {"batch_size": n, "pages": […]} is answered by the loop of its documentation, with
{"seconds": s, "labels": […]}, the label of each page's words.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import sys
import time
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline


def main() -> None:
    """`python -m loadtest.bench.transformers_pipeline FOLDER`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    model = AutoModelForTokenClassification.from_pretrained(folder, dtype="float32").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    run = pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple")
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_labels(run, **request) if "pages" in request else _answer(run, **request)), flush=True)


@torch.inference_mode()
def _answer(run: Any, batch_size: int, texts: list[str]) -> dict[str, Any]:
    began = time.perf_counter()
    entities = [[_plain(entity) for entity in document] for document in run(texts, batch_size=batch_size)]
    return {"seconds": time.perf_counter() - began, "entities": entities}


def _plain(entity: dict[str, Any]) -> dict[str, Any]:
    score = float(entity["score"])
    return {"label": entity["entity_group"], "start": entity["start"], "end": entity["end"], "score": score}


@torch.inference_mode()
def _labels(run: Any, batch_size: int, pages: list[dict[str, Any]]) -> dict[str, Any]:
    began = time.perf_counter()
    starts = range(0, len(pages), batch_size)
    labels = [each for start in starts for each in _labels_of(run, pages[start : start + batch_size])]
    return {"seconds": time.perf_counter() - began, "labels": labels}


def _labels_of(run: Any, pages: list[dict[str, Any]]) -> list[list[str]]:
    """The labels of words of pages that are computed together; a page fits a window."""
    words = [[word["text"] for word in page["words"]] for page in pages]
    encoded = run.tokenizer(words, is_split_into_words=True, padding=True, return_tensors="pt")
    owners = [encoded.word_ids(number) for number in range(len(pages))]
    kind = run.model.config.model_type
    boxes = [_boxes(page, each, kind) for page, each in zip(pages, owners, strict=True)]
    exact = torch.tensor(boxes, dtype=torch.float64)
    pictures = {"pixel_values": torch.stack([_pixels(page["image"]) for page in pages])} if kind == "layoutlmv3" else {}
    given = {
        "input_ids": encoded["input_ids"],
        "attention_mask": encoded["attention_mask"],
        "bbox": exact.float() if kind == "bros" else exact.long(),
        **pictures,
    }
    tags = run.model(**given).logits.argmax(-1).tolist()
    return [
        [run.model.config.id2label[tags[row][each.index(word)]] for word in range(len(words[row]))]
        for row, each in enumerate(owners)
    ]


def _boxes(page: dict[str, Any], owners: list[int | None], kind: str) -> list[list[float]]:
    """Each token's box, that of its word, in thousandths of the page's sides; for BROS in parts of 1."""
    most = 1.0 if kind == "bros" else 1000.0
    sides = (page["width"], page["height"]) * 2
    placed = [[most * corner / side for corner, side in zip(word["box"], sides, strict=True)] for word in page["words"]]
    boxes = [[0.0] * 4 if owner is None else placed[owner] for owner in owners]
    if kind in ("layoutlm", "bros"):  # Their separator lies at the page's end, by default.
        end = len(owners) - next(number for number, owner in enumerate(reversed(owners)) if owner is not None)
        boxes[end] = [most] * 4
    return boxes


def _pixels(image: str) -> torch.Tensor:
    """A page's picture as LayoutLMv3 sees it, float32 `[3, 224, 224]`, from -1 to 1."""
    picture = (
        Image.open(io.BytesIO(base64.b64decode(image))).convert("RGB").resize((224, 224), Image.Resampling.BILINEAR)
    )
    return torch.from_numpy(np.asarray(picture, dtype=np.float32)).permute(2, 0, 1) / 127.5 - 1


if __name__ == "__main__":
    main()
