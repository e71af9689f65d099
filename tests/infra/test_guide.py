"""Guide and runbook against the code: alarms, commands, costs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from infra.fleet_scaling import policy_of
from infra.scaling.capacity import ASSUMED, Capacity
from infra.scaling.costs import HOURLY_DOLLARS, bulk_table, fleet_hour, per_million, task_hour
from infra.scaling.costs import table as cost_table
from infra.scaling.oncall_alarms import alarms_for, instances_missing, tasks_missing
from infra.scaling.policy import policy_for
from infra.stacks.balancer import ERRORS, TOO_FEW
from infra.stacks.bulk import DEAD_LETTERS, LATE
from infra.stacks.scaling import FIRST_TASK
from service.cli import main as gleaner
from tests.support.fleets import OPTIONS

INFRA = Path(__file__).parents[2] / "infra"
GUIDE = (INFRA / "README.md").read_text()
RUNBOOK = (INFRA / "RUNBOOK.md").read_text()


def test_the_runbook_has_every_alarm_of_cloudwatch() -> None:
    policy = policy_of(OPTIONS)
    steps = (*policy.steps, *policy_for(bulk_tasks=1).steps)
    names = {each.name for each in alarms_for(policy)} | {each.alarm.name for each in steps}
    others = (tasks_missing("", "").name, instances_missing("").name, TOO_FEW, ERRORS, DEAD_LETTERS, LATE, FIRST_TASK)
    for name in (*names, *others):
        assert f"`{name}`" in RUNBOOK or f"\n### {name}\n" in RUNBOOK, name


def test_the_runbook_has_a_section_for_every_alert_of_prometheus() -> None:
    groups = yaml.safe_load((INFRA / "prometheus" / "alerts.yml").read_text())["groups"]
    for rule in [rule for group in groups for rule in group["rules"]]:
        assert f"\n### {rule['alert']}\n{rule['labels']['severity']}. " in RUNBOOK, rule["alert"]


def test_the_guides_table_of_costs_is_that_of_the_code() -> None:
    assert "\n".join(cost_table(HOURLY_DOLLARS, ASSUMED, 2, 2)) in GUIDE
    assert "\n".join(bulk_table(HOURLY_DOLLARS, ASSUMED)) in GUIDE


def test_every_make_target_that_it_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (INFRA.parent / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+(?:-[a-z]+)*)\b", GUIDE + RUNBOOK)) <= targets


@pytest.mark.parametrize(
    "line", re.findall(r"^\s*(gleaner (?:models|bulk) .+?)(?: +#.*)?$", GUIDE + RUNBOOK, re.MULTILINE)
)
def test_its_commands_are_ones_that_the_command_line_knows(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Parsed, not run: `--help` ends them after their options were understood."""
    with pytest.raises(SystemExit) as ended:
        gleaner([*shlex.split(line)[1:], "--help"])
    assert ended.value.code == 0
    options = set(re.findall(r"--[a-z]+", line))
    assert options <= set(re.findall(r"--[a-z]+", capsys.readouterr().out))


def test_a_million_files_cost_a_full_task_and_their_requests() -> None:
    *_, row, _, said = bulk_table(
        {"g6.xlarge": 0.8}, Capacity(documents_per_second=200.0, tokens_per_second=8e4, slo_ms=5e2)
    )
    rest = (8 + 15 + 2.59 + 2.10) / 730
    on_demand, on_spot = ((price + rest) * 1e6 / 3600 / 200 for price in (0.8, 0.32))
    assert row == f"| g6.xlarge | {on_demand:.2f} | {on_spot:.2f} |"
    requests = 1e6 * 0.4e-6 + 20_000 * (5e-6 + 3 * 0.4e-6)
    assert f"${requests:.2f} per million files" in said
    assert f"${0.2615 + 0.04:.2f} an hour" in said


def test_a_million_documents_cost_what_the_formula_says() -> None:
    assert per_million(0.8, 50.0, 0.7) == pytest.approx(0.8 * 1_000_000 / (3600 * 50 * 0.7))
    hour = 0.8 + (8 + 15 + 2.59 + 2.10) / 730
    assert task_hour(0.8) == pytest.approx(hour)
    assert fleet_hour(0.8, 2, 2) == pytest.approx(2 * hour + 2 * 23 / 730 + 0.2615)
    row = cost_table(
        {"g6.xlarge": 0.8}, Capacity(documents_per_second=200.0, tokens_per_second=8e4, slo_ms=500.0), 2, 2
    )[2]
    assert row == f"| g6.xlarge | 0.800 | {hour:.3f} | 2.00 | {per_million(hour, 200.0, 0.7):.2f} |"
