"""The balancer speaks TLS, to whom it should."""

from __future__ import annotations

from infra.environments import Environment
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
        rule
        for group in resources(made, "AWS::EC2::SecurityGroup").values()
        for rule in group.get("SecurityGroupIngress", ())
    ]
    assert {rule["CidrIp"] for rule in rules} == set(environment.allowed_networks)
