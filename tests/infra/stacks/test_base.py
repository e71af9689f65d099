"""What stays when a fleet goes: logs for a while, a network without a way out, closed buckets."""

from __future__ import annotations

import json
import re
from ipaddress import IPv4Network
from itertools import pairwise
from pathlib import Path
from typing import Any

from infra.environments import Environment, Variant
from infra.stacks.app import build, usual_zones
from tests.support.fleets import EACH, OPTIONS, Read, fleet
from tests.support.templates import Template, listed, only, resources, text

READS = ("s3:GetObject", "s3:ListBucket")


@EACH
def test_logs_end_some_day(template: Read, environment: Environment) -> None:
    for name in ("base", "fleet"):
        groups = resources(template(f"{environment.name}-{name}"), "AWS::Logs::LogGroup")
        assert groups
        assert all(group["RetentionInDays"] == environment.log_days for group in groups.values())


@EACH
def test_the_network_has_no_way_out_but_endpoints(template: Read, environment: Environment) -> None:
    base = template(f"{environment.name}-base")
    assert not resources(base, "AWS::EC2::NatGateway")
    assert not resources(base, "AWS::EC2::InternetGateway") or environment.public
    assert len(endpoints(base, "Gateway")) == 1
    expected = 8 + 3 * (environment.variant is Variant.ECS) + 2 * bool(environment.bulk)
    assert len(endpoints(base, "Interface")) == expected


@EACH
def test_buckets_are_closed_encrypted_and_the_models_versioned(template: Read, environment: Environment) -> None:
    base = template(f"{environment.name}-base")
    buckets = resources(base, "AWS::S3::Bucket")
    assert len(buckets) == 2
    for bucket in buckets.values():
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert bucket["BucketEncryption"]
    assert sum("VersioningConfiguration" in bucket for bucket in buckets.values()) == 1
    denied = [each for each in _bucket_statements(base) if each["Effect"] == "Deny"]
    assert sum(each["Condition"] == {"Bool": {"aws:SecureTransport": "false"}} for each in denied) == 2


@EACH
def test_the_fleet_is_in_its_zones_of_a_network_that_is_in_all(template: Read, environment: Environment) -> None:
    """The first ones need not offer the instance types, and CDK's own count is two where it knows no region."""
    subnets = resources(template(f"{environment.name}-base"), "AWS::EC2::Subnet")
    zones = usual_zones(environment)
    assert [each["AvailabilityZone"] for each in subnets.values()] == zones * (1 + environment.public)
    made = fleet(template, environment)
    used = [
        subnets[re.findall(r"Network\w+Subnet\w{8}", json.dumps(each))[0]]["AvailabilityZone"]
        for group in resources(made, "AWS::AutoScaling::AutoScalingGroup").values()
        for each in group["VPCZoneIdentifier"]
    ]
    assert set(used) == {*zones[: environment.number_of_zones]}
    assert not environment.zones or set(used) == {*environment.zones}


def test_subnets_of_a_small_network_have_room_for_a_balancer(tmp_path: Path) -> None:
    """AWS asks for masks of 27 bits at most; no two subnets overlap, in whichever zones."""
    environment = Environment(name="x", certificate=OPTIONS.certificate, public=True, network="10.42.16.0/20")
    build(tmp_path, (environment,), nag=False, zones=[f"us-east-1{letter}" for letter in "abcdefgh"]).synth()
    made = resources(json.loads((tmp_path / "gleaner-x-base.template.json").read_text()), "AWS::EC2::Subnet")
    blocks = sorted(IPv4Network(each["CidrBlock"]) for each in made.values())
    assert len(blocks) == 16
    assert {block.prefixlen for block in blocks} == {24, 27}
    assert not [one for one, next_one in pairwise(blocks) if one.overlaps(next_one)]
    assert all(block.subnet_of(IPv4Network(environment.network)) for block in blocks)


