"""A server that answers texts as /extract does: what `answers` says of a text, or the text itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Refusal = tuple[int, str]
"""A status and a code."""


@dataclass
class TextService:
    """What it answers, and what it was asked.

    Attributes:
        revision: of the model `documents`; a request for another one is for an unknown model.
        refusals: text → its refusal; what is not there is answered.
        asked: all texts, in the order in which they came.
    """

    revision: str = "sha256:ab"
    refusals: dict[str, Refusal] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, text: str, name: str | None, model: str | None) -> tuple[int, dict[str, object]]:
        """Status and body."""
        if model == "secret":
            return 403, {"code": "forbidden", "detail": "The key is not known."}
        if model not in (None, "documents", "documents@stable", f"documents@{self.revision}"):
            return 404, {"code": "unknown_model", "detail": "It is not served."}
        self.asked.append(text)
        if text in self.refusals:
            status, code = self.refusals[text]
            return status, {"code": code, "detail": "Refused."}
        document: dict[str, object] = {"id": name, "text": text, "entities": [], "characters": len(text), "error": None}
        return 200, {"model": {"name": "documents", "revision": self.revision}, "documents": [document]}


@contextmanager
def text_service() -> Iterator[TextService]:
    """The service, while it runs."""
    service = TextService()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            document: dict[str, Any] = (body.get("documents") or [body])[0]
            status, answer = service.answer(document["text"], document.get("id"), body.get("model"))
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Content-Type", "application/json")
            if status == 429:
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        service.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
