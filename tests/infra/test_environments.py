"""Environments that contradict themselves are refused with what to change."""

from __future__ import annotations

from typing import Any

import pytest

from infra.environments import ENVIRONMENTS, BadEnvironment, Environment, Purchase, Variant, find_environment
from infra.scaling.policy_values import Delays, Schedule

CERTIFICATE = ENVIRONMENTS[0].certificate
SHORT = Delays(longest_request_seconds=80)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "Prod_1"}, "a name has"),
        ({"certificate": "arn:aws:iam::1:server-certificate/x"}, "ARN of ACM"),
        ({"models": ()}, "one model"),
        ({"instance_types": ()}, "one instance type"),
        ({"warm_pool": 99}, "warm pool is larger"),
        ({"spare_percent": 100}, "share"),
        ({"log_days": 42}, "log_days is one of"),
        ({"above_base": Purchase.SPOT, "delays": SHORT}, "set warm_pool=0"),
        ({"above_base": Purchase.SPOT, "warm_pool": 0}, "shorten longest_request_seconds"),
        ({"above_base": Purchase.SPOT, "warm_pool": 0, "delays": SHORT, "variant": Variant.ASG}, "Spot needs ECS"),
        ({"public": True, "allowed_networks": ("0.0.0.0/0",), "needs_api_keys": False}, "needs API keys"),
    ],
)
def test_contradictions_are_refused(changes: dict[str, Any], words: str) -> None:
    values: dict[str, Any] = {"name": "test", "certificate": CERTIFICATE, **changes}
    with pytest.raises(BadEnvironment, match=words):
        Environment(**values)


def test_spot_works_with_short_requests_and_no_warm_pool() -> None:
    spot = Environment(name="test", certificate=CERTIFICATE, above_base=Purchase.SPOT, warm_pool=0, delays=SHORT)
    assert spot.delays.stop_seconds <= 120


def test_an_unknown_environment_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(BadEnvironment, match="there are production, staging, plain"):
        find_environment("prod")


def test_the_region_is_the_certificates() -> None:
    assert ENVIRONMENTS[0].region == "eu-central-1"


@pytest.mark.parametrize(
    "cron", ["0 7 * * MON-FRI", "0 7 1 * MON *", "0 7 ? * ? *", "60 7 ? * MON *", "0 24 ? * MON *"]
)
def test_a_malformed_cron_is_refused(cron: str) -> None:
    with pytest.raises(ValueError, match="schedule night"):
        Schedule(name="night", cron=cron, timezone="UTC", minimum_tasks=2)


def test_a_schedule_never_leaves_a_single_task() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        Schedule(name="night", cron="0 22 ? * MON-FRI *", timezone="UTC", minimum_tasks=1)


def test_a_cron_in_five_fields_means_the_same() -> None:
    schedule = Schedule(name="day", cron="30 7 ? * MON-FRI *", timezone="UTC", minimum_tasks=2)
    assert schedule.unix_cron == "30 7 * * MON-FRI"