@EACH
def test_alarms_may_publish_to_the_topic_of_alarms(template: Read, environment: Environment) -> None:
    """A policy takes the place of the default one, under which the account's alarms may."""
    base = template(f"{environment.name}-base")
    topic = base["Outputs"]["AlarmTopic"]["Value"]
    for policy in resources(base, "AWS::SNS::TopicPolicy").values():
        if topic in policy["Topics"]:
            allowed = [each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow"]
            publishers = [each["Principal"] for each in allowed if each["Action"] == "sns:Publish"]
            assert {"Service": "cloudwatch.amazonaws.com"} in publishers


@EACH
def test_the_gateway_to_s3_knows_named_buckets_alone(template: Read, environment: Environment) -> None:
    """No document leaves through it but as a result of a bulk job."""
    base = template(f"{environment.name}-base")
    (gateway,) = endpoints(base, "Gateway")
    granted = {(action, text(each)) for action, each in _granted(gateway)}
    models = [name for name in resources(base, "AWS::S3::Bucket") if name.startswith("StorageModels")]
    places = [environment.bulk.source.bucket, environment.bulk.target.bucket] if environment.bulk else []
    buckets = [*(f"<{each}.Arn>" for each in models), *(f"arn:<AWS::Partition>:s3:::{each}" for each in places)]
    own = {(action, f"{each}{part}") for action in READS for each in buckets for part in ("", "/*")}
    layers, packages = "prod-<AWS::Region>-starport-layer-bucket", "al2023-repos-<AWS::Region>-de612dc2"
    of_aws = {("s3:GetObject", f"arn:<AWS::Partition>:s3:::{each}/*") for each in (layers, packages)}
    assert granted - own - of_aws == {
        (action, f"arn:<AWS::Partition>:s3:::{environment.bulk.target.bucket}/{environment.bulk.target.prefix}*")
        for action in ("s3:PutObject", "s3:AbortMultipartUpload")
        if environment.bulk
    }
    assert own | of_aws <= granted


@EACH
def test_every_other_endpoint_is_for_this_account_alone(template: Read, environment: Environment) -> None:
    """AWS takes no policy for the endpoints of ECS's agent."""
    own = {"StringEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}}}
    statement = {"Action": "*", "Condition": own, "Effect": "Allow", "Principal": {"AWS": "*"}, "Resource": "*"}
    open_ones = []
    for endpoint in endpoints(template(f"{environment.name}-base"), "Interface"):
        if "PolicyDocument" in endpoint:
            assert endpoint["PolicyDocument"]["Statement"] == [statement]
        else:
            open_ones.append(text(endpoint["ServiceName"]).rpartition(".")[2])
    agents = ["ecs-agent", "ecs-telemetry"] if environment.variant is Variant.ECS else []
    assert sorted(open_ones) == agents


@EACH
def test_a_budget_tells_the_topic_of_this_environment_alone(template: Read, environment: Environment) -> None:
    base = template(f"{environment.name}-base")
    if environment.monthly_dollars is None:
        assert not resources(base, "AWS::Budgets::Budget")
        return
    made = only(base, "AWS::Budgets::Budget")
    assert made["Budget"]["BudgetLimit"]["Amount"] == environment.monthly_dollars
    assert made["Budget"]["CostFilters"] == {"TagKeyValue": [f"user:environment${environment.name}"]}
    (topic,) = resources(base, "AWS::SNS::Topic")
    told = [each["Subscribers"][0]["Address"] for each in made["NotificationsWithSubscribers"]]
    assert told == [{"Ref": topic}] * 2
    statements = only(base, "AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    assert {"Service": "budgets.amazonaws.com"} in [each["Principal"] for each in statements]


def endpoints(base: Template, kind: str) -> list[dict[str, Any]]:
    found = resources(base, "AWS::EC2::VPCEndpoint").values()
    return [each for each in found if each["VpcEndpointType"] == kind]


def _granted(endpoint: dict[str, Any]) -> list[tuple[str, Any]]:
    """What an endpoint's policy allows to anybody, as pairs of an action and a resource."""
    pairs = []
    for each in endpoint["PolicyDocument"]["Statement"]:
        assert (each["Effect"], each["Principal"]) == ("Allow", {"AWS": "*"})
        pairs += [(action, where) for action in listed(each["Action"]) for where in listed(each["Resource"])]
    return pairs


def _bucket_statements(base: Template) -> list[dict[str, Any]]:
    found = resources(base, "AWS::S3::BucketPolicy").values()
    return [each for policy in found for each in policy["PolicyDocument"]["Statement"]]
