"""The configuration of gunicorn and of its workers."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from uvicorn.middleware.proxy_headers import _TrustedHosts

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
    monkeypatch.setenv("GLEANER_TRUSTED_PROXIES", "10.0.0.0/16, 192.0.2.7, 2001:db8::/32")
    trusted = _TrustedHosts(GunicornServer(Settings()).cfg.forwarded_allow_ips)
    for address in ("10.0.3.4", "192.0.2.7", "::ffff:10.0.3.4", "::ffff:192.0.2.7", "2001:db8::5"):
        assert address in trusted
    for address in ("10.1.3.4", "192.0.2.8", "::ffff:10.1.3.4", "::ffff:192.0.2.8", "::1"):
        assert address not in trusted


@pytest.mark.parametrize(
    ("host", "bound"),
    [
        ("::", "[::]:81"),
        ("[::]", "[::]:81"),
        ("::1", "[::1]:81"),
        ("[::1]", "[::1]:81"),
        ("0.0.0.0", "0.0.0.0:81"),
        ("localhost", "localhost:81"),
    ],
)
def test_addresses_of_ipv6_are_bound_with_and_without_brackets(
    monkeypatch: pytest.MonkeyPatch, host: str, bound: str
) -> None:
    monkeypatch.setenv("GLEANER_HOST", host)
    assert GunicornServer(Settings(port=81)).cfg.bind == [bound]
