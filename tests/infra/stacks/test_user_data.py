"""What an instance does by itself: it pulls the image, says that it is ready, gives a dead GPU up, sends its log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from infra.stacks.user_data import (
    AGENT_FAILURES,
    ANSWER_SECONDS,
    BOOT_LOG,
    DRAIN_HOOK,
    DRAIN_MINUTES,
    GPU_FAILURES,
    GPU_UNIT,
    IMAGE_UNIT,
    READY_UNIT,
    SPOT_UNIT,
    asg_user_data,
    ecs_user_data,
)
from tests.support.source_tree import ROOT
from tests.support.stub_programs import StubPrograms

MANAGED, PLAIN = ecs_user_data(spot=True), asg_user_data({"GLEANER_PORT": "8080"}, 330, True)
SCRIPTS = pytest.mark.parametrize("script", [MANAGED, PLAIN], ids=["ecs", "asg"])


@pytest.fixture
def machine(tmp_path: Path) -> StubPrograms:
    made = StubPrograms(tmp_path)
    for name in ("sleep", "aws", "docker", "nvidia-smi", "systemctl", BOOT_LOG):
        made.has(name)
    made.has("curl", "echo i-123")
    made.has("date", "echo 30")
    return made


def filled_in(text: str, machine: StubPrograms) -> str:
    text = re.sub(r"\$\{(AWS::)?(\w+)\}", r"the-\2", text)
    for folder in ("/run/", "/var/log/", "/usr/local/bin/"):
        text = text.replace(folder, f"{machine.folder}/")
    return text


def installed(script: str, unit: str, machine: StubPrograms) -> str:
    """The script that the user data writes to /usr/local/bin."""
    found = re.search(rf"cat > /usr/local/bin/{unit} <<'SCRIPT'\n(.*?)\nSCRIPT\n", script, re.DOTALL)
    assert found
    return filled_in(found[1], machine)


def ordering(script: str, unit: str) -> set[tuple[str, str]]:
    """Pairs of a kind of order or need and a unit, of a unit that the user data writes."""
    found = re.search(rf"cat > /etc/systemd/system/{unit}.service <<'UNIT'\n(.*?)\nUNIT\n", script, re.DOTALL)
    assert found
    pairs = [line.split("=", 1) for line in found[1].splitlines() if re.match("(After|Before|Requires)=", line)]
    return {(kind, each.removesuffix(".service")) for kind, names in pairs for each in names.split()}


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


@SCRIPTS
def test_the_boot_script_waits_for_no_unit(script: str) -> None:
    """It is a part of cloud-init, for which Docker and ECS's agent may wait: both would wait for ever."""
    own = re.sub(r"<<'(\w+)'\n.*?\n\1\n", "\n", script, flags=re.DOTALL)
    started = [line for line in own.splitlines() if re.search(r"systemctl.*\b(start|restart)\b|enable.*--now", line)]
    assert len(started) == 1
    assert started[0].startswith("systemctl start --no-block ")
    assert "docker" not in own


@SCRIPTS
def test_the_image_is_there_before_agent_container_and_hook(script: str) -> None:
    assert {("After", "docker"), ("Requires", "docker"), ("Before", "ecs")} <= ordering(script, IMAGE_UNIT)
    waiting = [READY_UNIT] if script is MANAGED else [READY_UNIT, "gleaner"]
    for unit in waiting:
        assert {("After", IMAGE_UNIT), ("Requires", IMAGE_UNIT)} <= ordering(script, unit)
    assert {("After", IMAGE_UNIT), ("After", "ecs")} <= ordering(script, GPU_UNIT), (
        "nobody is given up while it is pulled"
    )
    assert f"{IMAGE_UNIT}.service" in script.splitlines()[-1]


@SCRIPTS
@pytest.mark.parametrize(("failing", "pulls", "code"), [(0, 1, 0), (2, 3, 0), (9, 5, 1)])
def test_the_image_is_pulled_in_five_tries(
    machine: StubPrograms, script: str, failing: int, pulls: int, code: int
) -> None:
    """Failing to pull fails the unit, and with it the hook; its log is sent in any case."""
    there = machine.folder / "there"
    pulled = f"{failing_first(machine, failing)} && touch {there}"
    machine.has("docker", f'case "$1" in pull) {pulled} ;; image) [ -e {there} ] ;; login) cat > /dev/null ;; esac')
    pull = installed(script, IMAGE_UNIT, machine)
    assert (machine.run("bash", "-c", pull).returncode != 0) is bool(code)
    assert len(machine.calls("docker pull --quiet the-Image")) == pulls
    assert len(machine.calls(BOOT_LOG)) == 1
    if not code:
        assert machine.run("bash", "-c", pull).returncode == 0
        assert len(machine.calls("docker pull")) == pulls, "it is there at the next boot"


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


