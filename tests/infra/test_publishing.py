"""`make publish` in a checkout of its own: Helm packages the real chart, programs stand for all that is far away."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.helm import Helm
from tests.support.stub_programs import DIGEST, StubPrograms

ROOT = Path(__file__).parents[2]
NEEDED = ("Makefile", "pyproject.toml", "CHANGELOG.md", ".gitignore", "infra")
PUSHED = f"ghcr.io/acme/gleaner@{DIGEST}"
RELEASE = f"v{yaml.safe_load((ROOT / 'infra' / 'helm' / 'gleaner' / 'Chart.yaml').read_text())['version']}"
WORKFLOW = {
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_WORKFLOW_REF": "acme/gleaner/.github/workflows/release.yml@refs/heads/main",
}


class Checkout(StubPrograms):
    """A commit of what publishing reads, and the programs that it calls."""

    @property
    def source(self) -> Path:
        return self.folder / "source"

    @property
    def output(self) -> Path:
        return self.folder / "output"

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
        command = ["git", "-C", str(self.source), *identity, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def publish(self, registry: str = "ghcr.io/acme", **variables: str) -> subprocess.CompletedProcess[str]:
        python, output = str(self.folder / "python"), str(self.output)
        words = ("make", "-s", "-C", str(self.source), "publish", f"REGISTRY={registry}", f"PYTHON={python}")
        return self.run(*words, GITHUB_OUTPUT=output, **{"GITHUB_WORKFLOW_REF": "", **variables})

    def steps(self) -> list[str]:
        """The calls without their arguments."""
        return [" ".join(call.split()[:2]) for call in self.calls()]


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm.unpacked(tmp_path_factory.mktemp("helm"))


@pytest.fixture
def checkout(tmp_path: Path, helm: Helm) -> Checkout:
    made = Checkout(tmp_path)
    made.source.mkdir()
    for name in NEEDED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, made.source / name)
    made.git("init")
    made.git("add", ".")
    made.git("commit", "-m", "one")
    made.has("python", '[ "$1" != -c ] || echo docker')
    made.has("docker", f'[ "$1" != push ] || touch {tmp_path}/pushed')
    made.has("skopeo", f'[ "$1" != inspect ] || {{ test -e {tmp_path}/pushed && echo {DIGEST}; }}')
    made.has("syft", 'for word; do case $word in cyclonedx-json=*) echo "{}" > "${word#*=}" ;; esac; done')
    made.has("grype")
    signs = 'while [ $# -gt 0 ]; do [ "$1" != --bundle ] || echo signature > "$2"; shift; done'
    made.has("cosign", f"case $1 in verify) test -e {tmp_path}/signed ;; *) {signs} ;; esac")
    made.has("helm", f'if [ "$1" = push ]; then echo "Digest: {DIGEST}" >&2; else {helm.program} "$@"; fi')
    return made


def test_a_release_is_image_chart_dashboards_rules_and_signed_list(checkout: Checkout) -> None:
    done = checkout.publish(RELEASE=RELEASE)
    assert done.returncode == 0, done.stderr
    version = RELEASE[1:]
    (built,) = checkout.calls("-m infra.image.build")
    (tagged,) = re.findall(r"--tag (ghcr\.io/acme/gleaner:[0-9a-f]{12})$", built)
    folder = "build/release"
    assert [call for call in checkout.calls() if call.split()[0] not in ("python", "syft", "grype")] == [
        f"docker push {tagged}",
        f"skopeo inspect --no-tags --format {{{{.Digest}}}} docker://{tagged}",
        f"cosign sign --yes {PUSHED}",
        f"cosign attest --yes --type cyclonedx --predicate build/sbom.cdx.json {PUSHED}",
        f"skopeo copy --preserve-digests docker://{PUSHED} docker://ghcr.io/acme/gleaner:{version}",
        f"helm package infra/helm/gleaner --destination {folder}",
        f"helm push {folder}/gleaner-{version}.tgz oci://ghcr.io/acme/charts",
        f"cosign sign --yes ghcr.io/acme/charts/gleaner@{DIGEST}",
        f"cosign sign-blob --yes --bundle {folder}/sbom.cdx.json.sigstore.json {folder}/sbom.cdx.json",
    ]
    assert {path.name for path in (checkout.source / folder).iterdir()} == {
        f"gleaner-{version}.tgz",
        *(path.name for path in (ROOT / "infra" / "grafana").glob("*.json")),
        "alerts.yml",
        "recording.yml",
        "sbom.cdx.json",
        "sbom.cdx.json.sigstore.json",
    }
    notes = (checkout.source / "build" / "notes.md").read_text()
    assert f"helm install gleaner oci://ghcr.io/acme/charts/gleaner --version {version} --set image.rep" in notes
    assert DIGEST in notes
    assert notes.count("\n## ") == 1, "the changes of this version alone"
    assert checkout.output.read_text() == f"image={PUSHED}\n"


def test_the_chart_that_is_pushed_renders_without_the_repository(checkout: Checkout, helm: Helm) -> None:
    assert checkout.publish(RELEASE=RELEASE).returncode == 0
    (packed,) = (checkout.source / "build" / "release").glob("*.tgz")
    rendered = helm.run("template", chart=packed)
    assert rendered.returncode == 0, rendered.stderr
    assert rendered.stdout == helm.run("template").stdout


def test_an_image_with_a_known_hole_is_not_pushed(checkout: Checkout) -> None:
    checkout.has("grype", "exit 1")
    assert checkout.publish(RELEASE=RELEASE).returncode != 0
    assert not [call for call in checkout.steps() if call.split()[0] in ("docker", "cosign", "helm")]
    assert not checkout.output.exists()


def test_what_this_workflow_has_signed_is_not_built_again(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "pushed").touch()
    (tmp_path / "signed").touch()
    done = checkout.publish(**WORKFLOW)
    assert done.returncode == 0, done.stderr
    assert checkout.steps() == ["skopeo inspect", "cosign verify"]
    assert checkout.output.read_text() == f"image={PUSHED}\n"


def test_a_release_of_it_is_listed_and_scanned_anew(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "pushed").touch()
    (tmp_path / "signed").touch()
    assert checkout.publish(RELEASE=RELEASE, **WORKFLOW).returncode == 0
    assert checkout.steps()[:6] == [
        "skopeo inspect",
        "cosign verify",
        "syft scan",
        "grype sbom:build/sbom.cdx.json",
        "cosign sign",
        "cosign attest",
    ]
    assert PUSHED in checkout.calls("syft")[0]
    assert not checkout.calls("docker push")


def test_an_image_that_others_pushed_is_built_again(checkout: Checkout, tmp_path: Path) -> None:
    """As is one whose signing failed, and one of another commit that was given this one's tag."""
    (tmp_path / "pushed").touch()
    assert checkout.publish(**WORKFLOW).returncode == 0
    assert checkout.calls("-m infra.image.build")
    assert checkout.calls("docker push")
    (verified,) = checkout.calls("cosign verify")
    assert f"--certificate-github-workflow-sha {checkout.git('rev-parse', 'HEAD')} {PUSHED}" in verified
    (signer,) = re.findall(r"--certificate-identity-regexp (\S+)", verified)
    ours, branch = WORKFLOW["GITHUB_WORKFLOW_REF"].split("@")
    for ref, is_trusted in ((branch, True), ("refs/tags/v0.1.0", True), ("refs/heads/mine", False)):
        assert bool(re.search(signer, f"https://github.com/{ours}@{ref}")) is is_trusted
    assert not re.search(signer, f"https://github.com/acme/gleaner/.github/workflows/other.yml@{branch}")


