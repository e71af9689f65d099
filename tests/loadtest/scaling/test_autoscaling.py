"""A short test of autoscaling: real services, the policy with shorter periods, a five-fold step up and down."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from infra.scaling.capacity import Capacity
from infra.scaling.policy import Policy, policy_for
from infra.scaling.policy_values import Delays, Limits, StepScaling
from loadtest.scaling.__main__ import TOKENS_PER_DOCUMENT, AutoscalingPlan, run_autoscaling_test
from loadtest.scaling.timeline import Timeline, plot
from loadtest.scenario.scenario import Phase

PERIOD_SECONDS = 2
DOCUMENTS_PER_SECOND = 2.0


def hurried(policy: Policy) -> Policy:
    """A policy with its alarms on shorter periods, and fewer of them before scaling in."""

    def sooner(scaling: StepScaling, periods: int) -> StepScaling:
        alarm = replace(scaling.alarm, period_seconds=PERIOD_SECONDS, periods=periods)
        return replace(scaling, alarm=alarm, cooldown_seconds=10)

    scale_out = tuple(sooner(scaling, scaling.alarm.periods) for scaling in policy.scale_out)
    return replace(policy, scale_out=scale_out, scale_in=sooner(policy.scale_in, 3))


@pytest.mark.timeout(600)
def test_a_five_fold_step_is_followed_without_losing_a_request() -> None:
    capacity = Capacity(documents_per_second=DOCUMENTS_PER_SECOND, tokens_per_second=196.0, slo_ms=2000.0)
    plan = AutoscalingPlan(
        policy=hurried(
            policy_for(
                capacity,
                limits=Limits(minimum_tasks=2, maximum_tasks=3),
                delays=Delays(ingest_seconds=1.0, start_seconds=10.0),
            )
        ),
        phases=(
            Phase("before", seconds=5, rate=1.2),
            Phase("5 times", seconds=20, rate=6.0),
            Phase("after", seconds=70, rate=1.2),
        ),
        period_seconds=PERIOD_SECONDS,
        tokens_per_second=DOCUMENTS_PER_SECOND * TOKENS_PER_DOCUMENT,
        drain_grace_seconds=1.0,
    )
    timeline = Timeline(quiet=True)
    assessment = asyncio.run(run_autoscaling_test(plan, timeline))
    events = [event.text for event in timeline.events]
    assert assessment.decision_seconds is not None, events
    assert 0 < assessment.decision_seconds <= 40, events
    assert (assessment.lost, assessment.refused, assessment.requests) == (0, 0, 210), events
    assert assessment.scaled_in_by >= 1, events
    assert set(assessment.exit_codes) == {0}, events
    assert max(row.slowest_seconds for row in timeline.rows) > 0
    assert sum(row.answered for row in timeline.rows) <= assessment.requests
    drawn = ElementTree.fromstring(plot(timeline.rows, timeline.events, plan.phases, DOCUMENTS_PER_SECOND, 0.7))
    assert [each.attrib["id"] for each in drawn] == ["tasks", "work", "queue", "slowest"]
