"""Entry point of the API workers (`python -m service.api`): gunicorn with uvicorn workers, run by the supervisor."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Iterable
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.workers.base import Worker

from service.api.app import create_app
from service.api.arbiter import WorkerArbiter
from service.api.http.access import open_access
from service.environment import address_of
from service.logs import configure
from service.metrics.prometheus import forget_process
from service.process import collect_seldom, die_with_parent, hide_memory, raise_open_files
from service.settings import Settings, read_settings

GRACEFUL_SECONDS = 5
STUCK_SECONDS = 30
"""Seconds for which a worker's event loop may stand still; then the worker is replaced and its requests are lost."""
BACKLOG = 8_192
"""Connections that the kernel completes while workers are late; `net.core.somaxconn` may be lower."""


class GunicornServer(BaseApplication):  # type: ignore[misc]
    """gunicorn configured from `Settings` instead of its command line."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._replaces = False
        super().__init__()

    def load_config(self) -> None:
        settings = self._settings
        options: dict[str, Any] = {
            "bind": [address_of(settings.host, port) for port in _ports(settings)],
            "forwarded_allow_ips": ",".join(both_ways(settings.trusted_proxies)),
            "workers": settings.front_workers,
            "worker_class": "service.api.connection.uvicorn_worker.BoundedUvicornWorker",
            "backlog": BACKLOG,
            "keepalive": settings.keep_alive_seconds,
            "graceful_timeout": GRACEFUL_SECONDS,
            "timeout": STUCK_SECONDS,
            "worker_tmp_dir": settings.runtime_dir and str(settings.runtime_dir),
            "logger_class": "service.api.arbiter.GunicornLogger",
            "post_fork": self._forked,
            "post_worker_init": lambda _worker: collect_seldom(),
            "child_exit": lambda arbiter, worker: _worker_ended(arbiter, worker.pid, settings),
            "control_socket_disable": True,
        }
        if settings.tls_certificate is not None:
            options |= {"certfile": str(settings.tls_certificate), "keyfile": str(settings.tls_key)}
            # Not by `set`, which says that gunicorn ignores it; uvicorn does not, and gunicorn's default is deprecated.
            self.cfg.settings["ssl_version"].value = ssl.PROTOCOL_TLS_SERVER
        for name, value in options.items():
            if name in self.cfg.settings:  # Older releases of gunicorn lack the control socket and its setting.
                self.cfg.set(name, value)

    def load(self) -> Any:
        return create_app(self._settings, replaces=self._replaces)

    def _forked(self, arbiter: WorkerArbiter, worker: Worker) -> None:
        die_with_parent()
        self._replaces = worker.age > arbiter.num_workers

    def run(self) -> None:
        WorkerArbiter(self).run()


def both_ways(networks: Iterable[str]) -> list[str]:
    """These networks, and those of IPv4 also as a socket of both kinds names their addresses (`::ffff:10.0.0.1`)."""
    found = []
    for said in networks:
        network = ipaddress.ip_network(said)
        found.append(said)
        if network.version == 4:
            found.append(str(ipaddress.ip_network(f"::ffff:{network.network_address}/{96 + network.prefixlen}")))
    return found


def _worker_ended(arbiter: WorkerArbiter, worker: int, settings: Settings) -> None:
    forget_process(worker, settings.sockets / "metrics")
    arbiter.record_death()


def _ports(settings: Settings) -> tuple[int, ...]:
    return (settings.port, settings.internal_port) if settings.internal_port else (settings.port,)


def main() -> None:
    """Serve HTTP until a signal."""
    settings = read_settings()
    configure(settings.log_level)
    die_with_parent()
    open_access(settings)
    raise_open_files()
    hide_memory()
    GunicornServer(settings).run()


if __name__ == "__main__":
    main()
