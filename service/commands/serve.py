"""`gleaner serve`: runs the whole service, with settings from GLEANER_ variables and a few flags that replace them.

A platform such as SageMaker puts a model into the container's file system before it runs `serve`: it is published.
"""

from __future__ import annotations

import argparse
import errno
import logging
import socket
import ssl
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from model_store.local.store import Store
from service.api.http.api_keys import read_keys
from service.core.errors import ModelError
from service.environment import PREFIX, address_of
from service.logs import LogEvent, configure
from service.process import hide_memory
from service.settings import BadSettings, Settings, read_settings, unknown_settings
from service.supervisor import Supervisor

CONTAINER_FOLDER = Path("/opt/ml/model")
"""Folder into which SageMaker unpacks `model.tar.gz`."""
CONTAINER_MODEL = "model"
EXTRAS = {"mcp": "mcp"}
"""Module that an adapter needs beside the service's own, from the extra of the adapter's name."""


def publish_container_model(folder: Path, settings: Settings) -> str | None:
    """Publish a Hugging Face folder into the store; returns its name.

    Returns None without such a folder, or if the settings name models. Raises StoreError for a bad folder.
    """
    if "models" in settings.model_fields_set or not (folder / "config.json").is_file():
        return None
    from model_store.transfer.publish import publish  # Seldom needed, and the imports before a start take time.

    publish(folder, CONTAINER_MODEL, Store(settings.model_store))
    return CONTAINER_MODEL


FLAGS = ("host", "port", "workers", "device", "dtype", "models")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = __doc__
    for flag in FLAGS:
        parser.add_argument(f"--{flag}", help=f"instead of GLEANER_{flag.upper()}")
    parser.add_argument(
        "as_container", nargs="?", choices=("serve",), help=f"as SageMaker says it: serve what is in {CONTAINER_FOLDER}"
    )
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Serve until a signal or a failure; returns the exit code."""
    flags = {flag: value for flag in FLAGS if (value := getattr(chosen, flag)) is not None}
    settings = read_settings(**flags)
    if chosen.as_container and (name := publish_container_model(CONTAINER_FOLDER, settings)):
        flags["models"] = name
        settings = read_settings(**flags)
    read_keys(settings.api_keys_file, settings.api_keys)
    check_tls(settings.tls_certificate, settings.tls_key)
    check_extras(settings)
    check_ports(settings)
    configure(settings.log_level)
    for name, said in unknown_settings().items():
        logging.getLogger(__name__).warning(said, extra={"event": LogEvent.UNKNOWN_SETTINGS, "names": [name]})
    hide_memory()
    return Supervisor(settings, {flag.upper(): value for flag, value in flags.items()}).run()


def check_extras(settings: Settings, find: Callable[[str], object] = find_spec) -> None:
    """Before a service starts: what its open adapters import must be installed.

    Raises:
        BadSettings: names the extra that is missing.
    """
    for name in settings.adapters:
        if name in EXTRAS and find(EXTRAS[name]) is None:
            raise BadSettings(f"GLEANER_ADAPTERS={name} needs in Gleaner's folder: pip install -e '.[{name}]'")


class PortTaken(ModelError):
    """An address cannot be listened on."""

    code = "port_taken"


def check_ports(settings: Settings) -> None:
    """Bind and release each port of the service, before anything is started.

    Raises:
        PortTaken: another program has a port, or this one may not have it.
    """
    for name in ("port", "internal_port"):
        if not (port := getattr(settings, name)):
            continue
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        try:
            with socket.socket(family) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind((settings.host, port))
        except OSError as error:
            why = "another program listens there" if error.errno == errno.EADDRINUSE else str(error.strerror)
            flag = ", or --port" if name == "port" else ""
            raise PortTaken(
                f"Nothing can be served at {address_of(settings.host, port)}: {why}. "
                f"Choose another port by {PREFIX}{name.upper()}{flag}."
            ) from error


class BadTlsFiles(ModelError):
    """The certificate and its key cannot be used."""

    code = "bad_tls_files"


def check_tls(certificate: Path | None, key: Path | None) -> None:
    """Load a TLS certificate and its key as the workers will, before anything is started with them.

    Raises:
        BadTlsFiles: one cannot be read, is no PEM file, is encrypted, or they do not belong together.
    """
    if certificate is None or key is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ssl.SSLError) as error:
        raise BadTlsFiles(f"{certificate} and {key} cannot be used for TLS: {error}") from error
