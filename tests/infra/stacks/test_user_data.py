"""What an instance does by itself, as its scripts do it: says that it is ready, gives a dead GPU up, sends its log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from infra.stacks.user_data import GPU_FAILURES, GPU_UNIT, READY_UNIT, SPOT_UNIT, asg_user_data, ecs_user_data
from tests.support.stub_programs import StubPrograms

MANAGED, PLAIN = ecs_user_data(spot=True), asg_user_data({"GLEANER_PORT": "8080"}, 330, True)
SCRIPTS = pytest.mark.parametrize("script", [MANAGED, PLAIN], ids=["ecs", "asg"])


@pytest.fixture
def machine(tmp_path: Path) -> StubPrograms:
    made = StubPrograms(tmp_path)
    for name in ("sleep", "aws", "docker", "nvidia-smi"):
        made.has(name)
    made.has("curl", "echo i-123")
    made.has("date", "echo 30")
    return made


def filled_in(text: str, machine: StubPrograms) -> str:
    text = re.sub(r"\$\{(AWS::)?(\w+)\}", r"the-\2", text)
    return text.replace("/run/", f"{machine.folder}/").replace("/var/log/", f"{machine.folder}/")


def installed(script: str, unit: str, machine: StubPrograms) -> str:
    """The script that the user data writes to /usr/local/bin."""
    found = re.search(rf"cat > /usr/local/bin/{unit} <<'SCRIPT'\n(.*?)\nSCRIPT\n", script, re.DOTALL)
    assert found
    return filled_in(found[1], machine)


def failing_first(machine: StubPrograms, times: int) -> str:
    counter = machine.folder / "count"
    return f"n=$(($(cat {counter} 2>/dev/null || echo 0) + 1)); echo $n > {counter}; [ $n -gt {times} ]"


@SCRIPTS
def test_the_hook_is_completed_though_it_is_not_there_at_first(machine: StubPrograms, script: str) -> None:
    machine.has("aws", failing_first(machine, 4))
    assert machine.run("bash", "-c", installed(script, READY_UNIT, machine)).returncode == 0
    calls = machine.calls("complete-lifecycle-action")
    assert len(calls) == 5
    assert "--instance-id i-123 --lifecycle-action-result CONTINUE" in calls[-1]


NO_AGENT = 'case "$*" in *51678*) exit 7 ;; esac; echo i-123'
"""A curl to which ECS's agent does not answer."""


@pytest.mark.parametrize(
    ("script", "program", "does"),
    [
        (MANAGED, "nvidia-smi", "exit 15"),
        (PLAIN, "nvidia-smi", "exit 15"),
        (MANAGED, "docker", "exit 1"),
        (PLAIN, "docker", "exit 1"),
        (MANAGED, "curl", NO_AGENT),
    ],
)
def test_an_instance_without_gpu_docker_or_agent_is_given_up(
    machine: StubPrograms, script: str, program: str, does: str
) -> None:
    watch = installed(script, GPU_UNIT, machine)
    machine.has(program, does)
    for _ in range(GPU_FAILURES - 1):
        assert machine.run("bash", "-c", watch).returncode == 0
    assert not machine.calls("set-instance-health")
    assert machine.run("bash", "-c", watch).returncode == 0
    (call,) = machine.calls("set-instance-health")
    assert "--instance-id i-123 --health-status Unhealthy" in call


@pytest.mark.parametrize(("script", "program", "does"), [(MANAGED, "sleep", ""), (PLAIN, "curl", NO_AGENT)])
def test_an_instance_that_is_well_is_not_given_up(machine: StubPrograms, script: str, program: str, does: str) -> None:
    machine.has(program, does)
    for _ in range(GPU_FAILURES + 1):
        assert machine.run("bash", "-c", installed(script, GPU_UNIT, machine)).returncode == 0
    assert not machine.calls("aws")


@SCRIPTS
@pytest.mark.parametrize(("minute", "told"), [("00", 1), ("01", 1), ("08", 0), ("59", 0)])
def test_once_an_hour_it_says_how_old_it_is(machine: StubPrograms, script: str, minute: str, told: int) -> None:
    machine.has("date", f"echo {minute}")
    machine.has("cut", "echo 3974400")
    assert machine.run("bash", "-c", installed(script, GPU_UNIT, machine)).returncode == 0
    calls = machine.calls("put-metric-data")
    assert len(calls) == told
    assert all("--metric-name InstanceDays --dimensions Service=the-Fleet --value 46" in each for each in calls)


def test_a_task_on_spot_is_ended_at_the_notice_and_not_before(machine: StubPrograms) -> None:
    watch = installed(MANAGED, SPOT_UNIT, machine)
    notice = failing_first(machine, 3)
    machine.has("curl", f'case "$*" in *spot/instance-action*) {notice} || exit 22 ;; *) echo token ;; esac')
    machine.has("docker", '[ "$1" != ps ] || echo c0ffee')
    assert machine.run("bash", "-c", watch).returncode == 0
    assert len(machine.calls("spot/instance-action")) == 4
    assert machine.calls("sleep") == ["sleep 5"] * 3
    assert machine.calls("docker stop") == ["docker stop --time the-StopSeconds c0ffee"]
    assert "com.amazonaws.ecs.container-name=gleaner" in machine.calls("docker ps")[0]


def test_only_instances_on_spot_watch_for_its_notice() -> None:
    assert SPOT_UNIT not in ecs_user_data()
    assert SPOT_UNIT not in PLAIN


@SCRIPTS
@pytest.mark.parametrize("ends", ["true", "false"])
def test_the_log_of_a_boot_is_sent_however_it_ends(machine: StubPrograms, script: str, ends: str) -> None:
    (machine.folder / "cloud-init-output.log").write_text('pulling "the image"\ncannot\n')
    head = script[: script.index("trap 'send_log || true' EXIT") + len("trap 'send_log || true' EXIT")]
    done = machine.run("bash", "-c", filled_in(head, machine) + f"\n{ends}\n")
    assert done.returncode == (ends == "false")
    (call,) = machine.calls("put-log-events")
    assert "--log-stream-name boot/i-123" in call
    (event,) = json.loads((machine.folder / "gleaner-boot.json").read_text())
    assert event["message"] == 'pulling "the image"\ncannot\n'
