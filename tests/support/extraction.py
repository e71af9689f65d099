"""What system tests send to /extract, and what they expect of a refusal."""

from __future__ import annotations

import random
from typing import Any

import httpx

from tests.support.tiny_models import WORDS

TEXT = "Anna Smith paid the invoice 😀 in Berlin"


def placed_page(*lines: str, unit: float = 1.0, size: tuple[float, float] = (595, 842)) -> dict[str, Any]:
    """A page of words, as a caller's OCR has it; each character is 6 points wide, in `unit` for a point."""
    words: list[dict[str, Any]] = []
    for number, line in enumerate(lines):
        left, top = 50.0, 50.0 + 20 * number
        for word in line.split():
            right = left + 6 * len(word)
            words.append({"text": word, "box": [side * unit for side in (left, top, right, top + 12)]})
            left = right + 6
    return {"width": size[0] * unit, "height": size[1] * unit, "words": words}


def random_texts(count: int, seed: int, shortest: int = 1, longest: int = 60) -> list[str]:
    """Texts of known and unknown words, punctuation and line breaks, `shortest` to `longest` words each."""
    draw = random.Random(seed)
    words = [*WORDS.split(), "Zürich", "unbelievable", "3.14", "(x)", "—", "a-b", "北京", "I.O.U."]
    glue = [" ", " ", " ", ", ", "\n", ". "]
    return [
        "".join(draw.choice(words) + draw.choice(glue) for _ in range(draw.randint(shortest, longest)))
        for _ in range(count)
    ]


def assert_problem(answer: httpx.Response, status: int, code: str, *words: str) -> None:
    """A problem document of this status and code, whose detail has these words."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert set(body) == {"type", "title", "status", "detail", "code"}
    assert (body["status"], body["code"]) == (status, code)
    assert all(word in body["detail"] for word in words), body["detail"]
    assert ("retry-after" in answer.headers) == (status in (429, 503, 504))