def test_what_could_not_be_signed_is_not_handed_on(checkout: Checkout) -> None:
    checkout.has("cosign", "exit 1")
    assert checkout.publish().returncode != 0
    assert checkout.calls("docker push")
    assert not checkout.output.exists()


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"registry": ""}, "Which registry?"),
        ({"registry": "ghcr.io/Acme"}, "in lower case"),
        ({"RELEASE": "v9.9.9"}, "v9.9.9 is not the version of pyproject.toml"),
        ({"RELEASE": RELEASE[1:]}, "is not the version"),
        ({"COSIGN": "/nowhere/cosign"}, "cosign is needed"),
        ({"SYFT": "/nowhere/syft"}, "syft is needed"),
        ({"GRYPE": "/nowhere/grype"}, "grype is needed"),
    ],
)
def test_what_cannot_be_published_is_a_sentence(checkout: Checkout, variables: dict[str, str], said: str) -> None:
    done = checkout.publish(**variables)
    assert done.returncode != 0
    assert said in done.stderr
    assert checkout.calls() == []


def test_a_version_that_the_changelog_lacks_is_no_release(checkout: Checkout) -> None:
    (checkout.source / "CHANGELOG.md").write_text("# Changelog\n\n## 0.0.1\n")
    assert "has no section" in checkout.publish(RELEASE=RELEASE).stderr
    assert "commit them" in checkout.publish().stderr
    assert checkout.calls() == []


def test_a_dry_run_changes_nothing(checkout: Checkout) -> None:
    done = checkout.publish(RELEASE=RELEASE, DRY_RUN="1")
    assert done.returncode == 0, done.stderr
    assert checkout.calls() == []
    assert not (checkout.source / "build").exists()
    shown = {line.split()[1] for line in (done.stdout + done.stderr).splitlines() if line.startswith("+ ")}
    assert {"skopeo", "helm", "cosign", "make"} <= shown
