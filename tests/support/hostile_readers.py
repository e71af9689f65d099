"""Readers that stand for a parser that its file has taken over: run in the sandbox, in place of the real one."""

from __future__ import annotations

import os
import time

from service.documents.document import Document
from service.documents.limits import DocumentLimits


def crash(data: bytes, _media_type: str | None, _name: str | None, _limits: DocumentLimits) -> Document:
    """Crashes, fails, hangs or works without end if the file says so; else the file is the text."""
    match data:
        case b"crash":
            os._exit(1)
        case b"raise":
            raise ZeroDivisionError("in the reader")
        case b"hang":
            while True:
                time.sleep(0.01)
        case b"spin":
            while True:
                pass
    return Document(data.decode())
