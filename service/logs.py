"""Logging of all processes on stderr: a JSON object for each line, or on a terminal a line of text.

Lines never hold the text of a document.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from enum import StrEnum

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


_OTHER_LINE_ENDS = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
"""Control characters and line ends that JSON may hold unescaped, but readers may take for the end of a line."""
_CONTROLS = {**_OTHER_LINE_ENDS, **{code: f"\\u{code:04x}" for code in range(0x20)}}
_encode = json.JSONEncoder(default=str, ensure_ascii=False).encode


class LogEvent(StrEnum):
    """Stable codes of log lines, in their field `event`: for searches, alarms and tests.

    The message beside the code is for people and may change.
    """

    UNKNOWN_SETTINGS = "unknown_settings"
    PROCESS_STARTED = "process_started"
    PROCESS_STOP_TIMEOUT = "process_stop_timeout"
    ENGINE_DIED = "engine_died"
    ENGINE_SILENT = "engine_silent"
    ENGINE_STUCK = "engine_stuck"
    ENGINE_NOT_KILLED = "engine_not_killed"
    ENGINE_UNUSABLE = "engine_unusable"
    ENGINE_RESTART_LIMIT = "engine_restart_limit"
    GPU_LOST = "gpu_lost"
    WORKERS_RESTART_LIMIT = "workers_restart_limit"
    WORKERS_ENDED = "workers_ended"
    DRAIN_STARTED = "drain_started"
    DRAIN_ENDED = "drain_ended"

    KEYS_RELOADED = "keys_reloaded"
    KEYS_REJECTED = "keys_rejected"
    KEYS_EXPOSED = "keys_exposed"

    WORKER_MESSAGE_FAILED = "worker_message_failed"
    DEVICE_HUNG = "device_hung"
    DOCUMENT_FAILED = "document_failed"
    READER_FAILED = "reader_failed"
    PARSER_DIED = "parser_died"
    PARSER_FAILED = "parser_failed"
    PARSER_SANDBOX = "parser_sandbox"
    ZYGOTE_DIED = "zygote_died"
    ZYGOTE_LATE = "zygote_late"
    ENGINE_MESSAGE_FAILED = "engine_message_failed"
    ENGINE_MESSAGE_UNEXPECTED = "engine_message_unexpected"
    TOKENIZERS_FAILED = "tokenizers_failed"
    TRACING_OFF = "tracing_off"

    REQUESTS_REFUSED_UNREAD = "requests_refused_unread"
    REQUEST_HEAD_FAILED = "request_head_failed"
    CONNECTIONS_NOT_SWEPT = "connections_not_swept"

    PUBLISHER_DIED = "publisher_died"
    PUBLISHER_STOPPED = "publisher_stopped"
    POINTS_NOT_SENT = "points_not_sent"
    CLOUDWATCH_REACHABLE = "cloudwatch_reachable"

    BULK_DIED = "bulk_died"
    BULK_STOPPED = "bulk_stopped"
    BULK_JOB_DONE = "bulk_job_done"
    BULK_CHUNK_LEFT = "bulk_chunk_left"
    BULK_MESSAGE_DROPPED = "bulk_message_dropped"
    BULK_QUEUE_UNREACHABLE = "bulk_queue_unreachable"
    BULK_QUEUE_REACHABLE = "bulk_queue_reachable"


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
        written = _encode(line)
        return written if written.isascii() and "\x7f" not in written else written.translate(_OTHER_LINE_ENDS)


class PlainLines(logging.Formatter):
    """Formats a record for a person: time of day, level, message, the fields of `extra`; an exception below it."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {key: value for key, value in vars(record).items() if key not in _STANDARD and key != "event"}
        extra = "".join(f"  {key}={_encode(value)}" for key, value in fields.items())
        at = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        line = f"{at} {record.levelname.lower():<7} {record.getMessage()}{extra}".translate(_CONTROLS)
        if record.exc_info:
            exception = self.formatException(record.exc_info).translate({**_CONTROLS, 0x0A: "\n"})
            return f"{line}\n{exception}"
        return line


OURS = ("service", "model_store", "gleaner", "__main__")
"""Loggers that `log_level` applies to: our packages', the access log's, and those of processes' entry points."""
CHATTY = ("httpx", "urllib3", "asyncio", "boto3", "botocore", "s3transfer")


def configure(level: str) -> None:
    """Make the root logger write lines from `level` on to stderr, Python's warnings among them.

    A terminal gets lines of text, anything else JSON.

    Libraries log at INFO at most, whatever the level: at DEBUG some write whole requests, with credentials in them.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainLines() if sys.stderr.isatty() else JsonLines())
    logging.basicConfig(level=max(logging.getLevelName(level), logging.INFO), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for ours in OURS:
        logging.getLogger(ours).setLevel(level)
    for chatty in CHATTY:
        logging.getLogger(chatty).setLevel(max(logging.getLevelName(level), logging.WARNING))
