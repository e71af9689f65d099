"""References in, folders out, kept from eviction for as long as they are held."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.errors import UnknownModel
from model_store.local.locks import is_in_use
from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.engine.models.repository import ModelRepository, by_digest
from service.settings import Settings
from tests.support.tiny_models import make_model


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def fetcher(store: Store) -> ModelRepository:
    return ModelRepository(Settings(model_store=store.root))


def put(store: Store, folder: Path, seed: int) -> str:
    return publish(make_model(folder / str(seed), seed=seed), "m", store).revision.revision


def test_a_revision_is_kept_until_it_is_released(store: Store, fetcher: ModelRepository, tmp_path: Path) -> None:
    name = put(store, tmp_path, 0)
    assert fetcher.obtain("m").revision == name
    assert fetcher.obtain("m@stable").revision == name
    assert is_in_use(store.layout, name)
    fetcher.release(name)
    assert not is_in_use(store.layout, name)
    fetcher.release(name)


def test_a_tag_is_followed_without_fetching_and_its_past_is_known(
    store: Store, fetcher: ModelRepository, tmp_path: Path
) -> None:
    old = put(store, tmp_path, 0)
    assert fetcher.points_to("m") == old
    new = put(store, tmp_path, 1)
    assert fetcher.points_to("m") == new
    assert (fetcher.earlier("m"), fetcher.earlier(f"m@{new}")) == ((old,), ())
    assert fetcher.obtain(by_digest("m@candidate", old)).revision == old


def test_a_name_that_leads_nowhere_is_an_error(fetcher: ModelRepository) -> None:
    with pytest.raises(UnknownModel):
        fetcher.points_to("nobody")
    assert fetcher.earlier("nobody") == ()
