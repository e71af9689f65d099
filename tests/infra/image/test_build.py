"""What goes into a build beside the Dockerfile."""

from __future__ import annotations

from pathlib import Path

from infra.image.build import arguments, bring_models, commit, works


def test_a_store_is_baked_without_what_it_makes_by_itself(tmp_path: Path) -> None:
    store = tmp_path / "store"
    for path in ("blobs/sha256/ab", "tags/models/stable", "models/ab/config.json", "temporary/x", "locks/contents"):
        (store / path).parent.mkdir(parents=True, exist_ok=True)
        (store / path).write_text(path)
    assert bring_models(store, tmp_path) == "build/models"
    folder = tmp_path / "build" / "models"
    baked = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert baked == {"blobs/sha256/ab", "tags/models/stable"}


def test_without_models_and_base_the_dockerfiles_own_are_taken() -> None:
    given = arguments(None, None)
    assert set(given) == {"VERSION", "COMMIT"}
    assert given["COMMIT"] == commit()


def test_an_engine_that_is_not_there_does_not_work() -> None:
    assert not works(["no-such-engine", "info"])
    assert works(["true"])
    assert not works(["false"])
