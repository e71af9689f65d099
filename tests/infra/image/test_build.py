"""What goes into a build beside the Dockerfile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from infra.image.build import (
    CONNECTION,
    Engine,
    ImageBuild,
    NoEngine,
    bring_models,
    build_command,
    choose,
    read_configuration,
)


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


CONTEXT = Path("/source")
MOUNTED = ImageBuild(tag="t", arguments={}, mounts={Path("/here"): Path("/there")})


def test_the_first_engine_that_works_builds() -> None:
    def only_buildah(command: Sequence[str]) -> bool:
        return command[0] == "buildah"

    assert choose(lambda _: True) is Engine.DOCKER
    assert choose(only_buildah) is Engine.BUILDAH


def test_without_an_engine_the_error_says_what_to_install() -> None:
    with pytest.raises(NoEngine, match="apt install buildah"):
        choose(lambda _: False)


@pytest.mark.parametrize("engine", Engine, ids=lambda engine: engine.value)
def test_every_engine_gets_the_arguments_the_file_and_the_context(engine: Engine) -> None:
    command = build_command(engine, ImageBuild(tag="gleaner:1", arguments={"COMMIT": "abc"}), CONTEXT)
    assert command[0] == engine.value
    assert command[-1] == "/source"
    text = " ".join(command)
    for part in (
        "--platform linux/amd64",
        "--build-arg COMMIT=abc",
        "--file /source/Dockerfile.gpu",
        "--tag gleaner:1",
    ):
        assert part in text


@pytest.mark.parametrize("engine", [Engine.PODMAN, Engine.BUILDAH], ids=lambda engine: engine.value)
def test_health_checks_survive_only_in_dockers_format(engine: Engine) -> None:
    assert "--format docker" in " ".join(build_command(engine, ImageBuild(tag="t", arguments={}), CONTEXT))


def test_what_is_mounted_is_read_only_and_docker_says_that_it_cannot() -> None:
    assert "--volume /here:/there:ro" in " ".join(build_command(Engine.BUILDAH, MOUNTED, CONTEXT))
    with pytest.raises(NoEngine, match="docker cannot mount"):
        build_command(Engine.DOCKER, MOUNTED, CONTEXT)


LISTING = """\
:env:.cert='/etc/ca.crt'
:env:.default-timeout='180'
:env:.disable-pip-version-check='1'
:env:.find-links='/wheels'
global.extra-index-url='file:///index/simple https://packages.example/simple'
global.find-links='/other'
"""


def test_values_are_handed_on_and_the_environment_comes_first() -> None:
    text = read_configuration(LISTING, lambda _: True).text
    assert text.splitlines() == [
        "[global]",
        "cert = /etc/ca.crt",
        "timeout = 180",
        "find-links = /wheels",
        "extra-index-url = file:///index/simple https://packages.example/simple",
    ]


def test_folders_and_files_that_are_named_are_mounted_at_their_own_place() -> None:
    configuration = read_configuration(LISTING, lambda path: path != Path("/gone"))
    assert configuration.paths == (Path("/etc/ca.crt"), Path("/wheels"), Path("/index"))
    mounts = configuration.mounts(Path("/made/pip.conf"))
    assert mounts[Path("/made/pip.conf")] == Path("/etc/pip.conf")
    assert mounts[Path("/wheels")] == Path("/wheels")


def test_how_to_connect_can_be_handed_on_without_where_to() -> None:
    configuration = read_configuration(LISTING, lambda _: True, CONNECTION)
    assert configuration.text == "[global]\ncert = /etc/ca.crt\ntimeout = 180\n"
    assert configuration.paths == (Path("/etc/ca.crt"),)
