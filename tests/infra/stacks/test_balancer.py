"""The balancer speaks TLS, to whom it should."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.environments import Environment
from infra.stacks.balancer import MOST_ERRORS
from infra.stacks.container import INTERNAL_PORT
from service.api.extraction.trace import RequestTrace
from service.metrics.worker import WorkerMetrics
from service.signals.points import Snapshot, measure
from service.signals.routes import ALWAYS_PUBLIC, PUBLIC_ADAPTERS
from tests.support.fleets import EACH, MOST_RULE_VALUES, OPTIONS, Read, alarms, fleet
from tests.support.metric_values import collected
from tests.support.templates import attributes, containers, only, resources, variables


@EACH
def test_the_balancer_speaks_tls_and_to_whom_it_should(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    listener = only(made, "AWS::ElasticLoadBalancingV2::Listener")
    port = 443 if environment.certificate else 80
    assert (listener["Port"], listener["Protocol"]) == (port, "HTTPS" if environment.certificate else "HTTP")
    assert environment.certificate is None or "TLS13" in listener["SslPolicy"]
    balancer = only(made, "AWS::ElasticLoadBalancingV2::LoadBalancer")
    assert balancer["Scheme"] == ("internet-facing" if environment.public else "internal")
    rules = [
        (rule["FromPort"], rule["CidrIp"])
        for group in resources(made, "AWS::EC2::SecurityGroup").values()
        for rule in group.get("SecurityGroupIngress", ())
    ]
    callers = {(port, network) for network in environment.allowed_networks}
    scrapers = {(INTERNAL_PORT, network) for network in (environment.network, *environment.scrape_networks)}
    assert set(rules) == callers | scrapers


@EACH
def test_the_service_believes_the_networks_of_the_balancer_and_no_other(
    template: Read, environment: Environment
) -> None:
    """In a network of ours everybody else is a caller, whose headers are his own."""
    subnets = resources(template(f"{environment.name}-base"), "AWS::EC2::Subnet")
    made = fleet(template, environment)
    places = json.dumps(only(made, "AWS::ElasticLoadBalancingV2::LoadBalancer")["Subnets"])
    own = {each["CidrBlock"] for name, each in subnets.items() if f"Ref{name}" in places}
    assert len(own) == environment.number_of_zones
    assert set(variables(made)["GLEANER_TRUSTED_PROXIES"].split(",")) == own
    assert environment.network not in own


@EACH
def test_requests_go_to_the_least_busy_task_that_is_ready(template: Read, environment: Environment) -> None:
    """AWS refuses slow start beside least outstanding requests, and a check as long as its interval, at deployment."""
    group = only(fleet(template, environment), "AWS::ElasticLoadBalancingV2::TargetGroup")
    found = attributes(group, "TargetGroupAttributes")
    assert found["load_balancing.algorithm.type"] == "least_outstanding_requests"
    assert found.get("slow_start.duration_seconds", "0") == "0"
    assert group["HealthCheckTimeoutSeconds"] < group["HealthCheckIntervalSeconds"]
    assert group["HealthCheckPath"] == "/readyz"


@EACH
def test_time_outs_rise_from_request_to_balancer_to_service(template: Read, environment: Environment) -> None:
    """No side closes a connection that the one before it still uses."""
    made = fleet(template, environment)
    balancer = only(made, "AWS::ElasticLoadBalancingV2::LoadBalancer")
    idle = float(attributes(balancer, "LoadBalancerAttributes")["idle_timeout.timeout_seconds"])
    settings = variables(made)
    assert float(settings["GLEANER_DEADLINE_MS"]) / 1000 < idle < float(settings["GLEANER_KEEP_ALIVE_SECONDS"])


def _condition(rule: dict[str, Any], kind: str) -> set[str]:
    return {value for each in rule["Conditions"] for value in each.get(kind, {}).get("Values", ())}


@EACH
def test_what_callers_may_ask_is_handed_on_and_nothing_else(template: Read, environment: Environment) -> None:
    """Metrics, models, docs and the console need no key."""
    made = fleet(template, environment)
    for listener in resources(made, "AWS::ElasticLoadBalancingV2::Listener").values():
        assert "forward" not in [each["Type"] for each in listener["DefaultActions"]]
    rules = list(resources(made, "AWS::ElasticLoadBalancingV2::ListenerRule").values())
    paths = [_condition(rule, "PathPatternConfig") for rule in rules]
    assert all(paths)
    adapters = [PUBLIC_ADAPTERS[name] for name in environment.adapters]
    assert set().union(*paths) == {*ALWAYS_PUBLIC, *(path for adapter in adapters for path in adapter.paths)}
    assert variables(made)["GLEANER_ADAPTERS"] == (",".join(environment.adapters) or "none")
    for rule, handed_on in zip(rules, paths, strict=True):
        methods = _condition(rule, "HttpRequestMethodConfig")
        assert "/" not in handed_on or methods == {"POST"}
        assert len(handed_on) + len(methods) <= MOST_RULE_VALUES


@EACH
def test_operators_have_a_port_of_their_own(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    settings = variables(made)
    assert int(settings["GLEANER_INTERNAL_PORT"]) == INTERNAL_PORT != int(settings["GLEANER_PORT"])
    assert only(made, "AWS::ElasticLoadBalancingV2::TargetGroup")["Port"] == int(settings["GLEANER_PORT"])
    for each in containers(made):
        assert INTERNAL_PORT in [mapping["ContainerPort"] for mapping in each["PortMappings"]]


def total(points: list[float | None]) -> float | None:
    """CloudWatch's SUM of several metrics: of those that have a point."""
    found = [each for each in points if each is not None]
    return sum(found) if found else None


