"""`python -m infra.image.build`: builds the container image with docker, podman or buildah; prints its layers."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path

from infra.image.engines import Engine, ImageBuild, NoEngine, build_command, choose, storage_options
from infra.image.layers import FORMAT, Layer, read_layers, table
from infra.image.pip_configuration import KEYS, read_configuration

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


def layers_of(tag: str, engine: Engine, storage: Path | None = None) -> tuple[Layer, ...] | None:
    """The image's layers; None without docker and podman, which list them."""
    program = "docker" if engine is Engine.DOCKER else "podman"
    if shutil.which(program) is None:
        return None
    options = [] if engine is Engine.DOCKER else storage_options(storage)
    command = [program, *options, "history", "--no-trunc", "--format", FORMAT, tag]
    return read_layers(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


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
    layers = layers_of(chosen.tag, engine)
    print(table(layers) if layers else f"Built {chosen.tag}; docker or podman would show its layers' sizes.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
