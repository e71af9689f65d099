"""Models that see pages, served: what transformers answers for the same words, boxes and pictures; whole files."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoModelForTokenClassification, AutoTokenizer

from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.support.document_files import pdf, simple_pdf
from tests.support.extraction import assert_problem, placed_page
from tests.support.service import PLAIN, Service, serving
from tests.support.tiny_models import BOXED, LABELS, WORDS, make_model

PICTURED = "layoutlmv3"
SIDE = 32
LINES = ("anna maria smith paid", "invoice number 4711-b, total", "due in berlin", "Zürich by anna")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("layout")


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[Service]:
    for kind in BOXED:
        publish(make_model(home / kind, kind, seed=7), kind, Store(home / "store"))
    with serving(home, MODELS=",".join(BOXED), MODEL_POLL_SECONDS=0, DTYPE="float32") as running:
        yield running


def picture(level: int) -> Image.Image:
    """A picture that grows darker to the right."""
    return Image.fromarray(np.tile(np.linspace(255, level, 60).astype(np.uint8), (80, 1))).convert("RGB")


def page(kind: str, *lines: str, level: int = 0) -> dict[str, Any]:
    made = placed_page(*lines)
    if kind == PICTURED:
        file = io.BytesIO()
        picture(level).save(file, "PNG")
        made["image"] = base64.b64encode(file.getvalue()).decode()
    return made


def asked(service: Service, kind: str, *pages: dict[str, Any], **options: Any) -> httpx.Response:
    return service.extract(pages=pages, model=kind, **options)


def places(answer: httpx.Response) -> list[tuple[str, int, tuple[int, int]]]:
    """Label, page and words of each entity."""
    assert answer.status_code == 200, answer.text
    (document,) = answer.json()["documents"]
    return [(each["label"], each["page"], tuple(each["words"])) for each in document["entities"]]


def of_transformers(folder: Path, kind: str, number: int, given: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Label, page and words of each run of words with one label, each tagged by its first token."""
    words, sides = given["words"], (given["width"], given["height"]) * 2
    encoded = AutoTokenizer.from_pretrained(folder)([each["text"] for each in words], is_split_into_words=True)
    owners, shares = encoded.word_ids(), [[at / side for at, side in zip(w["box"], sides, strict=True)] for w in words]
    last = 1.0 if kind in ("layoutlm", "bros") else 0.0
    boxes = np.array([[0.0] * 4, *(shares[each] for each in owners[1:-1]), [last] * 4])
    inputs = {
        "input_ids": torch.tensor([encoded["input_ids"]]),
        "bbox": torch.tensor(boxes[None], dtype=torch.float32) if kind == "bros" else _thousandths(boxes),
    }
    if kind == PICTURED:
        square = np.asarray(picture(0).resize((SIDE, SIDE), Image.Resampling.BILINEAR), np.float32)
        inputs["pixel_values"] = torch.from_numpy(square.transpose(2, 0, 1)[None] / 255 - 0.5) / 0.5
    with torch.no_grad():
        best = AutoModelForTokenClassification.from_pretrained(folder)(**inputs).logits[0].argmax(-1).tolist()
    found: list[tuple[Any, ...]] = []
    for at, owner in enumerate(owners):
        if owner is None or owner == owners[at - 1]:
            continue
        begin, _, label = LABELS[best[at]].partition("-")
        if begin == "I" and found and found[-1][0] == label and found[-1][2][1] == owner:
            found[-1] = (label, number, (found[-1][2][0], owner + 1))
        elif label:
            found.append((label, number, (owner, owner + 1)))
    return found


def _thousandths(boxes: np.ndarray[Any, Any]) -> torch.Tensor:
    return torch.from_numpy((boxes * 1000 + 1e-9).astype(np.int64)[None])


@pytest.mark.parametrize("kind", BOXED)
def test_pages_are_answered_as_by_transformers(service: Service, home: Path, kind: str) -> None:
    pages = [page(kind, *LINES), page(kind, *reversed(LINES))]
    wanted = [
        each for number, given in enumerate(pages, 1) for each in of_transformers(home / kind, kind, number, given)
    ]
    assert places(asked(service, kind, *pages, aggregation="first")) == wanted
    assert wanted


@pytest.mark.parametrize("kind", BOXED)
def test_boxes_matter(service: Service, kind: str) -> None:
    given = page(kind, *LINES)
    words = [{**each, "box": [0, 0, 1, 1]} for each in given["words"]]
    blind = asked(service, kind, {**given, "words": words}).json()["documents"][0]["entities"]
    seeing = asked(service, kind, given).json()["documents"][0]["entities"]
    assert [each["score"] for each in blind] != [each["score"] for each in seeing]


def test_a_page_without_a_picture_is_refused_where_the_model_sees_one(service: Service) -> None:
    assert_problem(asked(service, PICTURED, placed_page(*LINES)), 422, "unreadable_document", "page 1", "image")
    (dark, light) = (asked(service, PICTURED, page(PICTURED, *LINES, level=level)).json() for level in (0, 250))
    assert dark["documents"][0]["entities"] != light["documents"][0]["entities"], "the picture matters"
    broken = {**placed_page(*LINES), "image": base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()}
    assert_problem(asked(service, PICTURED, broken), 422, "unreadable_document", "page 1, image")


@pytest.mark.parametrize("kind", BOXED)
def test_a_text_has_no_page(service: Service, kind: str) -> None:
    answer = service.extract(text="Anna paid.", model=kind)
    assert_problem(answer, 422, "unreadable_document", "pages")


@pytest.mark.parametrize("kind", BOXED)
def test_a_file_is_read_to_the_end_of_its_pages_and_redacted(service: Service, kind: str) -> None:
    vocabulary = WORDS.split()
    words = [(20.0 + 28 * (at % 20), 20.0 + 7.0 * (at // 20), vocabulary[at % len(vocabulary)]) for at in range(2_000)]
    data = pdf(words, [(100.0, 100.0, "anna smith paid")], font_size=5)
    (document,) = _posted(service, "/extract", data, model=kind, aggregation="first").json()["documents"]
    assert (document["error"], document["pages"]) == (None, 2)
    assert document["windows"] > 5
    entities = document["entities"]
    assert {word for each in entities for word in each["text"].split()} <= {*vocabulary}, "whole words"
    assert max(each["boxes"][0][3] for each in entities if each["page"] == 1) > 650
    redacted = _posted(service, "/redact", simple_pdf("anna smith paid the total"), model=kind)
    assert redacted.status_code == 200, redacted.text


def _posted(service: Service, path: str, data: bytes, **options: str) -> httpx.Response:
    headers = {"Content-Type": "application/pdf"}
    return httpx.post(service.url + path, content=data, params=options, headers=headers, timeout=120.0, verify=PLAIN)
