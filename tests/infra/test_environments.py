"""Environments that contradict themselves are refused with what to change."""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from infra.bulk_jobs import BulkJobs
from infra.environments import (
    ENVIRONMENTS,
    ON_DEMAND_QUOTA,
    SPOT_QUOTA,
    BadEnvironment,
    Environment,
    Purchase,
    Variant,
    find_environment,
)
from infra.fleet_scaling import policy_of
from infra.scaling.limits import Delays, Limits, Schedule
from infra.scaling.policy_values import Tuning
from infra.stacks.app import build
from service.api.adapters.registry import open_adapters
from service.signals.routes import ALWAYS_PUBLIC, PUBLIC_ADAPTERS
from tests.support.fleets import MOST_RULE_VALUES

CERTIFICATE = ENVIRONMENTS[0].certificate
KEY = "arn:aws:kms:eu-west-1:111122223333:key/00000000-0000-0000-0000-000000000000"
BULK = BulkJobs(inputs="s3://contracts/in/", outputs="s3://contracts/out/")
SHORT = Delays(longest_request_seconds=70, drain_grace_seconds=20)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "Prod_1"}, "a name has"),
        ({"certificate": "arn:aws:iam::1:server-certificate/x"}, "ARN of ACM"),
        ({"models": ()}, "one model"),
        ({"instance_types": ()}, "one at least"),
        ({"instance_types": ("g6.xlarge", "g5.12xlarge")}, "each with one GPU"),
        ({"instance_types": ("g6f.xlarge",)}, "each with one GPU"),
        ({"instance_types": ("m7i.xlarge",)}, "each with one GPU"),
        ({"certificate": None, "public": True}, "needs a certificate"),
        ({"warm_pool": 99}, "warm pool is larger"),
        ({"warm_pool": 2, "step_tasks": 8}, "2 of the 8 instances of a usual step"),
        ({"step_tasks": 0}, "one task at least"),
        ({"zones": ("eu-central-1a",)}, "two zones or three"),
        ({"zones": ("eu-central-1a", "eu-central-1a")}, "two zones or three"),
        ({"zone_count": 4}, "two zones or three"),
        ({"network": "10.42.0.0/21"}, "16 to 20 bits"),
        ({"network": "10.42.1.0/16"}, "zeros after it"),
        ({"network": "10.42.0/16"}, "network 10.42.0/16: 16"),
        ({"spare_percent": 100}, "share"),
        ({"canary_percent": 101.0}, "share of the requests"),
        ({"canary_percent": 5.0}, "add `NAME@candidate`"),
        ({"adapters": ("mcp",)}, "no other is in the image"),
        ({"adapters": ("oip", "oip")}, "each once"),
        ({"log_days": 42}, "log_days is one of"),
        ({"above_base": Purchase.SPOT, "delays": SHORT}, "set warm_pool=0"),
        ({"above_base": Purchase.SPOT, "warm_pool": 0}, "shorten longest_request_seconds"),
        (
            {"above_base": Purchase.SPOT, "warm_pool": 0, "delays": replace(SHORT, longest_request_seconds=71)},
            "shorten longest_request_seconds",
        ),
        (
            {"above_base": Purchase.SPOT, "warm_pool": 0, "delays": replace(SHORT, drain_grace_seconds=15)},
            "raise drain_grace_seconds",
        ),
        ({"above_base": Purchase.SPOT, "warm_pool": 0, "delays": SHORT, "variant": Variant.ASG}, "Spot needs ECS"),
        ({"public": True, "allowed_networks": ("0.0.0.0/0",), "needs_api_keys": False}, "needs API keys"),
        ({"bulk": BULK, "tuning": Tuning(gpu_target=60)}, "gpu_target=0"),
        ({"bulk": replace(BULK, queue_key=KEY)}, "queue_key is not in eu-central-1"),
        (
            {"delays": Delays(stop_slack_seconds=0, drain_grace_seconds=0)},
            "killed 300 s after SIGTERM, a request may take 300 s",
        ),
        ({"delays": Delays(ready_seconds=451)}, "never gets ready is tried for 902 s"),
        ({"scrape_networks": ("0.0.0.0/0",)}, "shown to everybody"),
        ({"limits": Limits(minimum_tasks=0)}, "only bulk jobs ask for a first task"),
    ],
)
def test_contradictions_are_refused(changes: dict[str, Any], words: str) -> None:
    values: dict[str, Any] = {"name": "test", "certificate": CERTIFICATE, **changes}
    with pytest.raises(BadEnvironment, match=words):
        Environment(**values)


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        ({"warm_pool": 2}, 135),
        ({"warm_pool": 0}, 335),
        ({"warm_pool": 8, "step_tasks": 8}, 135),
        ({"warm_pool": 0, "variant": Variant.ASG}, 260),
    ],
)
def test_a_start_takes_what_pool_and_capacity_provider_take(changes: dict[str, Any], seconds: float) -> None:
    environment = Environment(**{"name": "test", "certificate": CERTIFICATE, **changes})
    assert environment.timed_delays.start_seconds == seconds
    assert policy_of(environment).scale_out[0].cooldown_seconds == seconds + 30


