"""Certificate, key and ports are tried before a service starts, and its health check asks it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from loadtest.service_process import KeptPort
from service.cli import main
from service.commands.serve import BadTlsFiles, PortTaken, check_extras, check_ports, check_tls
from service.settings import BadSettings, Settings, read_settings
from tests.support.certificates import make_certificate
from tests.support.local_http import Call, Reply, http_server
from tests.support.processes import lives
from tests.support.service import wait_until

ROOT = Path(__file__).parents[2]
HEED_CTRL_C = ("env", "--default-signal=INT")
"""A shell has what it starts in the background ignore SIGINT, and so its children, the tests' too."""
AS_PID_1 = ("unshare", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child")
SLOW_IMPORT = """
import os, select, sys

sys.path.remove(os.environ.pop("PYTHONPATH"))
with open(os.path.join(os.path.dirname(__file__), "pipe")) as pipe:
    while not select.select([pipe], [], [], 0.01)[0]:
        pass
del sys.modules["ssl"]
import ssl
"""
"""A module that is imported until the pipe is closed. It does not wait in one call: Python's handler of a signal that
came just before would run after that call alone."""


def test_a_certificate_and_its_key_are_good(tmp_path: Path) -> None:
    check_tls(*make_certificate(tmp_path))
    check_tls(None, None)


def test_a_key_of_another_certificate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    certificate, _ = make_certificate(tmp_path)
    _, other_key = make_certificate(tmp_path / "other")
    with pytest.raises(BadTlsFiles, match="cannot be used for TLS"):
        check_tls(certificate, other_key)


def test_a_file_that_is_not_there_or_no_pem_is_refused(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    (tmp_path / "text").write_text("no certificate")
    for bad in (tmp_path / "nowhere", tmp_path / "text"):
        with pytest.raises(BadTlsFiles):
            check_tls(certificate, bad)
        with pytest.raises(BadTlsFiles):
            check_tls(bad, key)


def test_an_encrypted_key_is_refused_and_no_password_is_asked_for(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    locked = tmp_path / "locked.pem"
    command = ["openssl", "pkey", "-in", str(key), "-aes256", "-passout", "pass:secret", "-out", str(locked)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    with pytest.raises(BadTlsFiles):
        check_tls(certificate, locked)


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that a program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.mark.parametrize("name", ["port", "internal_port"])
def test_a_port_that_is_taken_is_named_with_its_setting(taken: int, name: str) -> None:
    chosen = {"port": 0, "host": "127.0.0.1", name: taken}
    with pytest.raises(PortTaken, match=f"127.0.0.1:{taken}: another program listens there.*GLEANER_{name.upper()}"):
        check_ports(read_settings(**chosen))


def test_a_port_that_was_just_left_is_free(taken: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.create_connection(listening.getsockname()[:2]):
        port = listening.getsockname()[1]
        listening.accept()[0].close()
    check_ports(read_settings(host="127.0.0.1", port=port))
    check_ports(read_settings(host="127.0.0.1", port=0))


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(PortTaken, match=r"192\.0\.2\.1:8341"):
        check_ports(read_settings(host="192.0.2.1", port=8341))


def test_a_taken_port_is_one_line(taken: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", "127.0.0.1", "--port", str(taken)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@contextmanager
def importing(folder: Path, *before: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A service in the midst of an import, before it awaits signals, which goes on when the pipe is closed."""
    (folder / "ssl.py").write_text(SLOW_IMPORT)
    os.mkfifo(folder / "pipe")
    environment = {**os.environ, "PYTHONPATH": str(folder), "GLEANER_MODEL_STORE": str(folder / "store")}
    command = [*HEED_CTRL_C, *before, sys.executable, "-m", "service.cli", "serve", "--port", "0"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, start_new_session=True)
    pipes: list[int] = []

    def is_read() -> bool:
        with suppress(OSError):
            pipes.append(os.open(folder / "pipe", os.O_WRONLY | os.O_NONBLOCK))
        return bool(pipes)

    try:
        wait_until(is_read, 120.0)
        yield process, pipes[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stderr is not None:
            process.stderr.close()


def child_of(process: subprocess.Popen[bytes]) -> int:
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


@pytest.mark.needs("pid-namespaces")
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_while_pid_1_starts_ends_it_before_it_starts_others(tmp_path: Path, stop: signal.Signals) -> None:
    with importing(tmp_path, *AS_PID_1) as (process, pipe):
        os.kill(child_of(process), stop)
        os.close(pipe)
        _, said = process.communicate(timeout=120.0)
        assert process.returncode == 0
        assert b"process_started" not in said


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_while_another_process_starts_ends_it_at_once(tmp_path: Path, stop: signal.Signals) -> None:
    with importing(tmp_path) as (process, pipe):
        process.send_signal(stop)
        assert process.wait(120.0) == -stop
        os.close(pipe)


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


@pytest.mark.parametrize(("words", "port"), [((), "8479"), (("PORT=8478",), "8478")])
def test_make_run_takes_the_port_and_ends_the_service_with_itself(
    tmp_path: Path, words: tuple[str, ...], port: str
) -> None:
    stub = tmp_path / "gleaner"
    stub.write_text("#!/bin/sh\necho $$ $1 $GLEANER_HOST:$GLEANER_PORT\nexec sleep 60\n")
    stub.chmod(0o755)
    command = ["make", "-s", "-C", str(ROOT), "-o", ".venv/.run", "run", f"BIN={tmp_path}", *words]
    left_out = ("HOST", "PORT", "GLEANER_HOST", "MAKEFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    with subprocess.Popen(
        command, env={**environment, "GLEANER_PORT": "8479"}, stdout=subprocess.PIPE, text=True
    ) as made:
        assert made.stdout is not None
        served, *said = made.stdout.readline().split()
        assert said == ["serve", f"127.0.0.1:{port}"]
        made.terminate()
        wait_until(lambda: not lives(int(served)))


def test_an_adapter_whose_extra_is_missing_is_refused_before_the_start() -> None:
    check_extras(Settings(adapters="mcp,oip"))
    check_extras(Settings(adapters="oip,presidio"), lambda _name: None)
    with pytest.raises(BadSettings, match=r"'\.\[mcp\]'"):
        check_extras(Settings(adapters="mcp"), lambda _name: None)
