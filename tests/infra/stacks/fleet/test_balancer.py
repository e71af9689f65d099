"""The balancer speaks TLS, to whom it should."""

from __future__ import annotations

from infra.environments import Environment
from infra.stacks.container import INTERNAL_PORT
from infra.stacks.template import variables
from tests.support.fleets import EACH, Read, fleet
from tests.support.templates import only, resources


@EACH
def test_the_balancer_speaks_tls_only_and_to_whom_it_should(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    listener = only(made, "AWS::ElasticLoadBalancingV2::Listener")
    assert (listener["Port"], listener["Protocol"]) == (443, "HTTPS")
    assert "TLS13" in listener["SslPolicy"]
    balancer = only(made, "AWS::ElasticLoadBalancingV2::LoadBalancer")
    assert balancer["Scheme"] == ("internet-facing" if environment.public else "internal")
    rules = [
        (rule["FromPort"], rule["CidrIp"])
        for group in resources(made, "AWS::EC2::SecurityGroup").values()
        for rule in group.get("SecurityGroupIngress", ())
    ]
    callers = {(443, network) for network in environment.allowed_networks}
    scrapers = {(INTERNAL_PORT, network) for network in (environment.network, *environment.scrape_networks)}
    assert set(rules) == callers | scrapers


@EACH
def test_the_service_believes_the_networks_of_the_balancer_and_no_other(
    template: Read, environment: Environment
) -> None:
    """In a network of ours everybody else is a caller, whose headers are his own."""
    kind = "public" if environment.public else "private"
    subnets = resources(template(f"{environment.name}-base"), "AWS::EC2::Subnet").values()
    own = {each["CidrBlock"] for each in subnets if {"Key": "aws-cdk:subnet-name", "Value": kind} in [*each["Tags"]]}
    assert set(variables(fleet(template, environment))["GLEANER_TRUSTED_PROXIES"].split(",")) == own
    assert environment.network not in own
