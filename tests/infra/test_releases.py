"""How a release takes over: what can be watched is taken, what cannot is refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from infra.environments import ENVIRONMENTS, ON_DEMAND_QUOTA, BadEnvironment, Environment, Variant
from infra.releases import CANARY, LINEAR, ROLLING, BadRelease, Release, Strategy
from infra.scaling.policy_values import Forecast, Limits

CERTIFICATE = ENVIRONMENTS[0].certificate


def environment(**changes: Any) -> Environment:
    return Environment(**{"name": "test", "certificate": CERTIFICATE, **changes})


@pytest.mark.parametrize(
    ("release", "minutes"),
    [
        (ROLLING, 0),
        (CANARY, 10 + 10),
        (LINEAR, 3 * 10 + 10),
        (Release(strategy=Strategy.LINEAR, percent=30, step_minutes=5, bake_minutes=5), 3 * 5 + 5),
        (Release(strategy=Strategy.LINEAR, percent=12, step_minutes=5, bake_minutes=5), 8 * 5 + 5),
    ],
)
def test_a_release_takes_its_steps_and_the_bake_time(release: Release, minutes: int) -> None:
    """As CloudFormation counts them: no wait after the step that moves the last share."""
    assert release.minutes == minutes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"percent": 2.0}, "3 to 50 percent"),
        ({"percent": 60.0}, "3 to 50 percent"),
        ({"step_minutes": 4}, "need 5 minutes"),
        ({"bake_minutes": 0}, "need 5 minutes"),
        ({"step_minutes": 40}, "within 45 minutes, not 50"),
    ],
)
def test_what_no_alarm_could_watch_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BadRelease, match=words):
        Release(**{"strategy": Strategy.CANARY, **changes})


def test_a_rolling_release_has_no_figures_to_be_wrong() -> None:
    assert not Release(percent=0, step_minutes=0).gradual


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"variant": Variant.ASG}, "only ECS moves requests"),
        ({"adapters": ("oip",)}, "each adapter has a rule of its own"),
        ({"forecast": Forecast.LOOK}, "counts one target group's requests"),
    ],
)
@pytest.mark.parametrize("release", [CANARY, LINEAR])
def test_what_a_gradual_release_cannot_be_with_is_refused(
    release: Release, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadEnvironment, match=words):
        environment(release=release, **changes)
    assert not environment(**changes).release.gradual


def test_the_quota_is_asked_for_both_sets_of_tasks() -> None:
    limits = Limits(maximum_tasks=20)
    assert environment(limits=limits, warm_pool=2, release=CANARY).vcpus == {ON_DEMAND_QUOTA: (2 * 20 + 2) * 4}