@pytest.mark.parametrize(
    ("changes", "vcpus"),
    [
        ({"limits": Limits(maximum_tasks=20), "warm_pool": 2}, {ON_DEMAND_QUOTA: 128}),
        (
            {"limits": Limits(maximum_tasks=6), "warm_pool": 0, "above_base": Purchase.SPOT, "delays": SHORT},
            {ON_DEMAND_QUOTA: 12, SPOT_QUOTA: 36},
        ),
        (
            {"limits": Limits(maximum_tasks=20), "warm_pool": 2, "instance_types": ("g6.2xlarge",)},
            {ON_DEMAND_QUOTA: 256},
        ),
        ({"limits": Limits(maximum_tasks=20), "warm_pool": 2, "spare_percent": 20}, {ON_DEMAND_QUOTA: 160}),
        (
            {"limits": Limits(maximum_tasks=3), "warm_pool": 0, "instance_types": ("g6.xlarge", "g5.8xlarge")},
            {ON_DEMAND_QUOTA: 160},
        ),
    ],
)
def test_quotas_count_a_deployment_the_pool_and_spot_apart(changes: dict[str, Any], vcpus: dict[str, int]) -> None:
    assert Environment(**{"name": "test", "certificate": CERTIFICATE, **changes}).vcpus == vcpus


@pytest.mark.parametrize(
    ("types", "memory_mib"),
    [
        (("g6.xlarge", "g5.2xlarge"), 13 * 1024),
        (("g6.2xlarge",), 29 * 1024),
        (("gr6.4xlarge", "g6e.xlarge"), 29 * 1024),
        (("g6.16xlarge",), 240 * 1024),
    ],
)
def test_a_task_has_the_memory_of_its_smallest_instance(types: tuple[str, ...], memory_mib: int) -> None:
    environment = Environment(name="test", certificate=CERTIFICATE, instance_types=types)
    assert environment.task_memory_mib == memory_mib


def test_without_ecs_too_many_models_for_a_boot_script_are_refused(tmp_path: Path) -> None:
    models = tuple(f"a-model-with-a-long-name-{i}@stable" for i in range(300))
    with pytest.raises(BadEnvironment, match="bytes of user data, of 12288"):
        build(tmp_path, (replace(find_environment("plain"), models=models),))


def test_trying_it_out_takes_twenty_vcpus_and_no_certificate() -> None:
    environment = find_environment("tryout")
    assert environment.vcpus == {ON_DEMAND_QUOTA: 20}
    assert (environment.limits.minimum_tasks, environment.warm_pool) == (2, 0)
    assert environment.certificate is None
    assert not environment.is_placeholder


def test_an_unknown_environment_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(BadEnvironment, match="there are production, staging, plain"):
        find_environment("prod")


@pytest.mark.parametrize(
    "cron", ["0 7 * * MON-FRI", "0 7 1 * MON *", "0 7 ? * ? *", "60 7 ? * MON *", "0 24 ? * MON *"]
)
def test_a_malformed_cron_is_refused(cron: str) -> None:
    with pytest.raises(ValueError, match="schedule night"):
        Schedule(name="night", cron=cron, timezone="UTC", minimum_tasks=2)


@pytest.mark.parametrize(
    ("values", "words"), [({"work_ratio": 0.99}, "begins below the target"), ({"gpu_target": 100}, "below 100")]
)
def test_a_tuning_that_contradicts_itself_is_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Tuning(**values)


def test_a_schedule_never_leaves_a_single_task() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        Schedule(name="night", cron="0 22 ? * MON-FRI *", timezone="UTC", minimum_tasks=1)


@pytest.mark.parametrize("name", ["Europe/Berln", "Europe", "", "../UTC"])
def test_a_time_zone_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="there is no time zone"):
        Schedule(name="night", cron="0 22 ? * MON-FRI *", timezone=name, minimum_tasks=2)


def test_a_cron_in_five_fields_means_the_same() -> None:
    schedule = Schedule(name="day", cron="30 7 ? * MON-FRI *", timezone="UTC", minimum_tasks=2)
    assert schedule.unix_cron == "30 7 * * MON-FRI"


@pytest.mark.parametrize("name", PUBLIC_ADAPTERS)
def test_each_route_for_work_of_an_adapter_is_handed_on(name: str) -> None:
    paths, posts_only = PUBLIC_ADAPTERS[name]
    found = open_adapters([name]).operations()
    working = [(path, route.method) for path, routes in found.items() for route in routes if route.works]
    assert working
    for path, method in working:
        asked = re.sub(r"\{\w+\}", "any", path)
        assert any(fnmatchcase(asked, each) for each in paths), path
        assert method == "POST" or not posts_only


@pytest.mark.parametrize("name", PUBLIC_ADAPTERS)
def test_nothing_is_handed_on_that_no_route_of_the_adapter_answers(name: str) -> None:
    known = [re.sub(r"\{\w+\}", "any", path) for path in open_adapters([name]).operations()]
    for pattern in PUBLIC_ADAPTERS[name].paths:
        assert any(fnmatchcase(path, pattern) for path in known), pattern


def test_a_rule_has_no_more_values_than_the_balancer_takes() -> None:
    assert len(ALWAYS_PUBLIC) <= MOST_RULE_VALUES
    assert all(len(each.paths) + each.posts_only <= MOST_RULE_VALUES for each in PUBLIC_ADAPTERS.values())