@SCRIPTS
@pytest.mark.parametrize("program", ["nvidia-smi", "docker"])
def test_what_hangs_and_cannot_be_ended_is_given_up(machine: StubPrograms, script: str, program: str) -> None:
    machine.has(program, "trap '' TERM; exec /bin/sleep 1")
    watch = installed(script, GPU_UNIT, machine).replace(f"read -t {ANSWER_SECONDS}", "read -t 0.2")
    watch = f"exec 2> /dev/null\n{watch}"  # Else what hangs has the pipe of its errors, whose end is waited for.
    for _ in range(GPU_FAILURES):
        assert machine.run("bash", "-c", watch).returncode == 0
    assert len(machine.calls("set-instance-health")) == 1


def test_a_silent_agent_is_restarted_before_its_instance_goes(machine: StubPrograms) -> None:
    watch = installed(MANAGED, GPU_UNIT, machine)
    machine.has("curl", NO_AGENT)
    for minute in range(1, GPU_FAILURES + DRAIN_MINUTES + 1):
        assert machine.run("bash", "-c", watch).returncode == 0
        assert len(machine.calls("systemctl restart --no-block ecs.service")) == (minute >= AGENT_FAILURES)
    machine.has("curl", "echo i-123")
    assert machine.run("bash", "-c", watch).returncode == 0
    machine.has("curl", NO_AGENT)
    machine.has("systemctl", "exit 1")
    for _ in range(GPU_FAILURES):
        assert machine.run("bash", "-c", watch).returncode == 0
    assert len(machine.calls("systemctl restart")) == 2, "it had answered in between"


@pytest.mark.parametrize(("program", "does"), [("nvidia-smi", "exit 15"), ("docker", "exit 1")])
def test_without_gpu_or_docker_the_agent_is_left_alone(machine: StubPrograms, program: str, does: str) -> None:
    machine.has(program, does)
    for _ in range(GPU_FAILURES):
        assert machine.run("bash", "-c", installed(MANAGED, GPU_UNIT, machine)).returncode == 0
    assert not machine.calls("systemctl")


@SCRIPTS
@pytest.mark.parametrize("refused", ["complete-lifecycle-action", "set-instance-health", "nothing"])
def test_the_hook_of_a_dead_agent_is_completed_after_ten_minutes(
    machine: StubPrograms, script: str, refused: str
) -> None:
    """A dead agent stops no task, so ECS would keep the instance for two days."""
    watch = installed(script, GPU_UNIT, machine)
    machine.has("docker", "exit 1")
    machine.has("aws", f'case "$*" in *{refused}*) exit 254 ;; esac')
    for _ in range(GPU_FAILURES + DRAIN_MINUTES - 1):
        machine.run("bash", "-c", watch)
    assert not machine.calls("complete-lifecycle-action")
    for _ in range(2):
        machine.run("bash", "-c", watch)
    calls = machine.calls("complete-lifecycle-action")
    assert len(calls) == (2 if script is MANAGED else 0), "each minute until it is gone"
    assert all(f"--lifecycle-hook-name {DRAIN_HOOK} --instance-id i-123" in each for each in calls)
    assert len(machine.calls("set-instance-health")) == DRAIN_MINUTES + 2


def test_destroying_completes_the_same_hook() -> None:
    assert f"--lifecycle-hook-name {DRAIN_HOOK} " in (ROOT / "infra" / "commands.sh").read_text()


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
    head = script[: script.index(chmod := f"chmod 0755 /usr/local/bin/{BOOT_LOG}\n") + len(chmod)]
    done = machine.run("bash", "-c", filled_in(head, machine) + f"\n{ends}\n")
    assert done.returncode == (ends == "false")
    (call,) = machine.calls("put-log-events")
    assert "--log-stream-name boot/i-123" in call
    (event,) = json.loads((machine.folder / "gleaner-boot.json").read_text())
    assert event["message"] == 'pulling "the image"\ncannot\n'
