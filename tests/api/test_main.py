"""The configuration of gunicorn and of its workers."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from service.api.__main__ import COLLECTION_OBJECTS, GunicornServer
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
    assert gc.get_threshold()[0] == COLLECTION_OBJECTS
    assert gc.get_freeze_count() > 0
