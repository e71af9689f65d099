"""`python -m infra.image.build`: builds the container image with docker, podman or buildah."""

from __future__ import annotations

import argparse
import ast
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

DOCKERFILE = "Dockerfile.gpu"

PLATFORM = "linux/amd64"
"""Processor of the fleet's instances: an image for the one that builds might not start there."""

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


KEYS = ("index-url", "extra-index-url", "find-links", "cert", "timeout", "default-timeout", "trusted-host", "no-index")
CONNECTION = ("cert", "timeout")
"""Keys that say how to connect, not where to."""


@dataclass(frozen=True, slots=True)
class PipConfiguration:
    """A pip.conf, and the paths that it refers to."""

    text: str
    paths: tuple[Path, ...]

    def mounts(self, file: Path) -> dict[Path, Path]:
        """Mounts of a build, with the text in this file."""
        return {file: Path("/etc/pip.conf"), **{path: path for path in self.paths}}


def read_configuration(
    listing: str, exists: Callable[[Path], bool] = Path.exists, keys: Collection[str] = KEYS
) -> PipConfiguration:
    """The configuration out of what `pip config list` prints."""
    values = {key: value for key, value in _settings(listing).items() if key in keys}
    lines = (f"{key} = {value}" for key, value in values.items())
    paths = (path for value in values.values() for path in _paths(value) if exists(path))
    return PipConfiguration("\n".join(("[global]", *lines)) + "\n", tuple(dict.fromkeys(paths)))


def _settings(listing: str) -> Mapping[str, str]:
    """The first line of a key wins: pip lists the environment before files, which must not override it."""
    found: dict[str, str] = {}
    for line in listing.splitlines():
        name, equals, quoted = line.partition("=")
        key = name.rpartition(".")[2]
        if equals and key in KEYS:
            found.setdefault(key.replace("default-timeout", "timeout"), str(ast.literal_eval(quoted)))
    return found


def _paths(value: str) -> list[Path]:
    """Folders and files of a value; for an index in a folder `simple` its parent, to which its pages point."""
    words = (Path(word.removeprefix("file://")) for word in value.split())
    return [path.parent if path.name == "simple" else path for path in words if path.is_absolute()]


ROOT = Path(__file__).parents[2]
SCRATCH = ROOT / "build"


def works(command: Sequence[str]) -> bool:
    """True when the command exists and exits with 0."""
    return shutil.which(command[0]) is not None and subprocess.run(command, capture_output=True).returncode == 0


def arguments(base: str | None = None, models: Path | None = None, *, loadtest: bool = False) -> dict[str, str]:
    """The Dockerfile's build arguments: version and commit of this checkout, base image, models, load tester."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    found = {"VERSION": version, "COMMIT": commit(), "BASE": base, "MODELS": bring_models(models)}
    found["LOADTEST"] = "1" if loadtest else None
    return {name: value for name, value in found.items() if value is not None}


def commit() -> str:
    """This checkout's commit; `-changed` behind it when files differ from it."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=40", "--dirty=-changed", "--exclude=*"]
    done = subprocess.run(git, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def bring_models(models: Path | None, context: Path = ROOT) -> str | None:
    """Copy a folder that is to be baked in into the build's context; returns its path there.

    Of a store, its blobs suffice: its model folders are hard links to them, which a build would turn into copies.
    """
    if models is None:
        return None

    blobs = models / "blobs"
    inside = Path("build", "models")
    shutil.rmtree(context / inside, ignore_errors=True)
    if blobs.is_dir():
        shutil.copytree(blobs, context / inside / "blobs")
    else:
        shutil.copytree(models, context / inside)
    return str(inside)


def pip_mounts(keys: Collection[str] = KEYS) -> dict[Path, Path]:
    """This machine's pip configuration, ready to be mounted."""
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    configuration = read_configuration(listing.stdout, keys=keys)
    SCRATCH.mkdir(exist_ok=True)
    file = SCRATCH / "pip.conf"
    file.write_text(configuration.text)
    return configuration.mounts(file)


def main() -> int:
    """Build one image."""
    parser = argparse.ArgumentParser(prog="python -m infra.image.build", description=__doc__)
    parser.add_argument("--tag", default="gleaner", help="the image's name")
    parser.add_argument("--base", help="another base image, with python3 and its venv module")
    parser.add_argument("--models", type=Path, help="model folders, or a store, to bake in")
    parser.add_argument("--loadtest", action="store_true", help="with gleaner loadtest and gleaner simulate")
    parser.add_argument("--engine", choices=[engine.value for engine in Engine], help="instead of the first that works")
    parser.add_argument("--pip-configuration", action="store_true", help="hand this machine's pip configuration on")
    chosen = parser.parse_args()
    try:
        engine = Engine(chosen.engine) if chosen.engine else choose(works)
        mounts = pip_mounts() if chosen.pip_configuration else {}
        given = arguments(chosen.base, chosen.models, loadtest=chosen.loadtest)
        image = ImageBuild(tag=chosen.tag, arguments=given, mounts=mounts)
        command = build_command(engine, image, ROOT)
    except NoEngine as error:
        print(error, file=sys.stderr)
        return 1
    if code := subprocess.run(command).returncode:
        return code
    print(f"Built {chosen.tag}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
