"""The configuration of gunicorn and of its workers."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from service.api.__main__ import GunicornServer
from service.process import COLLECTIONS
from service.settings import Settings


@pytest.fixture
def _collections_as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


@pytest.mark.usefixtures("_collections_as_before")
def test_a_worker_collects_garbage_seldom_and_freezes_its_modules() -> None:
    front = GunicornServer(Settings())
    front.cfg.post_worker_init(None)
    assert gc.get_threshold() == COLLECTIONS
    assert gc.get_freeze_count() > 0


def test_forwarded_addresses_are_believed_of_trusted_proxies_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert GunicornServer(Settings()).cfg.forwarded_allow_ips == []
    monkeypatch.setenv("GLEANER_TRUSTED_PROXIES", "10.0.0.0/16, 192.0.2.7")
    assert GunicornServer(Settings()).cfg.forwarded_allow_ips == ["10.0.0.0/16", "192.0.2.7"]
