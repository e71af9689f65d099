"""gunicorn's worker: uvicorn with the bounded protocol, and without a `server` header or WebSockets."""

from __future__ import annotations

from typing import Any, ClassVar

from uvicorn_worker import UvicornWorker

from service.api.connection.protocol import BoundedHttpProtocol


class BoundedUvicornWorker(UvicornWorker):  # type: ignore[misc]
    """A uvicorn worker whose connections are bounded."""

    CONFIG_KWARGS: ClassVar[dict[str, Any]] = {
        "loop": "uvloop",
        "http": BoundedHttpProtocol,
        "ws": "none",
        "server_header": False,
    }
