"""What goes into a build beside the Dockerfile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from infra.image.build import ENGINES, ROOT, NoEngine, bring_models, build_command, choose
from tests.support.stub_programs import StubPrograms


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


def test_the_first_engine_that_answers_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = StubPrograms(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    programs.has("docker", "exit 1")
    programs.has("podman", "exit 1")
    programs.has("buildah")
    assert choose() == "buildah"
    assert choose(["buildah", "docker"]) == "buildah"


def test_without_an_engine_the_error_says_what_to_install() -> None:
    with pytest.raises(NoEngine, match="apt install buildah"):
        choose(["no-such-engine"])


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gets_arguments_file_secret_and_context(engine: str) -> None:
    command = build_command(engine, "gleaner:1", {"COMMIT": "abc"}, pip_conf=Path("/private/pip.conf"))
    assert command[:2] == [engine, "build"]
    assert command[-1] == str(ROOT)
    text = " ".join(command)
    for part in (
        "--platform linux/amd64",
        "--build-arg COMMIT=abc",
        f"--file {ROOT}/Dockerfile.gpu",
        "--tag gleaner:1",
        "--secret id=pipconf,src=/private/pip.conf",
    ):
        assert part in text
    assert "--secret" not in build_command(engine, "gleaner:1", {})


def test_docker_pushes_one_image_and_no_index_of_it() -> None:
    assert "--provenance=false" in build_command("docker", "t", {})


@pytest.mark.parametrize("engine", ["podman", "buildah"])
def test_health_checks_survive_only_in_dockers_format(engine: str) -> None:
    command = " ".join(build_command(engine, "t", {}, volumes=[Path("/wheels")]))
    assert "--format docker" in command
    assert "--volume /wheels:/wheels:ro" in command
    assert "--provenance" not in command, "they do not know it"
