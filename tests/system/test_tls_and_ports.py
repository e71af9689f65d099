"""A service with TLS and an internal port, as its clients, its operators and its health check see it."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from loadtest.service_process import KeptPort
from tests.support.certificates import make_certificate
from tests.support.extraction import TEXT
from tests.support.service import PLAIN, serving, start, wait_until


@contextmanager
def trusting(certificate: Path, base_url: str) -> Iterator[httpx.Client]:
    """A client that believes this certificate alone."""
    with httpx.Client(base_url=base_url, verify=ssl.create_default_context(cafile=certificate), timeout=60) as client:
        yield client


def is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.HTTPError:
        return False


def test_tls_is_all_that_is_spoken_and_the_health_check_speaks_it(home: Path, tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    settings = {"TLS_CERTIFICATE": certificate, "TLS_KEY": key}
    with (
        start(home, MODELS="tiny", **settings) as service,
        trusting(certificate, service.url.replace("http://", "https://")) as client,
    ):
        wait_until(lambda: is_ready(client), 120)
        assert client.post("/extract", json={"text": TEXT}).status_code == 200
        with pytest.raises(httpx.HTTPError):
            httpx.get(service.url + "/livez", verify=PLAIN)
        port = service.url.rpartition(":")[2]
        asked = {**os.environ, "GLEANER_PORT": port, "GLEANER_TLS_CERTIFICATE": str(certificate)}
        command = [sys.executable, "-m", "service.cli", "healthcheck", "--seconds", "30"]
        assert subprocess.run(command, env=asked, timeout=120).returncode == 0
        assert "Warning" not in service.log.read_text()


def test_the_operators_routes_are_on_the_internal_port_alone(home: Path) -> None:
    kept = KeptPort()
    inside = httpx.Client(base_url=f"http://127.0.0.1:{kept.number}", verify=PLAIN, timeout=60.0)
    with serving(home, MODELS="tiny", INTERNAL_PORT=kept.number) as service, inside:
        for path in ("/metrics", "/models", "/docs", "/openapi.json", "/console"):
            assert service.get(path).status_code == 404, path
            assert inside.get(path).status_code == 200, path
        for path in ("/livez", "/readyz"):
            assert service.get(path).status_code == inside.get(path).status_code == 200
        assert service.extract(text=TEXT).status_code == 200
        assert inside.post("/extract", json={"text": TEXT}).status_code == 200
        assert service.get("/").status_code == inside.get("/").status_code == 404


@pytest.mark.parametrize("settings", [{"TLS_CERTIFICATE": "/nowhere", "TLS_KEY": "/nowhere"}, {"TLS_KEY": "/nowhere"}])
def test_a_service_does_not_start_with_tls_files_that_cannot_be_used(home: Path, settings: dict[str, str]) -> None:
    with start(home, MODELS="tiny", **settings) as service:
        assert service.process.wait(60) == 1
        assert "TLS" in service.log.read_text()
