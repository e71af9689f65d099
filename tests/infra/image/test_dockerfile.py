"""The Dockerfile as a linter sees it, and promises that no linter knows; `make image-check` tries them out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "Dockerfile.gpu").read_text()
FINAL = DOCKERFILE.rsplit("FROM ", 1)[1]


def test_the_linter_finds_nothing() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, ROOT / "Dockerfile.gpu"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "line",
    [
        "USER 10001:10001",
        "VOLUME /models",
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        'NVIDIA_REQUIRE_CUDA="cuda>=13.0"',
        "GLEANER_DEVICE=cuda",
        "HEALTHCHECK ",
        'CMD ["gleaner", "healthcheck"]',
        'ENTRYPOINT ["env", "--block-signal=TERM,INT", "gleaner", "serve"]',
        'org.opencontainers.image.version="${VERSION}"',
        'org.opencontainers.image.revision="${COMMIT}"',
        "COPY --chown=10001:10001 ${MODELS} /opt/models",
        "GLEANER_MODEL_BAKED=/opt/models",
    ],
)
def test_the_final_image_has_it(line: str) -> None:
    assert line in FINAL


def test_nothing_is_mounted_whose_change_an_older_builder_would_miss() -> None:
    assert {*re.findall(r"--mount=(\S+)", DOCKERFILE)} == {"type=secret,id=pipconf"}


def test_each_step_that_downloads_reads_the_secret_and_no_other_does() -> None:
    for step in re.split(r"\n(?=[A-Z]+ )", DOCKERFILE):
        downloads = bool(re.search(r"bin/pip (?:--python \S+ )?install (?!--no-deps)", step))
        assert ("--mount=type=secret,id=pipconf " in step) is downloads, step
        assert step.count("PIP_CONFIG_FILE=/run/secrets/pipconf ") == downloads, step


def test_no_step_downloads_what_is_not_pinned() -> None:
    for call in re.findall(r"bin/pip (?:--python \S+ )?install (.*?)(?:&&|\n[A-Z#])", DOCKERFILE, re.DOTALL):
        assert "--constraint" in call or "==" in call or "--no-deps" in call, call


def test_what_the_build_copies_is_in_its_context() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE)
    for path in " ".join(copied).split():
        assert {path, *map(str, Path(path).parents)} & allowed, path
        assert (ROOT / path).exists(), path


def test_the_image_has_neither_load_tester_nor_infrastructure_unless_asked() -> None:
    assert re.search(r"^ARG LOADTEST=$", DOCKERFILE, re.MULTILINE)
    assert "loadtest" not in FINAL
    assert "infra" not in FINAL.replace("infra/image/no_models", "")
