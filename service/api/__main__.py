"""Entry point of the front workers (`python -m service.api`): gunicorn with uvicorn workers, run by the supervisor."""

from __future__ import annotations

import gc
from typing import Any

from gunicorn.app.base import BaseApplication

from service.logs import configure
from service.metrics.exposition import forget_process
from service.process import die_with_parent, hide_memory
from service.settings import Settings, read_settings

GRACEFUL_SECONDS = 5
COLLECTION_OBJECTS = 10_000
"""New objects between two garbage collections; with Python's default of 700 they took 6 % of a worker's time."""


class GunicornServer(BaseApplication):  # type: ignore[misc]
    """gunicorn configured from `Settings` instead of its command line."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        super().__init__()

    def load_config(self) -> None:
        settings = self._settings
        options: dict[str, Any] = {
            "bind": f"{settings.host}:{settings.port}",
            "workers": settings.front_workers,
            "worker_class": "uvicorn_worker.UvicornWorker",
            "keepalive": settings.keep_alive_seconds,
            "graceful_timeout": GRACEFUL_SECONDS,
            "timeout": 120,
            "logger_class": "service.api.gunicorn_logs.GunicornLogger",
            "post_fork": lambda _server, _worker: die_with_parent(),
            "post_worker_init": lambda _worker: _collect_garbage_seldom(),
            "child_exit": lambda _server, worker: forget_process(worker.pid, settings.sockets / "metrics"),
            "control_socket_disable": True,
        }
        for name, value in options.items():
            if name in self.cfg.settings:  # Older releases of gunicorn lack the control socket and its setting.
                self.cfg.set(name, value)

    def load(self) -> Any:
        from service.api.app import create_app

        return create_app(self._settings)


def _collect_garbage_seldom() -> None:
    """Exempt what is loaded by now from garbage collection, and collect the rest less often."""
    gc.freeze()
    gc.set_threshold(COLLECTION_OBJECTS)


def main() -> None:
    """Serve HTTP until a signal."""
    settings = read_settings()
    configure(settings.log_level)
    die_with_parent()
    hide_memory()
    GunicornServer(settings).run()


if __name__ == "__main__":
    main()
