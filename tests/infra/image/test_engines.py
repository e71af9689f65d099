"""Which engine builds, and how it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from infra.image.engines import Engine, ImageBuild, NoEngine, build_command, choose

CONTEXT = Path("/source")
MOUNTED = ImageBuild(tag="t", arguments={}, mounts={Path("/here"): Path("/there")})


def test_the_first_engine_that_works_builds() -> None:
    def only_buildah(command: Sequence[str]) -> bool:
        return command[0] == "buildah"

    assert choose(lambda _: True) is Engine.DOCKER
    assert choose(only_buildah) is Engine.BUILDAH


def test_a_docker_command_without_its_server_is_no_engine() -> None:
    """`docker info` is what tells; the command alone is often installed."""
    assert choose(lambda command: tuple(command) == ("podman", "info")) is Engine.PODMAN


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


def test_layers_can_be_kept_in_a_folder_of_their_own() -> None:
    command = build_command(Engine.BUILDAH, ImageBuild(tag="t", arguments={}, storage=Path("/kept")), CONTEXT)
    assert command[1:3] == ["--root", "/kept/layers"]
