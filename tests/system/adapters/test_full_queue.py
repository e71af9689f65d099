"""A full queue, at every adapter and by its unmodified client: refused in the protocol's words, with when to come back.

Meanwhile other clients keep the queue full by asking again and again. Nothing of theirs is lost: what was let in is
answered, and what was not is refused with a type and a `Retry-After`.
"""

from __future__ import annotations

import base64
import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.adapter_clients import FREE, key_line, run_client
from tests.support.extraction import random_texts
from tests.support.service import Service, serving, wait_until

ADAPTERS = "huggingface,sagemaker,comprehend,presidio,oip,mcp,gliner,gliner2"
KEY = {"X-API-Key": FREE}
LIMIT_TOKENS, TOKENS_PER_SECOND = 8_000, 800
CALLERS = 20
"""They bring twice what the queue takes, so that what one answer frees is far from what an adapter's document needs."""
FILLER = random_texts(1, seed=21, shortest=500, longest=500)[0]
LONG = random_texts(1, seed=22, shortest=5_000, longest=5_000)[0]
PAUSE_SECONDS = 0.5


class Crowd:
    """Callers that ask for entities one after another until they are told to stop."""

    def __init__(self, service: Service) -> None:
        self.statuses: Counter[int] = Counter()
        self.wrong: list[str] = []
        self._service = service
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(CALLERS)]

    def __enter__(self) -> Crowd:
        for each in self._threads:
            each.start()
        wait_until(lambda: self._service.metric("gleaner_queue_tokens") > 0.5 * LIMIT_TOKENS)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for each in self._threads:
            each.join()

    def _ask(self) -> None:
        with self._service.client(timeout=600.0) as client:
            while not self._stopped.is_set():
                answer = client.post("/extract", json={"text": FILLER, "deadline_ms": 600_000}, headers=KEY)
                self.statuses[answer.status_code] += 1
                if not _is_right(answer):
                    self.wrong.append(answer.text)
                self._stopped.wait(PAUSE_SECONDS if answer.status_code != 200 else 0)


def _is_right(answer: httpx.Response) -> bool:
    if answer.status_code == 200:
        return len(answer.json()["documents"][0]["entities"]) > 0
    return answer.json()["code"] == "queue_full" and int(answer.headers["retry-after"]) >= 1


@pytest.fixture(scope="module")
def full(home: Path) -> Iterator[Service]:
    """A service whose queue is full while the tests of this file run; afterwards all is answered and counted."""
    settings = {"MODELS": "tiny", "DTYPE": "float32", "ADAPTERS": ADAPTERS, "WORKERS": 2}
    limits = {"QUEUE_LIMIT_TOKENS": LIMIT_TOKENS, "PACE_TOKENS_PER_SECOND": TOKENS_PER_SECOND}
    with serving(home, **settings, **limits, API_KEYS=key_line("free", FREE)) as service:
        with Crowd(service) as crowd:
            yield service
        assert crowd.wrong == []
        assert set(crowd.statuses) == {200, 429}
        wait_until(lambda: service.metric("gleaner_requests_in_flight") == 0, 60)
        for status, count in crowd.statuses.items():
            assert service.metric(f'gleaner_requests_total{{route="/extract",status="{status}"}}') == count
        wait_until(lambda: service.metric("gleaner_queue_documents") == 0)
        assert service.is_ready()
        with service.client() as client:
            answer = client.post("/", json={"inputs": LONG}, headers=KEY)
        assert answer.status_code == 200, "what comes back later is taken"


def asked(service: Service, name: str, case: dict[str, Any]) -> Any:
    """What the client of an adapter made of one long document."""
    (found,) = run_client(name, service.url, [{"key": FREE, **case}])
    return found


def seconds(message: str) -> int:
    """When to come back, as a sentence says it."""
    return int(message.rpartition("Retry after ")[2].partition(" s")[0])


def test_hugging_face_s_client_gets_429_and_retry_after(full: Service) -> None:
    found = asked(full, "huggingface", {"text": LONG})
    assert (found["status"], found["body"]["error_type"]) == (429, "queue_full")
    assert int(found["retry"]) >= 1


def test_sagemaker_s_boto3_raises_throttling(full: Service) -> None:
    body = base64.b64encode(json.dumps({"text": LONG}).encode()).decode()
    found = asked(full, "sagemaker", {"body": body, "type": "application/json"})
    assert (found["status"], found["code"]) == (429, "ThrottlingException")
    assert "tokens wait" in found["message"]
    assert int(found["retry"]) >= 1


def test_comprehend_s_boto3_raises_too_many_requests(full: Service) -> None:
    found = asked(
        full, "comprehend", {"operation": "detect_entities", "arguments": {"Text": LONG, "LanguageCode": "en"}}
    )
    assert (found["status"], found["code"], found["typed"]) == (429, *["TooManyRequestsException"] * 2)
    assert "tokens wait" in found["message"]
    assert int(found["retry"]) >= 1


def test_presidio_s_caller_gets_its_error_and_retry_after(full: Service) -> None:
    found = asked(full, "presidio", {"path": "/analyze", "body": {"text": LONG, "language": "en"}})
    assert found["status"] == 429
    assert "tokens wait" in found["body"]["error"]
    assert int(found["retry"]) >= 1


def test_gliner_s_clients_raise_429_and_say_how_much_waits(full: Service) -> None:
    found = asked(full, "gliner", {"text": LONG, "labels": ["PER"]})
    assert (found["status"], "tokens wait" in found["body"]["error"]) == (429, True)
    assert int(found["retry"]) >= 1
    found = asked(full, "gliner2", {"call": "extract_entities", "arguments": {"text": LONG, "entity_types": ["PER"]}})
    assert (found["class"], "429" in found["message"]) == ("GLiNER2APIError", True)


def test_tritonclient_raises_with_when_to_come_back(full: Service) -> None:
    found = asked(full, "oip", {"call": "infer", "texts": [LONG]})
    assert found["status"] == "429"
    assert "tokens wait" in found["message"]
    assert seconds(found["message"]) >= 1


@pytest.mark.parametrize("tool", ["extract", "redact"])
def test_an_agent_s_tool_says_that_it_was_too_much_and_when_to_come_back(full: Service, tool: str) -> None:
    found = asked(full, "mcp", {"tool": tool, "arguments": {"text": LONG}})
    assert (found["failed"], found["result"]["code"]) == (True, "queue_full")
    assert found["result"]["retry_after_seconds"] >= 1
    assert found["text"] == found["result"]


def test_redact_is_refused_as_extract_is(full: Service) -> None:
    with full.client() as client:
        answer = client.post("/redact", json={"text": LONG}, headers=KEY)
    assert (answer.status_code, answer.json()["code"]) == (429, "queue_full")
    assert int(answer.headers["retry-after"]) >= 1
