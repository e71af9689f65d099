"""Requests with an `Idempotency-Key`: answered once, and from what was kept when their client asks again.

As in the IETF's draft (draft-ietf-httpapi-idempotency-key-header): the same request under the same key has the same
answer, one that is still being answered is waited for, another request under that key is refused. The rules:
- Only answers that another try would get too are kept: 200 whose documents were not refused for overload or a failure
  of ours, and what is wrong with the request itself.
- A keyed request that is answered as one JSON object is finished though its client is gone: it will ask again.
- Without a key nothing of this costs anything.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from typing import Protocol

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from service.api.http.request_body import Body
from service.api.http.response import CLIENT_CLOSED_REQUEST, DoorAnswer
from service.api.idempotency.fingerprint import fingerprint
from service.api.idempotency.store import AnswerStore, Claim, KeptAnswer, KeyReused
from service.core.errors import DeadlineExceeded, InvalidOptions, MalformedRequest
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics

HEADER = "Idempotency-Key"
LINES = "application/x-ndjson"
REPLAYED = {"Idempotent-Replayed": "true"}
LONGEST_KEY = 255
FINAL = frozenset({200, 400, 413, 415, 422})
"""Statuses of answers that another try would get too."""
MOST_UNATTENDED = 64
"""Requests of a worker that are finished even if their clients leave; with more, leaving cancels."""
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.02, 0.25
"""Between two looks at a request that is being answered elsewhere."""
SWEEP_SECONDS = 60.0

log = logging.getLogger(__name__)


class Answer(Protocol):
    """Answers a request. `stays`: also when its client disconnects."""

    async def __call__(self, *, stays: bool) -> Response: ...


class _Refusal(msgspec.Struct):
    status: int


class _Outcome(msgspec.Struct):
    error: _Refusal | None = None


class _Outcomes(msgspec.Struct):
    """What is read of an answer: of one JSON object, or of a line for each document."""

    documents: tuple[_Outcome, ...] = ()
    document: _Outcome | None = None


class IdempotentRequests:
    """Answers requests, those with a key once. `store` is None where keys are ignored."""

    def __init__(self, store: AnswerStore | None, metrics: WorkerMetrics) -> None:
        self._store = store
        self._metrics = metrics
        self._unattended = 0
        self._swept_seconds = time.monotonic()

    async def answer(
        self, request: Request, client: str, body: Body, deadline_seconds: float, answer: Answer, form: str = ""
    ) -> Response:
        """The response to a request whose body has been read; `form`: of an answer that is not /extract's own.

        Raises:
            MalformedRequest: the key is none.
            InvalidOptions: the key belongs to another request.
            DeadlineExceeded: the deadline passed while the same request was being answered elsewhere.
        """
        key = idempotency_key(request.headers)
        if key is None or self._store is None:
            return await answer(stays=False)
        in_lines = LINES in request.headers.get("accept", "")
        wanted = await asyncio.to_thread(fingerprint, body, in_lines=in_lines, form=form)
        claim = await self._claim(self._store, request, (client, key, wanted), deadline_seconds)
        if isinstance(claim, Response):
            return claim
        if claim is None:
            return await answer(stays=False)
        return await self._answer_once(self._store, client, claim, answer)

    async def _answer_once(self, store: AnswerStore, client: str, claim: Claim, answer: Answer) -> Response:
        try:
            self._unattended += 1
            response = await answer(stays=self._unattended <= MOST_UNATTENDED)
        except BaseException:
            claim.release()
            raise
        finally:
            self._unattended -= 1
        media_type = response.media_type or ""
        if isinstance(response, StreamingResponse):
            lines = response.body_iterator
            response.body_iterator = self._recorded(store, client, claim, lines, media_type)  # type: ignore[arg-type]
        else:
            own, final = (response.own, response.final) if isinstance(response, DoorAnswer) else ((), None)
            kept = KeptAnswer(response.status_code, media_type, bytes(response.body), own)
            await asyncio.to_thread(self._keep, store, client, claim, kept, final)
        return response

    async def _claim(
        self, store: AnswerStore, request: Request, of: tuple[str, str, str], deadline_seconds: float
    ) -> Claim | Response | None:
        """The right to answer, or the response that there is; None where nothing can be kept."""
        wait_seconds, outcome = FIRST_WAIT_SECONDS, "replayed"
        while True:
            try:
                found = store.claim(*of, time.time())
            except KeyReused:
                self._metrics.repeated_requests.labels("refused").inc()
                raise InvalidOptions(f"This {HEADER} belongs to another request; choose a new one for each.") from None
            except OSError as error:
                log.warning("no answer can be kept", extra={"event": LogEvent.ANSWER_NOT_KEPT, "reason": str(error)})
                return None
            if isinstance(found, KeptAnswer):
                self._metrics.repeated_requests.labels(outcome).inc()
                return Response(found.body, found.status, {**REPLAYED, **dict(found.headers)}, found.media_type)
            if found is not None:
                return found
            if time.monotonic() + wait_seconds > deadline_seconds:
                raise DeadlineExceeded("the same request is still being answered")
            if await request.is_disconnected():
                return Response(status_code=CLIENT_CLOSED_REQUEST)
            await asyncio.sleep(wait_seconds)
            wait_seconds, outcome = min(2 * wait_seconds, LONGEST_WAIT_SECONDS), "joined"

    async def _recorded(
        self, store: AnswerStore, client: str, claim: Claim, lines: AsyncIterator[bytes], media_type: str
    ) -> AsyncIterator[bytes]:
        """The lines as they come; kept if all of them were read and are not too many."""
        kept, size = list[bytes](), 0
        try:
            async for line in lines:
                size += len(line)
                if size <= store.client_bytes:
                    kept.append(line)
                yield line
            if size <= store.client_bytes:
                answer = KeptAnswer(200, media_type, b"".join(kept))
                await asyncio.to_thread(self._keep, store, client, claim, answer)
        finally:
            await lines.aclose()  # type: ignore[attr-defined]
            claim.release()

    def _keep(
        self, store: AnswerStore, client: str, claim: Claim, answer: KeptAnswer, final: bool | None = None
    ) -> None:
        """Keep a final answer for which there is room; runs in a thread. `final` where the body does not say it."""
        try:
            self._sweep(store)
            final = is_final(answer) if final is None else final
            if final and store.make_room(client, len(answer.body), time.time()):
                claim.keep(answer)
        except OSError as error:
            log.warning("an answer is not kept", extra={"event": LogEvent.ANSWER_NOT_KEPT, "reason": str(error)})
        finally:
            claim.release()

    def _sweep(self, store: AnswerStore) -> None:
        now = time.monotonic()
        if now - self._swept_seconds > SWEEP_SECONDS:
            self._swept_seconds = now
            store.sweep(time.time())


def idempotency_key(headers: Headers) -> str | None:
    """The key that a request has; None if it has none.

    Raises:
        MalformedRequest: more than one, or not 1 to 255 printable ASCII characters, in quotation marks or not.
    """
    sent = headers.getlist(HEADER)
    if not sent:
        return None
    key = sent[0].strip()
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if len(sent) > 1 or not 1 <= len(key) <= LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise MalformedRequest(f"`{HEADER}` must be one text of 1 to {LONGEST_KEY} printable ASCII characters.")
    return key


def is_final(answer: KeptAnswer) -> bool:
    """True for an answer that another try would get too."""
    if answer.status != 200:
        return answer.status in FINAL
    if answer.media_type and not answer.media_type.startswith(("application/json", LINES)):
        return True
    for line in msgspec.json.Decoder(_Outcomes).decode_lines(answer.body):
        outcomes = line.documents if line.document is None else (line.document,)
        if any(outcome.error is not None and outcome.error.status not in FINAL for outcome in outcomes):
            return False
    return True
