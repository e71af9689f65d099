"""The policy file: what the search writes is what the stacks read, and nothing else is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra import environments
from infra.environments import ENVIRONMENTS, BadEnvironment, Environment, Purchase
from infra.scaling.policy_file import BadPolicyFile, ChosenPolicy, read_policy, write_policy
from infra.scaling.policy_values import Delays, Limits, Tuning
from infra.stacks.app import policy_of
from infra.stacks.container import container_environment

CHOSEN = ChosenPolicy(Tuning(work_ratio=0.75, quiet_seconds=600, gpu_veto=False), 12, 400)
TEXT = write_policy(CHOSEN, {"kept": 0.9991})
CERTIFICATE = ENVIRONMENTS[0].certificate


def test_what_is_written_is_what_is_read() -> None:
    assert read_policy(TEXT) == CHOSEN
    assert json.loads(TEXT)["found"] == {"kept": 0.9991}
    older = {name: value for name, value in json.loads(TEXT).items() if name != "gpu_target"}
    assert read_policy(json.dumps(older)) == CHOSEN


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": 2}, "format 1"),
        ({"work_ratio": None}, "`work_ratio` is None"),
        ({"work_ratio": 0.99}, "begins below the target"),
        ({"gpu_veto": 1}, "`gpu_veto` is 1"),
        ({"quiet_seconds": 10.5}, "`quiet_seconds` is 10.5"),
        ({"gpu_target": 100}, "below 100"),
        ({"gpu_target": 70.5}, "`gpu_target` is 70.5"),
        ({"warm_pool": -1}, "`warm_pool` is -1"),
        ({"warm_pool": True}, "`warm_pool` is True"),
        ({"max_queue_ms": "500"}, "`max_queue_ms` is '500'"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changes: dict[str, object], words: str) -> None:
    with pytest.raises(BadPolicyFile, match=words):
        read_policy(json.dumps({**json.loads(TEXT), **changes}))


@pytest.mark.parametrize("text", ["", "[]", "{}", "3"])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(BadPolicyFile):
        read_policy(text)


def test_an_environment_takes_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "policy.json").write_text(TEXT)
    monkeypatch.setattr(environments, "HERE", tmp_path)
    limits = Limits(minimum_tasks=2, maximum_tasks=20)
    named = Environment(
        name="test", certificate=CERTIFICATE, limits=limits, warm_pool=14, step_tasks=14, policy_file="policy.json"
    )
    tuned = named.tuned
    assert (tuned.tuning, tuned.warm_pool, tuned.step_tasks) == (CHOSEN.tuning, 12, 12)
    policy = policy_of(tuned)
    assert policy.targets.work_ratio == 0.75
    assert policy.scale_in.alarm.seconds_to_alarm == 600
    settings = container_environment(tuned, policy, proxies=(), bucket="b", region="r")
    assert settings["GLEANER_MAX_QUEUE_MS"] == "400"


def test_spot_has_no_pool_whatever_the_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "policy.json").write_text(TEXT)
    monkeypatch.setattr(environments, "HERE", tmp_path)
    short = Delays(longest_request_seconds=70, drain_grace_seconds=20)
    spot = Environment(
        name="test", certificate=CERTIFICATE, above_base=Purchase.SPOT, warm_pool=0, delays=short,
        policy_file="policy.json",
    )  # fmt: skip
    assert spot.tuned.warm_pool == 0


def test_without_a_file_nothing_changes_and_a_missing_one_is_named() -> None:
    assert ENVIRONMENTS[0].tuned is ENVIRONMENTS[0]
    with pytest.raises(BadEnvironment, match=r"nowhere\.json"):
        _ = Environment(name="test", certificate=CERTIFICATE, policy_file="nowhere.json").tuned
