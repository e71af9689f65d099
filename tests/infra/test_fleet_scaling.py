"""The scaling that is simulated is the one that the stacks deploy, and the image has what simulating needs."""

from __future__ import annotations

import math
import re

from infra.environments import ENVIRONMENTS, Environment
from infra.fleet_scaling import policy_of
from infra.stacks.container import container_environment
from loadtest.simulator.fleet_scaling import fleet_scaling
from tests.support.fleets import ON_ECS, OPTIONS, Read, fleet
from tests.support.source_tree import ROOT, Module, import_edges
from tests.support.templates import attributes, only, resources, variables

CERTIFICATE = ENVIRONMENTS[0].certificate


@ON_ECS
def test_what_is_simulated_is_deployed(template: Read, environment: Environment) -> None:
    made, scaling = fleet(template, environment), fleet_scaling(environment)
    service = only(made, "AWS::ECS::Service")
    strategy = service["CapacityProviderStrategy"]
    weights = [each.get("Weight", 0) for each in strategy]
    limits, delays = scaling.policy.limits, scaling.policy.delays
    assert (strategy[0]["Base"], sum(weights[1:]) / sum(weights)) == (limits.minimum_tasks, scaling.spot_weight)
    assert service["DeploymentConfiguration"]["MaximumPercent"] == scaling.maximum_percent
    pools = resources(made, "AWS::AutoScaling::WarmPool").values()
    assert sum(int(each["MinSize"]) for each in pools) == scaling.warm_pool
    managed = [each["AutoScalingGroupProvider"] for each in resources(made, "AWS::ECS::CapacityProvider").values()]
    assert min(each["ManagedScaling"]["TargetCapacity"] for each in managed) == scaling.target_percent
    for each in resources(made, "AWS::AutoScaling::AutoScalingGroup").values():
        assert len(each["VPCZoneIdentifier"]) == scaling.zones
    delay = attributes(only(made, "AWS::ElasticLoadBalancingV2::TargetGroup"), "TargetGroupAttributes")
    assert float(delay["deregistration_delay.timeout_seconds"]) == delays.deregistration_seconds
    settings = variables(made)
    assert float(settings["GLEANER_MAX_QUEUE_MS"]) / 1000 == scaling.max_queue_seconds
    assert float(settings["GLEANER_DEADLINE_MS"]) / 1000 == delays.longest_request_seconds
    assert ("GLEANER_BULK_TASKS" in settings) == (scaling.policy.bulk_tasks is not None)


def test_a_measured_capacity_limits_what_may_wait() -> None:
    assumed, measured, chosen = (
        Environment(name="test", certificate=CERTIFICATE, capacity_file=given, max_queue_ms=limit)
        for given, limit in ((None, None), (OPTIONS.capacity_file, None), (OPTIONS.capacity_file, 0))
    )
    told = [
        container_environment(each, policy_of(each), proxies=(), bucket="b", region="r")
        for each in (assumed, measured, chosen)
    ]
    assert [each.get("GLEANER_QUEUE_LIMIT_TOKENS") for each in told] == [None, "15200", "15200"]
    assert [each["GLEANER_MAX_QUEUE_MS"] for each in told] == ["10000", "500", "0"], "unmeasured: not the deadline"
    simulated = [fleet_scaling(each) for each in (assumed, measured, chosen)]
    assert [each.queue_limit_tokens for each in simulated] == [math.inf, 15_200.0, 15_200.0]
    assert [each.max_queue_seconds for each in simulated] == [10.0, 0.5, math.inf]


def test_the_image_has_the_modules_of_infra_that_the_simulator_imports() -> None:
    edges = import_edges()
    needed: set[Module] = set()
    waiting: list[Module] = [("loadtest", "simulator", "command")]
    while waiting:
        module = waiting.pop()
        more = {imported for importer, imported in edges if importer == module} - needed
        needed |= more
        waiting += more
    copied = re.search(r"^COPY (infra/.*) /optional/infra/$", (ROOT / "Dockerfile.gpu").read_text(), re.MULTILINE)
    assert copied
    modules = {path.removesuffix(".py").split("/")[-1] for path in copied[1].split()}
    assert {each[1] for each in needed if each[0] == "infra" and len(each) > 1} <= modules | {"scaling"}
