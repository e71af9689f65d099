"""Each edit of a deployed environment is taken by CloudFormation, or refused before anything is deployed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pytest

from infra.bulk_jobs import BulkJobs
from infra.edits import Template, base_first, refusals
from infra.environments import Environment, Purchase, Variant, find_environment
from infra.scaling.limits import Delays, Forecast, Limits
from infra.scaling.policy_values import Tuning
from infra.stacks.app import build
from tests.support.cloudformation import Refusal, Stacks
from tests.support.source_tree import ROOT

CERTIFICATE = find_environment("production").certificate
SHORT = Delays(longest_request_seconds=70, drain_grace_seconds=20)
PLAIN = Environment(
    name="x", certificate=CERTIFICATE, adapters=("sagemaker", "presidio"), delays=SHORT, warm_pool=0, max_queue_ms=1000
)
BULK = BulkJobs(inputs="s3://some-in/", outputs="s3://some-out/")
KEY = "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000"
EDITS: Mapping[str, Mapping[str, Any]] = {
    "bulk jobs": {"bulk": BULK},
    "more of bulk jobs": {"bulk": replace(BULK, events="s3://some-out/new/", queue_key=KEY, tasks=4)},
    "no keys": {"needs_api_keys": False},
    "public": {"public": True},
    "three zones": {"zone_count": 3},
    "other zones": {"zones": ("eu-central-1d", "eu-central-1b")},
    "network": {"network": "10.99.0.0/16"},
    "without ecs": {"variant": Variant.ASG},
    "spot": {"above_base": Purchase.SPOT},
    "no certificate": {"certificate": None},
    "adapters": {"adapters": ("huggingface", "presidio")},
    "from no task on": {"limits": Limits(minimum_tasks=0, maximum_tasks=3), "bulk": BULK},
    "all else": {
        "instance_types": ("g5.2xlarge",),
        "limits": Limits(minimum_tasks=3, maximum_tasks=9),
        "delays": Delays(),
        "tuning": Tuning(gpu_target=70),
        "warm_pool": 3,
        "step_tasks": 3,
        "spare_percent": 20,
        "capacity_file": str(ROOT / "tests" / "support" / "capacity.json"),
        "max_queue_ms": None,
        "allowed_networks": ("10.1.0.0/16", "10.2.0.0/16"),
        "scrape_networks": ("10.3.0.0/16",),
        "models": ("documents", "documents@candidate"),
        "canary_percent": 5.0,
        "schedules": find_environment("production").schedules,
        "forecast": Forecast.LOOK,
        "volume_gib": 200,
        "log_days": 90,
        "alarm_email": "ops@example.com",
        "monthly_dollars": 9,
    },
}
ELSEWHERE = {"name", "home"}
"""Options that make another environment, or one in another region."""


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Template, Template]]:
    """Base and fleet after each edit of the plain environment."""
    made = {}
    for name, changes in {"plain": {}, **EDITS}.items():
        out = tmp_path_factory.mktemp("edit")
        environment = replace(PLAIN, **changes)
        zones = sorted((f"eu-central-1{letter}" for letter in "abcd"), key=lambda each: each not in environment.zones)
        build(out, (environment,), nag=False, zones=zones).synth()
        base, fleet = (json.loads((out / f"gleaner-x-{each}.template.json").read_text()) for each in ("base", "fleet"))
        made[name] = base, fleet
    return made


def deploy(stacks: Stacks, base: Template, fleet: Template) -> None:
    """As `deploy.sh` does it."""
    stacks.deploy("base", base_first(stacks.deployed.get("base", {}), base))
    stacks.deploy("fleet", fleet)
    stacks.deploy("base", base)


@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_taken_or_refused_before(
    templates: dict[str, tuple[Template, Template]], edit: str, back: bool
) -> None:
    before, after = ("plain", edit)[:: -1 if back else 1]
    stacks = Stacks()
    deploy(stacks, *templates[before])
    environment = replace(PLAIN, **EDITS.get(after, {}))
    if found := refusals(environment, stacks.deployed["base"]):
        assert len(found) == 1
        assert edit in ("network", "public", "without ecs")
        with pytest.raises(Refusal):
            deploy(stacks, *templates[after])
    else:
        deploy(stacks, *templates[after])


@pytest.mark.parametrize("edits", [("bulk jobs", "plain"), ("all else", "spot"), ("from no task on", "adapters")])
def test_an_edit_may_follow_one_that_was_not_finished(
    templates: dict[str, tuple[Template, Template]], edits: tuple[str, str]
) -> None:
    """Whether its fleet was rolled back, or the base was not deployed again."""
    for done in (("base",), ("base", "fleet")):
        stacks = Stacks()
        deploy(stacks, *templates["more of bulk jobs"])
        for edit in edits:
            base, fleet = templates[edit]
            stacks.deploy("base", base_first(stacks.deployed["base"], base))
            if "fleet" in done:
                stacks.deploy("fleet", fleet)
        deploy(stacks, *templates["three zones"])


def test_an_older_versions_base_is_refused_and_none_is_not(templates: dict[str, tuple[Template, Template]]) -> None:
    """It says nothing of itself, and its subnets have addresses of this one's."""
    base = templates["plain"][0]
    (found,) = refusals(PLAIN, {name: part for name, part in base.items() if name != "Metadata"})
    assert "gleaner-x was deployed by an older version of Gleaner" in found
    assert refusals(PLAIN, base) == refusals(PLAIN, {}) == []


def test_each_option_is_edited() -> None:
    edited = {name for changes in EDITS.values() for name in changes}
    assert edited == {each.name for each in fields(Environment)} - ELSEWHERE


def test_the_base_that_is_deployed_first_keeps_what_is_in_use(templates: dict[str, tuple[Template, Template]]) -> None:
    """And without it the update is refused."""
    stacks = Stacks()
    deploy(stacks, *templates["bulk jobs"])
    with pytest.raises(Refusal, match=r"export gleaner-x-base:\w+Bulk\w+ is in use"):
        stacks.deploy("base", templates["plain"][0])
    first = base_first(templates["bulk jobs"][0], templates["plain"][0])
    assert "BulkQueue" in first["Outputs"]
    for deployed in (first, templates["bulk jobs"][0], {}):
        assert base_first(deployed, templates["bulk jobs"][0]) == templates["bulk jobs"][0], "nothing to keep"
