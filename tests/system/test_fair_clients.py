"""Two clients of one service: what the greedy one brings, however long or often, does not keep the modest one out."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support.extraction import TEXT
from tests.support.service import Service, serving, wait_until

LIMIT = 20_000
GIANT = TEXT * 2_500
GREEDY, MODEST = {"X-API-Key": "greedy"}, {"X-API-Key": "modest"}
KEYS = "\n".join(f"{name} {hashlib.sha256(name.encode()).hexdigest()}" for name in ("greedy", "modest"))
CALLERS = 4


def call_on(service: Service, stop: threading.Event) -> Callable[[int], None]:
    """A caller that sends batches without a pause, whatever it is told."""

    def call(_: int) -> None:
        with service.client() as client:
            while not stop.is_set():
                batch = {"documents": [{"text": TEXT * 20}] * 50}
                client.post("/extract", json=batch, headers=GREEDY)

    return call


def test_a_giant_and_a_flood_of_one_client_leave_the_other_all_of_its_answers(home: Path) -> None:
    settings = {"QUEUE_LIMIT_TOKENS": LIMIT, "PACE_TOKENS_PER_SECOND": LIMIT, "API_KEYS": KEYS}
    with (
        serving(home, MODELS="tiny", **settings) as service,
        service.client() as client,
        ThreadPoolExecutor(CALLERS + 1) as callers,
    ):
        stop = threading.Event()
        giant = callers.submit(client.post, "/extract", json={"text": GIANT}, headers=GREEDY)
        wait_until(lambda: service.metric("gleaner_queue_tokens ") > LIMIT)
        for number in range(CALLERS):
            callers.submit(call_on(service, stop), number)
        try:
            answers = [client.post("/extract", json={"text": TEXT}, headers=MODEST)]
            before_the_giant = not giant.done()
            answers += [client.post("/extract", json={"text": TEXT}, headers=MODEST) for _ in range(29)]
        finally:
            stop.set()
        assert Counter(answer.status_code for answer in answers) == {200: 30}
        assert before_the_giant, "a short document waited for all of a long one"
        assert giant.result().status_code == 200
        assert service.metric('gleaner_refusals_total{code="queue_full"}'), "the queue was never full"
