"""`make sbom`, `scan` and `sign`, and how a deployment uses them: what fails keeps an image from being pushed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.stub_programs import DIGEST, StubPrograms

ROOT = Path(__file__).parents[3]
SIGNED = f"repository@{DIGEST}"


class Tools(StubPrograms):
    """Programs that list, scan and sign."""

    @property
    def sbom(self) -> Path:
        return self.folder / "out" / "sbom.json"

    def make(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run("make", "-s", "-C", str(ROOT), *words, SBOM=str(self.sbom), **variables)


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    made = Tools(tmp_path)
    made.has("syft", 'for word; do case $word in cyclonedx-json=*) echo "{}" > "${word#*=}" ;; esac; done')
    made.has("grype")
    made.has("cosign")
    return made


def test_an_image_is_listed_scanned_and_signed_with_its_list(tools: Tools) -> None:
    assert tools.make("sbom", "scan", "IMAGE=gleaner:1").returncode == 0
    assert tools.make("sign", f"IMAGE={SIGNED}").returncode == 0
    assert tools.calls() == [
        f"syft scan gleaner:1 --output cyclonedx-json={tools.sbom}",
        f"grype sbom:{tools.sbom} --only-fixed --fail-on high",
        f"cosign sign --yes {SIGNED}",
        f"cosign attest --yes --type cyclonedx --predicate {tools.sbom} {SIGNED}",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sbom",), "Which image?"),
        (("scan",), "There is no list yet"),
        (("sign",), "Which image?"),
        (("sign", "IMAGE=gleaner:1"), "A tag may move"),
        (("sign", f"IMAGE={SIGNED}"), "There is no list yet"),
        (("sbom", "IMAGE=gleaner:1", "SYFT=/nowhere/syft"), "syft is needed"),
    ],
)
def test_what_lacks_is_a_sentence_and_nothing_is_run(tools: Tools, words: tuple[str, ...], said: str) -> None:
    done = tools.make(*words)
    assert done.returncode != 0
    assert said in done.stdout
    assert tools.calls() == []


def test_a_known_hole_fails(tools: Tools) -> None:
    tools.has("grype", "exit 1")
    assert tools.make("sbom", "scan", "IMAGE=gleaner:1").returncode != 0


def test_an_image_without_a_signature_is_not_given_a_list_either(tools: Tools) -> None:
    assert tools.make("sbom", "IMAGE=gleaner:1").returncode == 0
    tools.has("cosign", "exit 1")
    assert tools.make("sign", f"IMAGE={SIGNED}").returncode != 0
    assert [call.split()[1] for call in tools.calls() if call.startswith("cosign")] == ["sign"]
