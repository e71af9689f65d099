"""gunicorn's log lines go where all others go, as JSON; its access log is not used (`middleware` has our own)."""

from __future__ import annotations

import logging
from typing import Any

from gunicorn.glogging import Logger


class Logs(Logger):  # type: ignore[misc]
    """gunicorn's logger with our handlers; uvicorn's worker takes them over from it."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers = list(logging.getLogger().handlers)
        self.error_log.setLevel(logging.getLogger().level)
        self.access_log.handlers.clear()
