"""Certificate and key are tried before a service starts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from service.commands.serve import BadTlsFiles, check_tls
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
