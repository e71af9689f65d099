"""Fixtures of bulk jobs: one moto server for all tests of this folder, and buckets and queues of each test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.bulk_cloud import BulkCloud, bulk_cloud, moto_server


@pytest.fixture(scope="session")
def aws() -> Iterator[str]:
    with moto_server() as url:
        yield url


@pytest.fixture
def cloud(aws: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[BulkCloud]:
    with bulk_cloud(aws, monkeypatch) as made:
        yield made
