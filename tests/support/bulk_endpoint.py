"""A server that answers files sent to /extract as a service does, always the same, and dies for a while when told."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes

from tests.support.local_http import Call, Reply, http_server, json_reply

POISON = b"poison"


class BulkEndpoint:
    """Answers two files at a time, each in `seconds`; until `dead_until` requests get 503, and those in work too."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.dead_until = 0.0
        self.asked = 0
        self._gate = threading.Semaphore(2)

    @property
    def is_dead(self) -> bool:
        return time.monotonic() < self.dead_until

    def answer(self, name: str, data: bytes) -> tuple[int, dict[str, object]]:
        """Status and body."""
        with self._gate:
            self.asked += 1
            time.sleep(self.seconds)
        if self.is_dead:
            return 503, {"code": "engine_restarting", "detail": "The engine is being started again.", "status": 503}
        if data.startswith(POISON):
            return 500, {"code": "poison_document", "detail": "The engine died over it twice.", "status": 500}
        document = {"id": name, "entities": [], "characters": len(data), "text": hashlib.sha256(data).hexdigest()}
        return 200, {"model": {"name": "documents", "revision": "sha256:ab"}, "documents": [document], "timing": {}}


@contextmanager
def bulk_endpoint(seconds: float) -> Iterator[tuple[str, BulkEndpoint]]:
    """Its URL, and itself, while it runs."""
    made = BulkEndpoint(seconds)

    def answer(call: Call) -> Reply:
        whole = message_from_bytes(f"Content-Type: {call.headers['Content-Type']}\r\n\r\n".encode() + call.body)
        [file] = [part for part in whole.get_payload() if part.get_filename()]  # type: ignore[union-attr]
        status, said = made.answer(file.get_filename() or "", file.get_payload(decode=True))  # type: ignore
        return json_reply(said, status, **({"Retry-After": "1"} if status == 503 else {}))

    with http_server(answer) as url:
        yield url, made
