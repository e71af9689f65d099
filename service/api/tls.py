"""TLS: the certificate and the key that the settings name, tried before anything is started with them."""

from __future__ import annotations

import ssl
from pathlib import Path

from service.core.errors import ModelError


class BadTlsFiles(ModelError):
    """The certificate and its key cannot be used."""

    code = "bad_tls_files"


def check_tls(certificate: Path | None, key: Path | None) -> None:
    """Load the two as the workers will.

    Raises:
        BadTlsFiles: one cannot be read, is no PEM file, is encrypted, or they do not belong together.
    """
    if certificate is None or key is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ssl.SSLError) as error:
        raise BadTlsFiles(f"{certificate} and {key} cannot be used for TLS: {error}") from error
