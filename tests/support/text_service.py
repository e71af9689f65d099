"""A server that answers texts as /extract does: what `answers` says of a text, or the text itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.local_http import Call, Reply, http_server, json_reply

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

    def answer(call: Call) -> Reply:
        body = json.loads(call.body)
        document: dict[str, Any] = (body.get("documents") or [body])[0]
        status, said = service.answer(document["text"], document.get("id"), body.get("model"))
        return json_reply(said, status, **({"Retry-After": "0"} if status == 429 else {}))

    with http_server(answer) as service.url:
        yield service
