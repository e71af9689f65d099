"""TLS, an internal port and the console, as clients, operators and the health check see them."""

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
from tests.support.service import PLAIN, Service, serving, start, wait_until


@contextmanager
def trusting(certificate: Path, base_url: str) -> Iterator[httpx.Client]:
    """A client that believes this certificate alone."""
    with httpx.Client(
        base_url=base_url, verify=ssl.create_default_context(cafile=certificate), timeout=240.0
    ) as client:
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
    inside = httpx.Client(base_url=f"http://127.0.0.1:{kept.number}", verify=PLAIN, timeout=240.0)
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


DIGEST = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"  # Of `secret`.
KEY = {"Authorization": "Bearer secret"}
PAGES = ("/", "/console", "/console/files/app.js", "/console/files/samples/invoice.pdf")
SHOWN = ("/console/entrance", "/console/requests", "/console/progress/one", "/console/requests/one")
SMALL = {"MODELS": "tiny", "WORKERS": 1, "PARSERS": 1}
STRANGER = {"Host": "gleaner.example"}


def statuses(service: Service, paths: tuple[str, ...], headers: dict[str, str] | None = None) -> list[int]:
    with service.client() as client:
        return [client.get(path, headers=headers).status_code for path in paths]


def live_and_picture(service: Service, headers: dict[str, str] | None = None) -> tuple[int, int]:
    """The statuses of the live feed, which has no end, and of a picture of what is no PDF: 422 once it is let in."""
    with service.client() as client:
        picture = client.post("/console/picture", content=b"no", headers=headers).status_code
        with client.stream("GET", "/console/live", headers=headers) as answer:
            return answer.status_code, picture


def test_off_leaves_nothing_of_it(home: Path, tmp_path: Path) -> None:
    with serving(home, **SMALL, CONSOLE="off", RUNTIME_DIR=tmp_path) as service:
        assert service.extract(text=TEXT).status_code == 200
        assert {*statuses(service, (*PAGES, *SHOWN)), *live_and_picture(service)} == {404}
        assert service.get("/console").json()["code"] == "unknown_route"
        assert not list(tmp_path.glob("console-*")), "workers still listen for the console's questions"


def test_the_empty_page_is_for_all_and_what_it_shows_for_a_key(home: Path) -> None:
    with serving(home, **SMALL, HOST="0.0.0.0", API_KEYS=f"ada {DIGEST}") as service:
        assert set(statuses(service, PAGES)) == {200}
        assert {*statuses(service, SHOWN), *live_and_picture(service)} == {401}
        assert set(statuses(service, SHOWN, {"Authorization": "Bearer wrong"})) == {401}
        assert statuses(service, SHOWN, {**KEY, **STRANGER}) == [200, 200, 200, 404]
        assert live_and_picture(service, KEY) == (200, 422)
        assert service.get("/console/entrance").json()["code"] == "unauthenticated"
        with service.client() as client:
            assert client.get("/console/entrance", headers=KEY).json()["client"] == "ada"


def test_without_keys_it_is_open_under_a_loopback_name_only(home: Path) -> None:
    with serving(home, **SMALL) as service:
        assert statuses(service, (*PAGES, *SHOWN)) == [200] * 7 + [404]
        assert statuses(service, SHOWN[:1], {"Host": "localhost"}) == [200]
        assert {*statuses(service, SHOWN, STRANGER), *live_and_picture(service, STRANGER)} == {403}
        assert {*statuses(service, ("/metrics", "/models", "/openapi.json", "/readyz"), STRANGER)} == {403}