def computed(alarm: dict[str, Any], **points: float | None) -> float | None:
    """Its expression with these points; None for a metric, or a result, without one in the minute."""
    (whole,) = [each for each in alarm["Metrics"] if each.get("ReturnData")]
    assert {each["Id"] for each in alarm["Metrics"]} - {whole["Id"]} == set(points)
    functions = {"SUM": total, "FILL": lambda point, instead: instead if point is None else point}
    functions["IF"] = lambda holds, then, otherwise: then if holds else otherwise
    found: float | None = eval(whole["Expression"], {"__builtins__": {}}, {**functions, **points})
    return found


@EACH
def test_fewer_healthy_tasks_than_the_minimum_are_an_alarm(template: Read, environment: Environment) -> None:
    alarm = alarms(fleet(template, environment))[f"{environment.fleet}-too-few-healthy"]
    assert computed(alarm, healthy0=4.0) == 4
    assert computed(alarm, healthy0=None) is None, "a minute that is late is not an empty fleet"
    assert alarm["Threshold"] == environment.limits.minimum_tasks
    assert alarm["TreatMissingData"] == ("breaching" if environment.limits.minimum_tasks else "notBreaching")


@EACH
@pytest.mark.parametrize(
    ("requests", "errors", "broken", "alarming"),
    [
        (1000.0, None, None, False),
        (1000.0, 10.0, None, False),
        (1000.0, 11.0, None, True),
        (1000.0, None, 11.0, True),
        (1000.0, 6.0, 6.0, True),
        (20.0, 1.0, None, False),
        (20.0, None, 1.0, False),
        (20.0, 2.0, None, True),
        (None, None, 1.0, False),
        (None, None, 11.0, True),
    ],
)
def test_errors_are_counted_of_the_requests_if_there_are_any(
    template: Read,
    environment: Environment,
    requests: float | None,
    errors: float | None,
    broken: float | None,
    alarming: bool,
) -> None:
    """Without a task only the balancer counts, and only what nobody answered."""
    alarm = alarms(fleet(template, environment))[f"{environment.fleet}-server-errors"]
    share = computed(alarm, errors=errors, broken=broken, requests=requests)
    assert share is not None
    assert (share > alarm["Threshold"]) is alarming
    assert alarm["Threshold"] == MOST_ERRORS
    assert (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == ("GreaterThanThreshold", "notBreaching")


def published(*answers: tuple[int, int, str]) -> dict[str, float]:
    """What a task publishes of a minute with this many answers of a status and a code."""
    worker = WorkerMetrics()
    for count, status, code in answers:
        for _ in range(count):
            worker.answered("/extract", status, 0.1, RequestTrace("r", 0.0, status=status, code=code).server_error)
    samples = [each for metric in collected(worker) for each in metric.samples]
    values = {(each.name, tuple(sorted(each.labels.items()))): each.value for each in samples}
    return {each.signal.name: sum(each.values) for each in measure(Snapshot(0, 0, {}), Snapshot(60, 60, values))}


@pytest.mark.parametrize(
    ("answers", "alarming"),
    [
        ([(910, 200, ""), (30, 500, "internal_error"), (60, 429, "queue_full")], True),
        ([(940, 200, ""), (60, 429, "queue_full")], False),
        ([(940, 200, ""), (60, 503, "draining")], False),
        ([(940, 200, ""), (60, 503, "too_much_at_once")], False),
        ([(940, 200, ""), (60, 504, "deadline_exceeded")], False),
        ([(940, 200, ""), (60, 503, "engine_restarting")], True),
        ([(940, 200, ""), (60, 507, "insufficient_memory")], True),
        ([(940, 200, ""), (60, 422, "unreadable_document")], False),
    ],
    ids=str,
)
def test_refusals_neither_are_errors_nor_hide_them(
    template: Read, answers: list[tuple[int, int, str]], alarming: bool
) -> None:
    alarm = alarms(fleet(template, OPTIONS))[f"{OPTIONS.fleet}-server-errors"]
    asked = {
        each["Id"]: each["MetricStat"]["Metric"]["MetricName"] for each in alarm["Metrics"] if "MetricStat" in each
    }
    points: dict[str, float | None] = {name: published(*answers).get(metric) for name, metric in asked.items()}
    share = computed(alarm, **points)
    assert share is not None
    assert (share > alarm["Threshold"]) is alarming
