"""`make deploy` and `make destroy` against an account that behaves as AWS does where deployments fail."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.edits import DEPLOYED
from infra.environments import find_environment
from service.api.http import api_keys
from tests.support import aws_cli
from tests.support.aws_cli import FRESH
from tests.support.stub_programs import DIGEST

ROOT = Path(__file__).parents[2]
POOL = find_environment("production").warm_pool
PYTHON = """#!/bin/sh
case "$*" in
  "-m infra.stacks "*) echo "$*" >> "$STATE.syntheses"; exit 0 ;;
  "-m infra.environments "*) PYTHON "$@" | sed 's/True$/False/'; exit ;;
  "-m infra.image.build "*) echo "$*" >> "$STATE.builds"; exit 0 ;;
esac
exec PYTHON "$@"
""".replace("PYTHON", sys.executable)
"""In the place of our Python: an example's certificate will do, and neither stacks nor images are made."""


@dataclass
class Account:
    """An account, and the machine that deploys into it; no program there can build an image."""

    folder: Path

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "state").read_text())
        return found

    def change(self, **values: object) -> None:
        (self.folder / "state").write_text(json.dumps({**self.state, **values}))

    def run(self, script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "STATE": str(self.folder / "state"),
            "DEPLOY_PYTHON": str(self.folder / "python"),
            "DEPLOY_STACKS": str(self.folder / "stacks"),
            "DEPLOY_PAUSE_SECONDS": "0",
            **variables,
        }
        command = ["bash", str(ROOT / "infra" / script), "production", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def deploy(self, tag: str = "v1", **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run("deploy.sh", tag, **variables)

    def synthesize(self, exports: Sequence[str] = (), **made_once: object) -> None:
        """Have the next deployment find these templates: a base that exports so much, and a fleet that imports all."""
        outputs = {name: {"Export": {"Name": name}} for name in exports}
        base = {"Metadata": {DEPLOYED: made_once}, "Resources": {}, "Outputs": outputs}
        for name, template in {"base": base, "fleet": {"Resources": {}, "Imports": [*exports]}}.items():
            path = self.folder / "stacks" / f"gleaner-production-{name}.template.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(template))

    def called(self, words: str) -> list[str]:
        return [call for call in self.state["calls"] if words in call]


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def account(tmp_path: Path) -> Account:
    (tmp_path / "state").write_text(json.dumps(copy.deepcopy(FRESH)))
    program(tmp_path / "aws", f'#!/bin/sh\nexec {sys.executable} -I -S {aws_cli.__file__} "$@"\n')
    program(tmp_path / "python", PYTHON)
    for engine in ("docker", "podman", "buildah"):
        program(tmp_path / engine, "#!/bin/sh\nexit 1\n")
    account = Account(tmp_path)
    account.synthesize()
    return account


def test_the_first_deployment_of_an_account_comes_up(account: Account) -> None:
    """An account that never used ECS lacks the role that its first cluster needs."""
    done = account.deploy()
    assert done.returncode == 0, done.stderr
    assert set(account.state["stacks"].values()) == {"CREATE_COMPLETE"}
    assert {"ecs.amazonaws.com", "autoscaling.amazonaws.com"} <= set(account.state["roles"])


@pytest.mark.parametrize("status", ["REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "DELETE_FAILED"])
def test_what_a_failed_attempt_has_left_is_deleted_first(account: Account, status: str) -> None:
    account.change(stacks={"gleaner-production-fleet": status}, instances={"i-7": ["InService", True]}, pool=["1"])
    done = account.deploy()
    assert done.returncode == 0, done.stderr
    assert account.state["stacks"]["gleaner-production-fleet"] == "CREATE_COMPLETE"


@pytest.mark.parametrize(
    ("lack", "words"),
    [
        ({"quotas": {"L-DB2E81BA": 0.0}}, "the quota L-DB2E81BA allows 0 vCPUs"),
        (
            {"zones": {"eu-central-1a": ["g6.xlarge"], "eu-central-1b": ["g5.16xlarge"]}},
            "g4dn.xlarge in eu-central-1a; the fleet needs 2 zones",
        ),
        ({"certificate": "PENDING_VALIDATION"}, "the certificate is PENDING_VALIDATION"),
    ],
)
def test_what_the_account_lacks_is_said_before_anything_is_made(
    account: Account, lack: dict[str, object], words: str
) -> None:
    account.change(**lack)
    done = account.deploy()
    assert done.returncode != 0
    assert words in done.stderr
    assert account.state["stacks"] == {}


def test_the_stacks_are_made_for_the_zones_that_were_judged(account: Account) -> None:
    zones = {"a": [], "b": ["g6e.16xlarge"], "c": ["g6.xlarge"], "d": ["g4dn.xlarge"]}
    account.change(zones={f"eu-central-1{letter}": types for letter, types in zones.items()})
    assert account.deploy().returncode == 0
    (told,) = (account.folder / "state.syntheses").read_text().splitlines()
    assert told.endswith("--zones eu-central-1c eu-central-1d eu-central-1b")


@pytest.mark.parametrize("option", ["network", "variant", "public"])
def test_an_option_that_is_made_once_is_refused_at_once(account: Account, option: str) -> None:
    account.synthesize(**{option: "another"})
    assert account.deploy().returncode == 0
    before = len(account.called("cloudformation deploy"))
    done = account.deploy()
    assert done.returncode != 0
    assert f"infra: {option} is 'another' in what is deployed" in done.stderr
    assert len(account.called("cloudformation deploy")) == before


def test_what_the_fleet_uses_goes_once_it_has_let_go(account: Account) -> None:
    account.synthesize(exports=["network", "queue"])
    assert account.deploy().returncode == 0
    assert len(account.called("cloudformation deploy")) == 2
    account.synthesize(exports=["network"])
    account.change(stock_out=True)
    assert account.deploy().returncode != 0, "the base keeps the queue, whatever becomes of the fleet"
    account.change(stock_out=False)
    done = account.deploy()
    assert done.returncode == 0, done.stderr
    assert "without what the fleet has let go of" in done.stderr
    assert [*account.state["templates"]["gleaner-production-base"]["Outputs"]] == ["network"]


def test_a_release_without_a_free_gpu_is_not_taken_for_a_bad_one(account: Account) -> None:
    account.change(stock_out=True)
    done = account.deploy()
    assert done.returncode != 0
    assert "a good release is rolled back too" in done.stderr
    assert "do not have sufficient g6.xlarge capacity" in done.stderr
    assert "long ago" not in done.stderr


def test_without_a_container_tool_only_an_image_that_is_missing_is_refused(account: Account) -> None:
    assert account.deploy("v1").returncode == 0
    done = account.deploy("v9")
    assert done.returncode != 0
    assert "docker, podman or buildah is needed" in done.stderr


@pytest.mark.parametrize("status", ["CREATE_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS", "DELETE_IN_PROGRESS"])
def test_a_stack_that_is_still_changed_is_waited_for(account: Account, status: str) -> None:
    account.change(stacks={"gleaner-production-fleet": status})
    done = account.deploy()
    assert done.returncode != 0
    assert f"gleaner-production-fleet is {status}" in done.stderr
    assert not account.called("gleaner-production-fleet --no-fail")


def test_a_stack_whose_rollback_failed_is_said_with_the_way_on(account: Account) -> None:
    account.change(stacks={"gleaner-production-base": "UPDATE_ROLLBACK_FAILED"})
    done = account.deploy()
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].endswith("--stack-name gleaner-production-base")
    assert "continue-update-rollback --region eu-central-1" in done.stderr
    assert not account.called("cloudformation deploy")


STATES = [
    ["InService", True],
    ["InService", False],
    ["Pending", False],
    ["Pending:Wait", False],
    ["Terminating", False],
    ["Terminating:Wait", False],
    ["Terminating:Wait", True],
    ["Terminating:Proceed", False],
]


@pytest.mark.parametrize("agent_answers", [True, False])
@pytest.mark.parametrize("state", STATES, ids=str)
def test_destroying_ends_in_every_state_of_an_instance(
    account: Account, state: list[object], agent_answers: bool
) -> None:
    assert account.deploy().returncode == 0
    account.change(instances={"i-1": ["InService", True], "i-2": state}, agent_answers=agent_answers)
    done = account.run("destroy.sh", CONFIRM="gleaner-production")
    assert done.returncode == 0, done.stderr
    assert account.state["stacks"] == {}
    order = ["update-service", "delete-warm-pool", "desired-capacity 0", "delete-stack"]
    places = [next(i for i, call in enumerate(account.state["calls"]) if each in call) for each in order]
    assert places == sorted(places)


def test_an_instance_that_never_ends_stops_the_destruction(account: Account) -> None:
    assert account.deploy().returncode == 0
    account.change(instances={"i-3": ["Standby", False]})
    done = account.run("destroy.sh", CONFIRM="gleaner-production")
    assert done.returncode != 0
    assert "gleaner-production still has: i-3\tStandby" in done.stderr
    assert not account.called("delete-stack")


def stored_keys(account: Account, stderr: int) -> str:
    """What a first deployment puts into the keys' secret while its standard error is this file."""
    variables = {
        **os.environ,
        "PATH": f"{account.folder}:{os.environ['PATH']}",
        "STATE": str(account.folder / "state"),
        "DEPLOY_PYTHON": str(account.folder / "python"),
        "DEPLOY_STACKS": str(account.folder / "stacks"),
        "DEPLOY_PAUSE_SECONDS": "0",
    }
    command = ["bash", str(ROOT / "infra" / "deploy.sh"), "production", "v1"]
    done = subprocess.run(command, env=variables, stdout=subprocess.DEVNULL, stderr=stderr, stdin=subprocess.DEVNULL)
    assert done.returncode == 0
    return str(account.state["secret"])


@pytest.mark.parametrize("variables", [{}, {"CI": "true"}, {"CODEBUILD_BUILD_ID": "1"}])
def test_the_first_key_is_not_written_into_a_log(account: Account, variables: dict[str, str]) -> None:
    done = account.deploy(**variables)
    assert done.returncode == 0, done.stderr
    assert account.state["secret"] == "nobody"
    assert "shown this once" not in done.stderr
    assert api_keys.parse(api_keys.entries(account.state["secret"], "secret")) == {}, "tasks start, and let no one in"


def test_the_first_key_is_shown_on_a_terminal_last_of_all(account: Account) -> None:
    ours, theirs = os.openpty()
    stored = stored_keys(account, theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # a terminal whose other end is closed
        while part := os.read(ours, 65_536):
            shown += part
    last = shown.decode().split()[-1]
    assert stored == f"first {hashlib.sha256(last.encode()).hexdigest()}"


def test_after_a_release_the_whole_pool_has_its_image(account: Account) -> None:
    assert account.deploy("v1").returncode == 0
    account.change(pool=["1"] * POOL)
    assert account.deploy("v2").returncode == 0
    assert account.state["pool"] == ["2"] * POOL


def test_a_pool_that_a_broken_attempt_deleted_is_put_back(account: Account) -> None:
    assert account.deploy("v1").returncode == 0
    account.change(pool=None)
    assert account.deploy("v1").returncode == 0
    assert account.state["pool"] == ["1"] * POOL


def test_a_deployment_ends_with_an_alarm_that_arrives(account: Account) -> None:
    assert account.deploy().returncode == 0
    assert account.state["alarms"] == ["OK", "ALARM"]


def test_an_alarm_that_does_not_arrive_fails_the_deployment(account: Account) -> None:
    account.change(publishes=False)
    done = account.deploy()
    assert done.returncode != 0
    assert "The alarm does not reach its topic: Failed to execute" in done.stderr


@pytest.mark.parametrize(
    ("running", "replaced"),
    [([], False), (["ami-0aws"], False), (["ami-0old"], True), (["ami-0aws", "ami-0old"], True)],
)
@pytest.mark.parametrize("refreshing", [False, True])
def test_instances_of_an_older_machine_image_are_replaced(
    account: Account, running: list[str], replaced: bool, refreshing: bool
) -> None:
    account.change(images_run=running, refreshing=refreshing)
    done = account.deploy()
    assert done.returncode == 0, done.stderr
    assert bool(account.called("start-instance-refresh")) is replaced
    assert ("one before it may not have ended" in done.stderr) is (replaced and refreshing)


@pytest.fixture
def copying(account: Account) -> Account:
    """An account whose deploying machine has docker, and a program in the place of skopeo."""
    for name in ("docker", "skopeo"):
        takes_the_password = '[ "$1" != login ] || cat > /dev/null'
        program(account.folder / name, f'#!/bin/sh\necho "{name} $*" >> "$STATE.copies"\n{takes_the_password}\n')
    return account


def test_an_image_that_is_named_is_copied_as_it_is_and_not_built(copying: Account) -> None:
    image = f"ghcr.io/acme/gleaner@{DIGEST}"
    done = copying.deploy("v3", IMAGE=image)
    assert done.returncode == 0, done.stderr
    calls = (copying.folder / "state.copies").read_text().splitlines()
    assert calls[-1] == f"skopeo copy --preserve-digests docker://{image} docker://1.dkr/images:v3"
    assert not [call for call in calls if call.startswith("docker push")]
    assert not (copying.folder / "state.builds").exists()
    assert copying.state["tag"] == "v3"


def test_one_that_is_there_is_not_copied_and_a_tag_is_not_trusted(copying: Account) -> None:
    assert copying.deploy("v1", IMAGE=f"ghcr.io/acme/gleaner@{DIGEST}").returncode == 0
    refused = copying.deploy("v3", IMAGE="ghcr.io/acme/gleaner:v3")
    assert refused.returncode != 0
    assert "A tag may move" in refused.stderr
    assert not (copying.folder / "state.copies").exists()


def git(folder: Path, *arguments: str) -> None:
    identity: Sequence[str] = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    git(folder, "init")
    (folder / "code.py").write_text("1\n")
    git(folder, "add", "code.py")
    git(folder, "commit", "-m", "one")
    return folder


@pytest.mark.parametrize("change", ["code.py", "new.py"])
def test_changes_are_not_deployed_under_the_tag_of_a_commit_without_them(
    account: Account, checkout: Path, change: str
) -> None:
    variables = {"GIT_DIR": str(checkout / ".git"), "GIT_WORK_TREE": str(checkout)}
    (checkout / change).write_text("2\n")
    done = account.run("deploy.sh", **variables)
    assert done.returncode != 0
    assert "Files differ from the commit" in done.stderr
    assert account.state["calls"] == []


def test_a_clean_checkout_has_its_commit_for_a_tag(account: Account, checkout: Path) -> None:
    variables = {"GIT_DIR": str(checkout / ".git"), "GIT_WORK_TREE": str(checkout)}
    commit = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    account.change(images=[commit])
    done = account.run("deploy.sh", **variables)
    assert done.returncode == 0, done.stderr
    assert account.state["tag"] == commit
