"""What README.md and service/API.md show is what a newcomer sees, with the built-in model."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.api.openapi import EXAMPLES
from tests.examples import ROOT, URL, Example, ask, examples
from tests.support.openapi_answers import assert_fits
from tests.support.service import Service, serving

API = (ROOT / "service" / "API.md").read_text()
SCORE_TOLERANCE = 0.02
"""Between bfloat16 and float32, and between one processor and another."""


@pytest.fixture(scope="module")
def builtin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """What `make run` starts."""
    with serving(Path(tmp_path_factory.mktemp("builtin"))) as service:
        yield service


def plain(answer: dict[str, Any]) -> list[Any]:
    """An answer's documents without their scores."""
    return [
        {**document, "entities": [{**entity, "score": None} for entity in document["entities"]]}
        for document in answer["documents"]
    ]


def scores(answer: dict[str, Any]) -> list[float]:
    return [entity["score"] for document in answer["documents"] for entity in document["entities"]]


def test_there_are_examples_for_a_text_a_pdf_and_a_docx() -> None:
    commands = [example.command for example in examples()]
    assert [any(word in command for command in commands) for word in ('"text"', ".pdf", ".docx")] == [True] * 3
    assert any(example.answer for example in examples()), "run `python -m tests.examples URL`"


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.command[:60])
def test_an_example_finds_entities(builtin: Service, example: Example) -> None:
    (document,) = ask(example.command, builtin.url)["documents"]
    assert document["error"] is None
    assert document["entities"]


@pytest.mark.parametrize("example", [each for each in examples() if each.answer], ids=lambda each: each.command[:60])
def test_a_printed_answer_is_the_real_one(builtin: Service, example: Example) -> None:
    assert example.answer is not None
    found = ask(example.command, builtin.url)
    assert plain(found) == plain(example.answer)
    assert scores(found) == pytest.approx(scores(example.answer), abs=SCORE_TOLERANCE)
    assert found["model"] == example.answer["model"]
    assert set(found["timing"]) == set(example.answer["timing"])


def test_the_example_of_fields_is_an_invoice_that_adds_up(builtin: Service) -> None:
    (command,) = [example.command for example in examples() if "fields=true" in example.command]
    fields = ask(command, builtin.url)["documents"][0]["fields"]
    assert fields["kind"] == "invoice"
    assert {"invoice_id", "supplier_name", "receiver_name", "total_amount"} <= set(fields["roles"])
    assert [check["holds"] for check in fields["checks"]] == [True, True]
    assert fields["line_items"]


@pytest.mark.parametrize("command", re.findall(r"^\$ (curl .+)$", API, re.MULTILINE), ids=lambda command: command[:60])
def test_a_command_of_the_api_page_is_answered(builtin: Service, command: str, tmp_path: Path) -> None:
    asked = command.replace(URL, builtin.url).replace("/tmp/redacted.pdf", str(tmp_path / "redacted.pdf"))
    done = subprocess.run(["bash", "-c", f"{asked} -w '%{{http_code}}'"], cwd=ROOT, capture_output=True, timeout=120)
    assert done.stdout.endswith(b"200"), done.stdout[-500:]


@pytest.mark.parametrize("path", EXAMPLES)
def test_an_answer_of_the_page_at_docs_is_the_real_one(builtin: Service, path: str) -> None:
    example = EXAMPLES[path]
    if "request" not in example:
        assert set(builtin.get(path).json()) == set(example["answer"])
        return
    found = httpx.post(builtin.url + path, json=example["request"], timeout=240.0).json()
    assert plain(found) == plain(example["answer"])
    assert found["model"] == example["answer"]["model"]


@pytest.mark.parametrize("name", ["invoice.pdf", "resume.docx"])
def test_the_fields_of_a_sample_are_as_openapi_describes_them(builtin: Service, name: str) -> None:
    files = {"file": (name, (ROOT / "loadtest/samples" / name).read_bytes())}
    answer = httpx.post(builtin.url + "/extract", files=files, data={"fields": "true"}, timeout=240.0)
    assert answer.json()["documents"][0]["fields"]
    assert_fits(builtin.get("/openapi.json").json(), answer, "/extract")
