"""The model stores that a command works on: those of its options, else those of the settings."""

from __future__ import annotations

import argparse

from model_store.local.store import Store
from model_store.remote.base import Remote
from model_store.remote.open import open_remote
from service.settings import read_settings


def store_of(chosen: argparse.Namespace) -> Store:
    """The local store."""
    return Store(chosen.store or read_settings().model_store)


def remote_of(chosen: argparse.Namespace) -> Remote | None:
    """The remote store; None if none is configured. Raises InvalidRemote."""
    url = read_settings().model_remote if chosen.remote is None else chosen.remote
    return open_remote(url) if url else None
