"""Certificate, key and ports are tried before a service starts."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.cli import main
from service.commands.serve import BadTlsFiles, PortTaken, check_ports, check_tls
from service.settings import read_settings
from tests.support.certificates import make_certificate


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


@pytest.mark.parametrize("name", ["port", "internal_port", "grpc_port"])
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
