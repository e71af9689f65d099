"""`gleaner healthcheck`: exit code 0 when the service on this machine answers /livez, else 1. For containers.

It asks whether the service is alive, not whether it is ready: a loading, draining or overloaded one must not be
killed. Imports little, because it is started every few seconds beside a busy service.
"""

from __future__ import annotations

import argparse
import http.client
import ssl
import sys
from contextlib import closing

from service.environment import ANY_ADDRESS, probed_address, speaks_tls


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = __doc__
    parser.add_argument("--host", help="instead of GLEANER_HOST")
    parser.add_argument("--port", help="instead of GLEANER_INTERNAL_PORT, or of GLEANER_PORT")
    parser.add_argument("--seconds", type=float, default=2.0, help="longest wait for the answer (%(default)s)")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """GET /livez; returns 0 or 1, because containers know no other exit codes."""
    host, port = probed_address()
    host, port = chosen.host or host, chosen.port or port
    try:
        status = _livez(ANY_ADDRESS.get(host, host), int(port), chosen.seconds)
    except (OSError, ValueError, http.client.HTTPException) as error:
        print(f"gleaner: no answer at {host}:{port}: {error or type(error).__name__}", file=sys.stderr)
        return 1
    if status != http.client.OK:
        print(f"gleaner: {host}:{port} answers with status {status}", file=sys.stderr)
        return 1
    return 0


def _livez(host: str, port: int, seconds: float) -> int:
    with closing(_connection(host, port, seconds)) as connection:
        connection.request("GET", "/livez")
        return connection.getresponse().status


def _connection(host: str, port: int, seconds: float) -> http.client.HTTPConnection:
    """Connect to this machine; its certificate, made for another name, is not checked."""
    if not speaks_tls():
        return http.client.HTTPConnection(host, port, timeout=seconds)
    anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=seconds, context=anyone)
