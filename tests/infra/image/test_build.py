"""What goes into a build beside the Dockerfile."""

from __future__ import annotations

from pathlib import Path

from infra.image.build import arguments, bring_models, commit, works


def baked(context: Path, *files: str) -> set[str]:
    """What is baked in of a folder with these files."""
    source = context / "source"
    for path in files:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(path)
    folder = context / str(bring_models(source, context))
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_of_a_store_only_the_blobs_are_baked_in(tmp_path: Path) -> None:
    files = ("blobs/sha256/ab", "tags/documents/stable", "models/ab/config.json", "locks/contents")
    assert baked(tmp_path, *files) == {"blobs/sha256/ab"}


def test_a_folder_of_model_folders_is_baked_in_unchanged(tmp_path: Path) -> None:
    (tmp_path / "build" / "models" / "old").mkdir(parents=True)
    (tmp_path / "build" / "models" / "old" / "config.json").write_text("{}")
    files = {"one/config.json", "one/model.safetensors", "models/config.json"}
    assert baked(tmp_path, *files) == files


def test_without_models_and_base_the_dockerfiles_own_are_taken() -> None:
    given = arguments()
    assert set(given) == {"VERSION", "COMMIT"}
    assert arguments(loadtest=True)["LOADTEST"] == "1"
    assert given["COMMIT"] == commit()


def test_an_engine_that_is_not_there_does_not_work() -> None:
    assert not works(["no-such-engine", "info"])
    assert works(["true"])
    assert not works(["false"])
