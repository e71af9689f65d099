"""`python -m infra.preflight NAME DEPLOYED`: what an account lacks for an environment, asked before anything is made.

A first creation that fails takes hours and leaves a stack behind: without quota, tasks wait for instances that never
come; a zone without the instance types is found out by the first launch in it. It prints the zones of the network, the
fleet's first, and writes the base that is deployed already, as a template, into the file DEPLOYED.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.edits import Template, in_force, refusals
from infra.environments import ON_DEMAND_QUOTA, SPOT_QUOTA, BadEnvironment, Environment, find_environment
from infra.instances import INSTANCE_SIZES

ISSUED = "ISSUED"
COUNTED = "g3*,g4*,g5*,g6*,gr6*,vt1*"
"""Types whose vCPUs count towards the quotas of G and VT instances."""


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """Quotas, instance types and certificate of an AWS account, and what is deployed there.

    Attributes:
        quotas: vCPUs by the quota's code.
        used: of these, what runs and is not of this fleet.
        offered: types that a task can run on, by zone.
        certificate: the state of the environment's certificate.
        buckets: region of each bucket of bulk jobs.
        base: the deployed base as a template, empty if there is none.
    """

    quotas: Mapping[str, float]
    offered: Mapping[str, frozenset[str]]
    certificate: str | None = ISSUED
    used: Mapping[str, int] = field(default_factory=dict)
    buckets: Mapping[str, str] = field(default_factory=dict)
    base: Template = field(default_factory=dict)


def problems(environment: Environment, facts: AccountFacts) -> list[str]:
    """List the obstacles to the environment, one sentence each, with the remedy."""
    found = [_quota(environment, code, needed, facts) for code, needed in environment.vcpus.items()]
    found.append(_zones(environment, facts))
    if facts.certificate != ISSUED:
        found.append(f"the certificate is {facts.certificate}, not {ISSUED}: put its DNS record in place and wait")
    found += [
        f"bulk's bucket {name} is in {region}, and the network reaches only those in {environment.region}: copy it"
        for name, region in facts.buckets.items()
        if region != environment.region
    ]
    return [*filter(None, found), *refusals(environment, facts.base)]


def zones_of(environment: Environment, facts: AccountFacts) -> list[str]:
    """All zones with GPUs, the fleet's own first: those named, those with its types, those that it is in already."""
    was: list[str] = in_force(facts.base).get("zones", [])

    def rank(zone: str) -> tuple[bool, bool, int, str]:
        offers = not facts.offered.get(zone, frozenset()).isdisjoint(environment.instance_types)
        return zone not in environment.zones, not offers, was.index(zone) if zone in was else len(was), zone

    return sorted({*(zone for zone, types in facts.offered.items() if types), *was}, key=rank)


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
    types = f"Name=instance-type,Values={','.join(INSTANCE_SIZES)}"
    offerings = ["ec2", "describe-instance-type-offerings", *region, "--location-type", "availability-zone"]
    found = json.loads(aws([*offerings, "--filters", types]))["InstanceTypeOfferings"]
    status = ISSUED
    if environment.certificate:
        certificate = ["acm", "describe-certificate", *region, "--certificate-arn", environment.certificate]
        status = json.loads(aws(certificate))["Certificate"]["Status"]
    head = ["s3api", "head-bucket", *region, "--bucket"]
    places = [environment.bulk.source, environment.bulk.target] if environment.bulk else []
    base = ["cloudformation", "get-template", *region, "--stack-name", f"{environment.fleet}-base"]
    return AccountFacts(
        quotas=quotas,
        offered={
            zone["ZoneName"]: frozenset(each["InstanceType"] for each in found if each["Location"] == zone["ZoneName"])
            for zone in zones
        },
        certificate=status,
        used=_used(environment, [each for group in instances for each in group["Instances"]]),
        # One of another account may be shown to the tasks alone.
        buckets={
            each.bucket: _asked(aws, [*head, each.bucket], "(403)").get("BucketRegion", environment.region)
            for each in places
        },
        base=_asked(aws, base, "does not exist").get("TemplateBody", {}),
    )


def _asked(aws: Callable[[Sequence[str]], str], arguments: Sequence[str], excuse: str) -> dict[str, Any]:
    """AWS's answer; an empty one if it refuses with these words."""
    try:
        found: dict[str, Any] = json.loads(aws(arguments))
    except subprocess.CalledProcessError as error:
        if excuse not in error.stderr:
            raise
        return {}
    return found


def _used(environment: Environment, instances: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """vCPUs by quota, of instances that are not of this fleet: its own are among what it needs."""
    found = Counter[str]()
    for each in instances:
        names = {tag["Value"] for tag in each.get("Tags", ()) if tag["Key"] == "Name"}
        if names.isdisjoint(environment.groups):
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


def _zones(environment: Environment, facts: AccountFacts) -> str | None:
    good = {zone for zone, types in facts.offered.items() if not types.isdisjoint(environment.instance_types)}
    wanted = environment.number_of_zones
    if good.issuperset(environment.zones) and len(good) >= wanted:
        return None
    types, found = " or ".join(environment.instance_types), ", ".join(sorted(good)) or "no zone"
    named = f" and names {', '.join(environment.zones)}" if environment.zones else ""
    return (
        f"{environment.region} offers {types} in {found}; the fleet needs {wanted} zones{named}: "
        "change instance_types, zones or region"
    )


def run_aws(arguments: Sequence[str]) -> str:
    """The output of the AWS CLI.

    Raises:
        subprocess.CalledProcessError: it failed; its `stderr` says why.
    """
    return subprocess.run(["aws", *arguments], check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Print what is missing, and return 1, or the zones."""
    try:
        environment = find_environment(sys.argv[1])
        facts = ask(environment, run_aws)
    except BadEnvironment as error:
        print(f"infra: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"infra: {' '.join(error.cmd)} failed, and the account cannot be judged: {error.stderr}", file=sys.stderr)
        return 1
    found = problems(environment, facts)
    for problem in found:
        print(f"infra: {problem}", file=sys.stderr)
    Path(sys.argv[2]).write_text(json.dumps(facts.base))
    print(*zones_of(environment, facts))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
