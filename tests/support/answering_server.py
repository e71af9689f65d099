"""A server that answers POST /extract one request after another, each in a known time and with a known status.

`python -m tests.support.answering_server PORT SECONDS FILE` leaves a child process behind, whose id is in FILE.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.local_http import Call, Reply, http_server, json_reply


@dataclass
class Pace:
    """The time and status of its answers, and the texts of each request that came."""

    seconds: float = 0.0
    status: int = 200
    came: list[list[str]] = field(default_factory=list)
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def answering(pace: Pace, port: int = 0) -> Iterator[str]:
    """Its URL, while it runs."""

    def answer(call: Call) -> Reply:
        body = json.loads(call.body)
        texts = [body["text"]] if "text" in body else [each["text"] for each in body["documents"]]
        with pace.one_at_a_time:
            pace.came.append(texts)
            time.sleep(pace.seconds)
        return json_reply({"documents": [{"entities": [_entity(text)]} for text in texts]}, pace.status)

    with http_server(answer, port=port) as url:
        yield url


def _entity(text: str) -> dict[str, Any]:
    return {"label": "A", "start": 0, "end": len(text), "score": 0.5}


if __name__ == "__main__":
    child = subprocess.Popen(["sleep", "600"])
    Path(sys.argv[3]).write_text(str(child.pid))
    with answering(Pace(float(sys.argv[2])), int(sys.argv[1])):
        threading.Event().wait()
