"""Image builders: docker, podman or buildah, and the command line of each. Runs nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

DOCKERFILE = "Dockerfile.gpu"

PLATFORM = "linux/amd64"
"""Of the fleet's instances, whatever the machine that builds: an image for its own processor would not start there."""

ISOLATION = ("--format", "docker", "--layers", "--isolation", "chroot")
"""HEALTHCHECK is lost in any format but docker's; steps run in a chroot, which works inside a container too."""


class Engine(Enum):
    """A program that builds images, the first choice first."""

    DOCKER = "docker"
    PODMAN = "podman"
    BUILDAH = "buildah"


class NoEngine(RuntimeError):
    """No program on this machine can build an image."""


PROBES: Mapping[Engine, tuple[str, ...]] = {engine: (engine.value, "info") for engine in Engine}
"""Succeeds only where the engine works: a docker command without its server is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBuild:
    """One image to build.

    Attributes:
        arguments: build arguments of the Dockerfile.
        mounts: paths that each step sees at the same place, read-only; docker cannot do that.
        storage: where buildah and podman keep layers; None: their default.
    """

    tag: str
    arguments: Mapping[str, str]
    mounts: Mapping[Path, Path] = field(default_factory=dict)
    storage: Path | None = None


def choose(works: Callable[[Sequence[str]], bool]) -> Engine:
    """The first engine whose probe succeeds.

    Raises:
        NoEngine: says what to install.
    """
    for engine in Engine:
        if works(PROBES[engine]):
            return engine
    raise NoEngine("Neither docker, podman nor buildah works here. Debian: apt install buildah (as root).")


def build_command(engine: Engine, wanted: ImageBuild, context: Path) -> list[str]:
    """The engine's command line for one image."""
    arguments = [part for name, value in wanted.arguments.items() for part in ("--build-arg", f"{name}={value}")]
    common = [
        "--platform",
        PLATFORM,
        *arguments,
        "--file",
        str(context / DOCKERFILE),
        "--tag",
        wanted.tag,
        str(context),
    ]
    if engine is Engine.DOCKER:
        if wanted.mounts:
            raise NoEngine("docker cannot mount this machine's pip configuration into a build; podman and buildah can.")
        return ["docker", "build", *common]
    mounts = [part for here, there in wanted.mounts.items() for part in ("--volume", f"{here}:{there}:ro")]
    return [engine.value, *storage_options(wanted.storage), "build", *ISOLATION, *mounts, *common]


def storage_options(storage: Path | None) -> list[str]:
    """Options that keep podman's or buildah's storage in one folder."""
    if storage is None:
        return []
    return ["--root", str(storage / "layers"), "--runroot", str(storage / "run"), "--storage-driver", "overlay"]
