"""The answers that an evaluation scores: what a busy machine refuses is asked for again, what is wrong is not."""

from __future__ import annotations

import asyncio
from typing import Any

from service.api.extraction.request import DocumentInput
from service.commands.evaluate.asking import ATTEMPTS, ask_all
from service.core.errors import CapacityExceeded, GleanerError, MalformedRequest
from service.evaluation.labelled_documents import LabelledDocument, LabelledSet
from service.evaluation.scoring import ScoredAnswer

ANSWER: dict[str, Any] = {
    "entities": [{"start": 0, "end": 4, "label": "PERSON", "text": "Jane", "score": 0.9}],
    "tokens": 3,
}


class RefusingService:
    """Refuses each document so many times before it answers it."""

    def __init__(self, error: GleanerError, times: int) -> None:
        self._error, self._times = error, times
        self.asked = 0

    async def answer(self, document: DocumentInput) -> dict[str, Any]:
        self.asked += 1
        if self.asked <= self._times:
            raise self._error
        return ANSWER


def answers(service: RefusingService) -> list[ScoredAnswer]:
    document = LabelledDocument("a", "Jane", (), "a", "en", "letter", {})
    sets = [LabelledSet("letters", (document,), frozenset({"PERSON"}))]
    return asyncio.run(ask_all(service, sets, lambda *_: None, pause_seconds=0))[0]


def test_what_a_busy_machine_refuses_is_asked_for_again() -> None:
    service = RefusingService(CapacityExceeded("busy"), times=ATTEMPTS - 1)
    (found,) = answers(service)
    assert ([span.label for span in found.spans], found.refused) == (["PERSON"], None)
    assert service.asked == ATTEMPTS


def test_what_is_refused_each_time_has_nothing_found_and_says_why() -> None:
    (found,) = answers(RefusingService(CapacityExceeded("busy"), times=ATTEMPTS))
    assert (found.spans, found.refused) == ((), "too_much_at_once")


def test_a_document_that_is_no_good_is_asked_for_once() -> None:
    service = RefusingService(MalformedRequest("too long"), times=ATTEMPTS)
    (found,) = answers(service)
    assert (found.refused, service.asked) == (MalformedRequest.code, 1)
