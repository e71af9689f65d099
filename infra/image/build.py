"""`python -m infra.image.build`: builds the container image with docker, podman or buildah."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINES = ("docker", "podman", "buildah")
"""Programs that build images, the first choice first."""
PLATFORM = "linux/amd64"
"""Processor of the fleet's instances: an image for the one that builds might not start there."""
ISOLATION = ("--format", "docker", "--layers", "--isolation", "chroot")
"""HEALTHCHECK is lost in any format but docker's; steps run in a chroot, which works inside a container too."""
ONE_IMAGE = ("--provenance=false",)
"""Docker may else push an index of the image and of a note how it was built: a registry counts three images."""


class NoEngine(RuntimeError):
    """No program on this machine can build an image."""


def choose(engines: Sequence[str] = ENGINES) -> str:
    """The first engine that answers; a docker command without its server does not.

    Raises:
        NoEngine: says what to install.
    """
    for engine in engines:
        if shutil.which(engine) and subprocess.run([engine, "info"], capture_output=True).returncode == 0:
            return engine
    raise NoEngine("Neither docker, podman nor buildah works here. Debian: apt install buildah (as root).")


def build_command(
    engine: str,
    tag: str,
    arguments: Mapping[str, str],
    *,
    pip_conf: Path | None = None,
    storage: Sequence[str] = (),
    volumes: Sequence[Path] = (),
) -> list[str]:
    """The engine's command line for one image.

    Args:
        arguments: build arguments of the Dockerfile.
        pip_conf: pip's configuration for the steps that install, which no layer keeps.
        storage, volumes: options of podman's and buildah's storage; folders that each step sees, which docker cannot.
    """
    seen = (part for v in volumes for part in ("--volume", f"{v}:{v}:ro"))
    own = [*ONE_IMAGE] if engine == "docker" else [*ISOLATION, *seen]
    given = [part for name, value in arguments.items() for part in ("--build-arg", f"{name}={value}")]
    secret = ["--secret", f"id=pipconf,src={pip_conf}"] if pip_conf else []
    where = ["--platform", PLATFORM, "--file", str(ROOT / "Dockerfile.gpu"), "--tag", tag, str(ROOT)]
    return [engine, *storage, "build", *own, *given, *secret, *where]


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
    inside = Path("build", "models")
    shutil.rmtree(context / inside, ignore_errors=True)
    part = "blobs" if (models / "blobs").is_dir() else ""
    shutil.copytree(models / part, context / inside / part)
    return str(inside)


def main() -> int:
    """Build one image."""
    parser = argparse.ArgumentParser(prog="python -m infra.image.build", description=__doc__)
    parser.add_argument("--tag", default="gleaner", help="the image's name")
    parser.add_argument("--base", help="another base image, with python3 and its venv module")
    parser.add_argument("--models", type=Path, help="model folders, or a store, to bake in")
    parser.add_argument("--loadtest", action="store_true", help="with gleaner loadtest and gleaner simulate")
    parser.add_argument("--engine", choices=ENGINES, help="instead of the first that works")
    parser.add_argument("--pip-conf", type=Path, metavar="FILE", help="pip.conf of a private index; not in the image")
    chosen = parser.parse_args()
    try:
        engine = chosen.engine or choose()
    except NoEngine as error:
        print(error, file=sys.stderr)
        return 1
    given = arguments(chosen.base, chosen.models, loadtest=chosen.loadtest)
    if code := subprocess.run(build_command(engine, chosen.tag, given, pip_conf=chosen.pip_conf)).returncode:
        return code
    print(f"Built {chosen.tag}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
