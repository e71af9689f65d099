"""`gleaner healthcheck`: 0 for a service that is alive, else 1 and a sentence. tests/system asks a real service."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from loadtest.service_process import KeptPort
from service.cli import main
from tests.support.local_http import Call, Reply, http_server


@pytest.mark.parametrize(("status", "code"), [(200, 0), (404, 1), (500, 1)])
def test_the_exit_code_is_0_for_status_200_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: int, code: int
) -> None:
    paths: list[str] = []

    def answer(call: Call) -> Reply:
        paths.append(call.path)
        return Reply(status=status)

    with http_server(answer, "0.0.0.0") as url:
        monkeypatch.setenv("GLEANER_HOST", "0.0.0.0")
        monkeypatch.setenv("GLEANER_PORT", url.rpartition(":")[2])
        assert main(["healthcheck"]) == code
    assert paths == ["/livez"]
    assert (str(status) in capsys.readouterr().err) == (code == 1)


@pytest.mark.parametrize("host", ["::", "[::]", "::1", "[::1]"])
def test_a_service_on_ipv6_is_asked_with_and_without_brackets(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    with http_server(lambda _: Reply(), "::1") as url:
        monkeypatch.setenv("GLEANER_HOST", host)
        monkeypatch.setenv("GLEANER_PORT", url.rpartition(":")[2])
        assert main(["healthcheck"]) == 0


def test_a_refused_connection_exits_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    port = KeptPort()
    monkeypatch.setenv("GLEANER_PORT", str(port.number))
    assert main(["healthcheck"]) == 1
    assert f":{port.number}" in capsys.readouterr().err


def test_a_port_that_is_not_a_number_exits_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLEANER_PORT", "eighty")
    assert main(["healthcheck"]) == 1


def test_a_service_that_accepts_and_does_not_answer_exits_1() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        assert main(["healthcheck", "--host", "127.0.0.1", "--port", port, "--seconds", "0.1"]) == 1


def test_it_imports_neither_the_settings_nor_a_web_framework() -> None:
    code = "import sys; from service.cli import main; main(['healthcheck']); print(*sys.modules, sep='\\n')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    loaded = {name.partition(".")[0] for name in ended.stdout.splitlines()}
    assert "http" in loaded
    assert not loaded & {"pydantic", "fastapi", "numpy", "torch"}
