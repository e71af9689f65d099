"""What an account lacks is said with what to do; what it has is not."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import replace
from subprocess import CalledProcessError

import pytest

from infra.edits import DEPLOYED
from infra.environments import ENVIRONMENTS, Environment, find_environment
from infra.preflight import AccountFacts, ask, problems, zones_of

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
    assert "or g4dn.xlarge in eu-central-1a, eu-central-1b; the fleet needs 3 zones:" in found
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
            case "get-template":
                return '{"TemplateBody": {"Outputs": {}}}'
            case "head-bucket":
                return '{"BucketRegion": "eu-west-1"}'
        return '{"InstanceTypeOfferings": []}'

    assert ask(find_environment("production"), aws).used == {"L-DB2E81BA": 16 + 4 + 4, "L-3819A6DF": 8}
    assert ask(find_environment("tryout"), aws).certificate == "ISSUED", "there is none to wait for"
    assert ask(find_environment("tryout"), aws).base == {"Outputs": {}}
    jobs = find_environment("jobs")
    (found,) = problems(jobs, facts(buckets=ask(jobs, aws).buckets))
    assert found.startswith("bulk's bucket example-documents is in eu-west-1, and the network reaches only those in eu")


@pytest.mark.parametrize(
    ("name", "command", "words", "known"),
    [
        ("tryout", "get-template", "ValidationError: Stack with id x does not exist", True),
        ("tryout", "get-template", "AccessDenied", False),
        ("jobs", "head-bucket", "(403) when calling the HeadBucket operation: Forbidden", True),
        ("jobs", "head-bucket", "(404) when calling the HeadBucket operation: Not Found", False),
    ],
)
def test_only_what_a_refusal_says_for_certain_is_believed(name: str, command: str, words: str, known: bool) -> None:
    """No base is there yet; a bucket of another account is there, and is not shown to whoever deploys."""

    def aws(arguments: Sequence[str]) -> str:
        if arguments[1] == command:
            raise CalledProcessError(254, ["aws"], stderr=words)
        return '{"Quota": {"Value": 1}, "AvailabilityZones": [], "Reservations": [], "InstanceTypeOfferings": []}'

    environment = find_environment(name)
    with contextlib.nullcontext() if known else pytest.raises(CalledProcessError):
        found = ask(environment, aws)
        assert found.base == {}
        assert {*found.buckets.values()} <= {environment.region}


def zones(**types: str) -> dict[str, frozenset[str]]:
    return {f"eu-central-1{letter}": frozenset(filter(None, [each])) for letter, each in types.items()}


@pytest.mark.parametrize(
    ("offered", "named", "deployed", "order"),
    [
        ({"a": "g6.xlarge", "b": "g6.xlarge", "c": "g6.xlarge"}, "", "", "abc"),
        ({"a": "", "b": "g5.xlarge", "c": "g6.xlarge"}, "", "", "bc"),
        ({"a": "g6e.16xlarge", "b": "g5.xlarge", "c": "g6.xlarge"}, "", "", "bca"),
        ({"a": "g6.xlarge", "b": "g6.xlarge", "c": "g6.xlarge"}, "cb", "", "bca"),
        ({"a": "g6.xlarge", "b": "g6.xlarge", "c": "g6.xlarge"}, "", "cb", "cba"),
        ({"a": "g6.xlarge", "b": "g6.xlarge", "c": "g6.xlarge"}, "ab", "cb", "bac"),
        ({"a": "g6.xlarge", "b": "g6.xlarge"}, "", "cb", "bac"),
    ],
)
def test_zones_are_those_named_then_those_with_the_types_and_in_use(
    offered: dict[str, str], named: str, deployed: str, order: str
) -> None:
    """A zone that has a subnet keeps it."""
    full = {letters: [f"eu-central-1{letter}" for letter in letters] for letters in (named, deployed, order)}
    environment = replace(find_environment("production"), zones=tuple(full[named]))
    base = {"Metadata": {DEPLOYED: {"zones": full[deployed]}}}
    assert zones_of(environment, facts(offered=zones(**offered), base=base)) == full[order]


@pytest.mark.parametrize(("named", "count"), [("ab", 1), ("bc", 0), ("", 0)])
def test_zones_that_are_named_are_asked_for_the_types(named: str, count: int) -> None:
    environment = replace(find_environment("production"), zones=tuple(f"eu-central-1{letter}" for letter in named))
    found = problems(environment, facts(offered=zones(a="", b="g6.xlarge", c="g6.xlarge")))
    assert len(found) == count
    assert all("needs 2 zones and names eu-central-1a, eu-central-1b" in each for each in found)
