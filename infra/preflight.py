"""`python -m infra.preflight NAME`: what an account lacks for an environment, asked before anything is made in it.

A first creation that fails takes hours and leaves a stack behind: without quota, tasks wait for instances that never
come; a zone without the instance types is found out by the first launch in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from infra.environments import ON_DEMAND_QUOTA, SPOT_QUOTA, BadEnvironment, Environment, find_environment

ISSUED = "ISSUED"
COUNTED = "g3*,g4*,g5*,g6*,gr6*,vt1*"
"""Types whose vCPUs count towards the quotas of G and VT instances."""


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """Quotas, instance types and certificate of an AWS account.

    Attributes:
        quotas: vCPUs by the quota's code.
        used: of these, what runs and is not of this fleet.
        offered: instance types by zone.
        certificate: the state of the environment's certificate.
    """

    quotas: Mapping[str, float]
    offered: Mapping[str, frozenset[str]]
    certificate: str | None = ISSUED
    used: Mapping[str, int] = field(default_factory=dict)


def problems(environment: Environment, facts: AccountFacts) -> list[str]:
    """List the obstacles to the environment, one sentence each, with the remedy."""
    found = [_quota(environment, code, needed, facts) for code, needed in environment.vcpus.items()]
    found += [_zone(environment, zone, facts) for zone in zones_of(environment, facts)]
    wanted = len(environment.zones) or environment.zone_count
    if len(zones_of(environment, facts)) < wanted:
        found.append(f"{environment.region} shows fewer than {('two', 'three')[wanted - 2]} zones to this account")
    if facts.certificate != ISSUED:
        found.append(f"the certificate is {facts.certificate}, not {ISSUED}: put its DNS record in place and wait")
    return [each for each in found if each]


def zones_of(environment: Environment, facts: AccountFacts) -> tuple[str, ...]:
    """The zones that the network will be in."""
    return environment.zones or tuple(sorted(facts.offered))[: environment.zone_count]


def ask(environment: Environment, aws: Callable[[Sequence[str]], str]) -> AccountFacts:
    """The facts, by the AWS CLI.

    Args:
        aws: runs the CLI with these arguments; returns its output, which is JSON.
    """
    region = ("--region", environment.region, "--output", "json")
    quota = ("service-quotas", "get-service-quota", *region, "--service-code", "ec2", "--quota-code")
    quotas = {code: json.loads(aws([*quota, code]))["Quota"]["Value"] for code in environment.vcpus}
    # Local Zones that the account has opted into are among them else, and come first in the alphabet.
    zoned = ["ec2", "describe-availability-zones", *region, "--filters", "Name=zone-type,Values=availability-zone"]
    zones = json.loads(aws(zoned))["AvailabilityZones"]
    running = ["Name=instance-state-name,Values=pending,running", f"Name=instance-type,Values={COUNTED}"]
    instances = json.loads(aws(["ec2", "describe-instances", *region, "--filters", *running]))["Reservations"]
    types = f"Name=instance-type,Values={','.join(environment.instance_types)}"
    offerings = ["ec2", "describe-instance-type-offerings", *region, "--location-type", "availability-zone"]
    found = json.loads(aws([*offerings, "--filters", types]))["InstanceTypeOfferings"]
    status = ISSUED
    if environment.certificate:
        certificate = ["acm", "describe-certificate", *region, "--certificate-arn", environment.certificate]
        status = json.loads(aws(certificate))["Certificate"]["Status"]
    return AccountFacts(
        quotas=quotas,
        offered={
            zone["ZoneName"]: frozenset(each["InstanceType"] for each in found if each["Location"] == zone["ZoneName"])
            for zone in zones
        },
        certificate=status,
        used=_used(environment, [each for group in instances for each in group["Instances"]]),
    )


def _used(environment: Environment, instances: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """vCPUs by quota, of instances that are not of this fleet: its own are among what it needs."""
    found = Counter[str]()
    for each in instances:
        names = {tag["Value"] for tag in each.get("Tags", ()) if tag["Key"] == "Name"}
        if not names & {environment.fleet, f"{environment.fleet}-spot"}:
            code = SPOT_QUOTA if each.get("InstanceLifecycle") == "spot" else ON_DEMAND_QUOTA
            found[code] += each["CpuOptions"]["CoreCount"] * each["CpuOptions"]["ThreadsPerCore"]
    return found


def _quota(environment: Environment, code: str, needed: int, facts: AccountFacts) -> str | None:
    have, used = facts.quotas.get(code, 0.0), facts.used.get(code, 0)
    if have - used >= needed:
        return None
    taken = f", of which others use {used}" if used else ""
    kind = "Spot requests of" if code == SPOT_QUOTA else "running on-demand"
    return (
        f"the quota {code} allows {have:g} vCPUs of {kind} G and VT instances{taken}, "
        f"{environment.name} may need {needed}: "
        f"aws service-quotas request-service-quota-increase --region {environment.region} --service-code ec2 "
        f"--quota-code {code} --desired-value {needed + used}"
    )


def _zone(environment: Environment, zone: str, facts: AccountFacts) -> str | None:
    if facts.offered.get(zone, frozenset()) & set(environment.instance_types):
        return None
    good = [each for each in sorted(facts.offered) if facts.offered[each]]
    return f"{zone} offers none of {', '.join(environment.instance_types)}: set zones to two or three of {good}"


def run_aws(arguments: Sequence[str]) -> str:
    """The output of the AWS CLI.

    Raises:
        subprocess.CalledProcessError: it failed; it has said why.
    """
    return subprocess.run(["aws", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> int:
    """Print what is missing; 1 if anything is."""
    try:
        environment = find_environment(sys.argv[1])
    except BadEnvironment as error:
        print(f"infra: {error}", file=sys.stderr)
        return 2
    try:
        found = problems(environment, ask(environment, run_aws))
    except subprocess.CalledProcessError as error:
        print(f"infra: {' '.join(error.cmd[:3])} failed; the account cannot be judged", file=sys.stderr)
        return 1
    for problem in found:
        print(f"infra: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
