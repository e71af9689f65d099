"""What an account lacks is said with what to do; what it has is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from infra.environments import ENVIRONMENTS, Environment, find_environment
from infra.preflight import AccountFacts, ask, problems

ZONES = {"eu-central-1a": frozenset({"g6.xlarge"}), "eu-central-1b": frozenset({"g4dn.xlarge"})}


def facts(**changes: object) -> AccountFacts:
    values: dict[str, object] = {
        "quotas": {"L-DB2E81BA": 152.0, "L-3819A6DF": 120.0},
        "offered": ZONES,
        "certificate": "ISSUED",
        "used": {},
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


@pytest.mark.parametrize(("used", "missing"), [(0, 0), (8, 0), (9, 1)])
def test_what_others_run_is_taken_off_the_quota(used: int, missing: int) -> None:
    quotas = {"L-DB2E81BA": 160.0}
    found = problems(find_environment("production"), facts(quotas=quotas, used={"L-DB2E81BA": used}))
    assert len(found) == missing
    assert all("of which others use 9" in each and "--desired-value 161" in each for each in found)


def test_three_zones_are_asked_for_where_three_are_wanted() -> None:
    three = replace(find_environment("production"), zone_count=3)
    (found,) = problems(three, facts())
    assert "fewer than three zones" in found
    assert problems(three, facts(offered={**ZONES, "eu-central-1c": frozenset({"g6.xlarge"})})) == []


def instance(name: str, cores: int, **more: object) -> dict[str, object]:
    cpu = {"CoreCount": cores, "ThreadsPerCore": 2}
    return {"Tags": [{"Key": "Name", "Value": name}], "CpuOptions": cpu, **more}


def test_the_account_is_asked_without_local_zones_and_its_own_instances() -> None:
    others = [instance("else", 8), instance("gleaner-staging", 2), instance("x", 4, InstanceLifecycle="spot")]
    own = [instance("gleaner-production", 2), {"CpuOptions": {"CoreCount": 2, "ThreadsPerCore": 2}}]

    def aws(arguments: Sequence[str]) -> str:
        match arguments[1]:
            case "get-service-quota":
                return '{"Quota": {"Value": 152}}'
            case "describe-availability-zones":
                assert "Name=zone-type,Values=availability-zone" in arguments
                return '{"AvailabilityZones": [{"ZoneName": "eu-central-1a"}]}'
            case "describe-instances":
                return json.dumps({"Reservations": [{"Instances": others}, {"Instances": own}]})
            case "describe-certificate":
                return '{"Certificate": {"Status": "ISSUED"}}'
        return '{"InstanceTypeOfferings": []}'

    assert ask(find_environment("production"), aws).used == {"L-DB2E81BA": 16 + 4 + 4, "L-3819A6DF": 8}
    assert ask(find_environment("tryout"), aws).certificate == "ISSUED", "there is none to wait for"


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
