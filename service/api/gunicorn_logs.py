"""gunicorn's logger, which writes the service's JSON lines; gunicorn's access log is off (see `middleware`)."""

from __future__ import annotations

import logging
from typing import Any

from gunicorn.glogging import Logger


class GunicornLogger(Logger):  # type: ignore[misc]
    """gunicorn's logger with the root logger's handlers, which uvicorn's worker takes over."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers = list(logging.getLogger().handlers)
        self.error_log.setLevel(logging.getLogger().level)
        self.access_log.handlers.clear()
