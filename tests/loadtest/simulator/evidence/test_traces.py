"""Recorded demands, the reviewed policy and the goals, on small traces; `evidence.traces FOLDER` is the whole."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from loadtest.errors import BadInput
from loadtest.simulator.demand import Demand
from loadtest.simulator.evidence import review
from loadtest.simulator.evidence.goals import CHAINS, FLAT_CHAIN, Goal, deployed, step_goals
from loadtest.simulator.evidence.recorded import BALANCER, DIURNAL, RATE, TRACES, demand_of
from loadtest.simulator.evidence.review import FLAT, LARGE, REVIEWED, SHED, SMALL, Reviewed, as_reviewed, chain
from loadtest.simulator.evidence.traces import main
from loadtest.simulator.step_response import StepResponse

HIGH = Demand("high", np.where(np.arange(3000) < 900, 100.0, 500.0), np.ones(3000))


def trace_in(folder: Path, name: str, minutes: int) -> None:
    (folder / name).write_text("t_s,count\n" + "".join(f"{60 * i},{600 + 60 * (i % 3)}\n" for i in range(minutes)))


def test_a_trace_is_as_large_as_the_service_and_no_longer_than_said(tmp_path: Path) -> None:
    trace_in(tmp_path, DIURNAL.file, 30)
    trace_in(tmp_path, BALANCER.file, 8 * 24 * 60)
    demand = demand_of(tmp_path, DIURNAL, 1)
    assert (demand.name, demand.seconds) == ("diurnal", 1800)
    assert demand.counts.mean() == pytest.approx(RATE, rel=0.01)
    assert demand_of(tmp_path, BALANCER, 1).seconds == 7 * 86_400


def test_a_folder_without_the_file_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match="diurnal_14d"):
        demand_of(tmp_path, DIURNAL, 1)
    assert main([str(tmp_path), "--part", "review", "--only", "chat"]) == 2
    assert "has no azure_llm_conv_2023_1s.csv" in capsys.readouterr().err


def test_the_reviewed_policy_has_the_steps_of_then() -> None:
    by_work = as_reviewed().scale_out[0]
    assert [(by_work.change(value, 100)) for value in (0.9, 1.1, 2.2, 3.9, 9.0)] == [43, 79, 258, 472, 600]


@pytest.mark.parametrize("column", [FLAT, SMALL, LARGE, SHED])
def test_a_column_is_a_way_to_start_instances(column: str) -> None:
    fleet = chain(column)
    assert fleet.managed == (column in (SMALL, LARGE))
    assert fleet.max_queue_seconds == (2.0 if column == SHED else math.inf)
    assert fleet.warm_pool == {SMALL: 2, LARGE: 400}.get(column, 0)


def test_the_review_names_every_trace_and_what_differs() -> None:
    assert set(REVIEWED) == set(TRACES)
    close, far = Reviewed("t", FLAT, 99.0, 1.5, 98.75, 1.54), Reviewed("t", FLAT, 99.0, 1.5, 98.6, 1.5)
    assert (close.agrees, far.agrees) == (True, False)
    assert review.line(far).endswith("differs")


def test_refusing_keeps_more_and_ecs_is_later_than_a_flat_start() -> None:
    flat, shed, ecs = (review.simulate(column, HIGH, 1) for column in (FLAT, SHED, SMALL))
    assert ecs.kept < flat.kept < shed.kept
    assert ecs.over_oracle > 1.0


def test_a_goal_has_two_bounds() -> None:
    assert Goal("kept", 0.9991, (0.999, 1.0)).is_met
    assert not Goal("kept", 0.998, (0.999, 1.0)).is_met
    worst = [StepResponse(20.0, 100.0), StepResponse(26.0, None)]
    decided, recovered = step_goals(CHAINS[1], 4, worst)
    assert (decided.found, decided.is_met) == (26.0, False)
    assert (recovered.found, recovered.is_met) == (math.inf, False)


def test_a_flat_chain_has_no_capacity_provider() -> None:
    flat, ecs = deployed(FLAT_CHAIN), deployed(CHAINS[2])
    assert (flat.managed, ecs.managed) == (False, True)
    assert flat.policy.delays.scale_out_cooldown_seconds == 60
    assert ecs.policy.delays.start_seconds == 135.0
    assert ecs.warm_pool == 60
