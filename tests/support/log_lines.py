"""A service's log as tests read it: JSON lines and their event codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def log_lines(log: Path) -> list[dict[str, Any]]:
    """The JSON lines of a log file; other lines (Python's own, of a process that cannot start) are left out."""
    lines = log.read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def events(log: Path) -> list[str]:
    """The event codes of a log file, in order."""
    return [line["event"] for line in log_lines(log) if "event" in line]
