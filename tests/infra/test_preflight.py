"""What an account lacks is said with what to do; what it has is not."""

from __future__ import annotations

import pytest

from infra.environments import ENVIRONMENTS, Environment, find_environment
from infra.preflight import AccountFacts, problems

ZONES = {"eu-central-1a": frozenset({"g6.xlarge"}), "eu-central-1b": frozenset({"g4dn.xlarge"})}


def facts(**changes: object) -> AccountFacts:
    values: dict[str, object] = {
        "quotas": {"L-DB2E81BA": 152.0, "L-3819A6DF": 36.0},
        "offered": ZONES,
        "certificate": "ISSUED",
        **changes,
    }
    return AccountFacts(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: environment.name)
def test_an_account_that_has_all_is_fit(environment: Environment) -> None:
    assert problems(environment, facts()) == []


def test_spot_has_a_quota_of_its_own() -> None:
    (found,) = problems(find_environment("staging"), facts(quotas={"L-DB2E81BA": 999.0}))
    assert "L-3819A6DF allows 0 vCPUs of Spot requests" in found
    assert "--quota-code L-3819A6DF --desired-value 36" in found


def test_a_zone_without_the_types_is_named_with_those_that_have_them() -> None:
    zones = {"eu-central-1a": frozenset[str](), **{f"eu-central-1{each}": frozenset({"g6.xlarge"}) for each in "bc"}}
    (found,) = problems(find_environment("production"), facts(offered=zones))
    assert found.startswith("eu-central-1a offers none of")
    assert "['eu-central-1b', 'eu-central-1c']" in found


def test_zones_by_name_are_asked_for_alone() -> None:
    zones = {"eu-central-1a": frozenset[str](), **{f"eu-central-1{each}": frozenset({"g6.xlarge"}) for each in "bc"}}
    plain = find_environment("production")
    named = Environment(name="test", certificate=plain.certificate, zones=("eu-central-1b", "eu-central-1c"))
    assert problems(named, facts(offered=zones)) == []
