"""Logging of all processes: one JSON object for each line, on stderr. Lines never hold the text of a document."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from enum import StrEnum

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


class LogEvent(StrEnum):
    """Stable codes of log lines, in their field `event`: for searches, alarms and tests.

    The message beside the code is for people and may change.
    """

    PROCESS_STARTED = "process_started"
    PROCESS_STOP_TIMEOUT = "process_stop_timeout"
    ENGINE_DIED = "engine_died"
    ENGINE_UNUSABLE = "engine_unusable"
    ENGINE_RESTART_LIMIT = "engine_restart_limit"
    GPU_LOST = "gpu_lost"
    WORKERS_ENDED = "workers_ended"
    DRAIN_STARTED = "drain_started"
    DRAIN_ENDED = "drain_ended"

    DOCUMENT_FAILED = "document_failed"
    PARSER_DIED = "parser_died"
    PARSER_SANDBOX = "parser_sandbox"
    ZYGOTE_DIED = "zygote_died"
    ENGINE_MESSAGE_FAILED = "engine_message_failed"
    ENGINE_MESSAGE_UNEXPECTED = "engine_message_unexpected"
    TOKENIZERS_FAILED = "tokenizers_failed"

    PUBLISHER_DIED = "publisher_died"
    PUBLISHER_STOPPED = "publisher_stopped"
    POINTS_NOT_SENT = "points_not_sent"
    POINTS_GIVEN_UP = "points_given_up"
    CLOUDWATCH_UNREACHABLE = "cloudwatch_unreachable"
    CLOUDWATCH_REACHABLE = "cloudwatch_reachable"


class JsonLines(logging.Formatter):
    """Formats a record as JSON: time, level, logger, process, message, then the fields of `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        line.update({key: value for key, value in vars(record).items() if key not in _STANDARD})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def configure(level: str) -> None:
    """Make the root logger write JSON lines from `level` on to stderr, Python's warnings among them."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.captureWarnings(True)
    for chatty in ("httpx", "urllib3", "asyncio"):
        logging.getLogger(chatty).setLevel("WARNING")
