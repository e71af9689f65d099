"""The chart beside KEDA and Prometheus: what they select, what KEDA asks, what is watched, each release apart."""

from __future__ import annotations

import re
import shlex
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.helm_files import CHART, rules
from infra.scaling.policy import policy_for
from service.core.types import Phase
from tests.support.helm import Helm
from tests.support.metric_values import exported_names


@pytest.mark.parametrize("kind", ["PodMonitor", "PrometheusRule"])
def test_what_the_guide_installs_is_what_the_usual_prometheus_reads(helm: Helm, kind: str) -> None:
    """kube-prometheus-stack selects objects by its own release's name."""
    (line,) = re.findall(r"^helm install (.+)$", (CHART / "README.md").read_text(), re.MULTILINE)
    words = shlex.split(line)
    sets = tuple(value for word, value in pairwise(words) if word == "--set")
    values = tuple(CHART.parent / value for word, value in pairwise(words) if word == "--values")
    assert values
    objects = helm.rendered(*sets, values=values)
    assert objects[kind]["metadata"]["labels"]["release"] == "kube-prometheus-stack"
    assert "release" not in helm.rendered()[kind]["metadata"]["labels"]


def test_notes_say_what_is_open_and_how_to_see_that_metrics_arrive(helm: Helm) -> None:
    plain = helm.notes()
    assert "apiKeysSecret is not set" in plain
    assert "monitoring.labels.release" in plain
    assert "count(gleaner_work_ratio)" in plain
    told = helm.notes("apiKeysSecret=keys", "monitoring.labels.release=stack")
    assert "ANYBODY" not in told
    assert "monitoring.labels.release" not in told
    assert "count(" not in helm.notes("scaling.enabled=false")
    assert "fleet starts 2 pods. A pod needs" in plain
    assert "there are 4 pods" in plain
    from_none = helm.notes(*FROM_NONE)
    assert "its first pod when the bulk queue has a chunk" in from_none
    assert "4 pods" not in from_none


def test_scaling_has_the_policys_thresholds(helm: Helm) -> None:
    targets, scale_in = policy_for().targets, policy_for().scale_in
    scaled = helm.rendered()["ScaledObject"]["spec"]
    work, backlog, queue, gpu = scaled["triggers"]
    assert {each["metadata"]["ignoreNullValues"] for each in scaled["triggers"]} == {"false"}, "else nothing is zero"
    assert f"> bool {targets.queue_depth})" in queue["metadata"]["query"]
    assert f">= bool {targets.gpu_percent / 100}" in gpu["metadata"]["query"]
    assert float(work["metadata"]["threshold"]) == targets.work_ratio
    assert float(backlog["metadata"]["threshold"]) == targets.backlog_seconds
    assert {each["metricType"] for each in scaled["triggers"]} == {"AverageValue"}, "the only kind with a fallback"
    down = scaled["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]
    assert down["stabilizationWindowSeconds"] == scale_in.alarm.seconds_to_alarm
    assert down["policies"][0]["value"] == -scale_in.steps[0].percent
    assert scaled["fallback"]["replicas"] >= scaled["minReplicaCount"] >= 2
    assert "replicas" not in helm.rendered()["Deployment"]["spec"], "an upgrade would undo the scaling"
    assert helm.rendered("scaling.enabled=false")["Deployment"]["spec"]["replicas"] == 2


BULK = ("bulk.queue=https://sqs.eu-central-1.amazonaws.com/1/jobs",)
FROM_NONE = (*BULK, "bulk.pods=8", "scaling.minimum=0", "region=eu-central-1")


def test_bulk_jobs_ask_for_pods_by_their_deadline_or_not_at_all(helm: Helm) -> None:
    names = {
        sets: [each["name"] for each in helm.rendered(*sets)["ScaledObject"]["spec"]["triggers"]]
        for sets in (BULK, (*BULK, "bulk.pods=8"), FROM_NONE)
    }
    usual = ["work-ratio", "backlog", "queue-depth"]
    assert list(names.values()) == [usual, [*usual, "bulk"], [*usual, "bulk", "first-pod"]]


def test_a_release_without_pods_asks_the_queue_for_the_first(helm: Helm) -> None:
    objects = helm.rendered(*FROM_NONE)
    scaled = objects["ScaledObject"]["spec"]
    assert (scaled["minReplicaCount"], scaled["fallback"]["replicas"]) == (0, 1)
    trigger = scaled["triggers"][-1]
    assert trigger["type"] == "aws-sqs-queue"
    assert trigger["metadata"] == {
        "queueURL": "https://sqs.eu-central-1.amazonaws.com/1/jobs",
        "queueLength": "100000000",
        "awsRegion": "eu-central-1",
        "identityOwner": "operator",
    }
    own = helm.rendered(*FROM_NONE, "bulk.authentication=queue")["ScaledObject"]["spec"]["triggers"][-1]
    assert own["authenticationRef"] == {"name": "queue"}
    assert "identityOwner" not in own["metadata"]
    alerts = [rule.get("alert") for group in objects["PrometheusRule"]["spec"]["groups"] for rule in group["rules"]]
    assert "GleanerTooFewTasks" not in alerts
    assert "GleanerUnreachable" in alerts


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [("bulk.queue=", "nothing else asks for a first pod"), ("region=", "KEDA asks for the bulk queue there")],
)
def test_a_first_pod_needs_a_queue_and_its_region(helm: Helm, spoilt: str, words: str) -> None:
    done = helm.run("template", sets=(*FROM_NONE, spoilt))
    assert done.returncode != 0
    assert words in done.stderr


@pytest.mark.parametrize("release", ["fleet", "f" * 46, "f" * 53])
def test_pods_are_known_by_the_names_that_kubernetes_gives(helm: Helm, release: str) -> None:
    """It adds a hash of ten characters at most to a deployment's name, then cuts at 58 and adds five more."""
    name = helm.rendered(release=release)["Deployment"]["metadata"]["name"]
    made = f"{name}-5c9f7d4b8f-"[:58] + "x2x4z"
    (pattern,) = {
        each for query in helm.scaling_queries(release=release) for each in re.findall(r"pod=~'(.+?)'", query)
    }
    assert re.fullmatch(pattern, made)


OWN = ("fleet-7c9d5b-x2x4z", "fleet-7c9d5b-x2x5z")
OTHERS = ("fleet-two-7c9d5b-x2x4z", "fleet-two-7c9d5b-x2x6z")


def promtool(folder: Path, rules: list[dict[str, Any]], values: dict[str, str], checks: dict[str, list[Any]]) -> None:
    """Evaluate rules over five minutes of series, `values` by name and labels, and compare expressions."""
    series = [{"series": name, "values": f"{value}x60"} for name, value in values.items()]
    asked = [{"expr": each, "eval_time": "9m", "exp_samples": samples} for each, samples in checks.items()]
    test = {"interval": "10s", "input_series": series, "promql_expr_test": asked}
    (folder / "rules.yml").write_text(yaml.safe_dump({"groups": rules}))
    (folder / "test.yml").write_text(
        yaml.safe_dump({"rule_files": ["rules.yml"], "evaluation_interval": "10s", "tests": [test]})
    )
    done = subprocess.run(["promtool", "test", "rules", "test.yml"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def of_pods(name: str, value: float, pods: tuple[str, ...], labels: str = "") -> dict[str, str]:
    return {f'{name}{{namespace="documents",pod="{pod}",instance="{pod}"{labels}}}': str(float(value)) for pod in pods}


GAUGES = ("work_ratio", "backlog_seconds", "queue_documents", "queue_oldest_age_seconds", "gpu_utilization_ratio")
IDLE = (0, 0, 0, 0, 0)
BUSY = (0.8, 20, 900, 20, 0.99)


def until_now(series: dict[str, str], then: str) -> dict[str, str]:
    """Series that change with the moment that is asked for."""
    return {name: f"{value}x53 {then}" for name, value in series.items()}


def of_phase(phase: Phase, pods: tuple[str, ...], labels: str = "") -> dict[str, str]:
    told = [of_pods("gleaner_phase", each == phase, pods, f'{labels},phase="{each}"') for each in Phase]
    return {series: value for each in told for series, value in each.items()}


def in_phase(phase: Phase, values: tuple[float, ...], pods: tuple[str, ...], labels: str = "") -> dict[str, str]:
    """The gauges that scaling asks for, of pods in this phase."""
    told = [of_pods(f"gleaner_{name}", value, pods, labels) for name, value in zip(GAUGES, values, strict=True)]
    return of_phase(phase, pods, labels) | {series: value for each in told for series, value in each.items()}


def answers(queries: list[str], wanted: tuple[float | None, ...]) -> dict[str, list[Any]]:
    """Each query, to the thousandth, and its answer; None: no answer, which KEDA takes for an error."""
    return {
        f"round({query}, 0.001)": [] if value is None else [{"labels": "{}", "value": value}]
        for query, value in zip(queries, wanted, strict=True)
    }


@pytest.mark.second_tier  # promtool
@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ((2.1, 7, 9, 1, 0.99), (4.2, 14, 0, 0)),
        ((0.5, 0, 501, 1, 0.4), (1.0, 0, 3, 0)),
        ((0.5, 0, 500, 3, 0.95), (1.0, 0, 0, 2.5)),
        ((0.5, 0, 9, 2.5, 0.99), (1.0, 0, 0, 0)),
    ],
    ids=["work", "queue", "gpu", "no wait"],
)
def test_scaling_asks_for_this_releases_pods_alone(
    helm: Helm, tmp_path: Path, values: tuple[float, ...], wanted: tuple[float, ...]
) -> None:
    names = [f"gleaner_{each}" for each in GAUGES]
    queries = helm.scaling_queries()
    assert set(names) <= exported_names()
    assert all(any(name in query for query in queries) for name in names)
    series = in_phase(Phase.READY, values, OWN) | in_phase(Phase.READY, (1000, 1000, 1000, 1000, 1000), OTHERS)
    promtool(tmp_path, [], series, answers(queries, wanted))


NEW = ("fleet-9f8e7d-bbbb1",)
NOTHING: dict[str, str] = {}
UNKNOWN = (None, None, None, 0)
FOR_TWO = (1.6, 40, 3, 2.5)


@pytest.mark.second_tier  # promtool
@pytest.mark.parametrize(
    ("series", "wanted"),
    [
        (in_phase(Phase.READY, BUSY, OWN), FOR_TWO),
        *((in_phase(Phase.READY, BUSY, OWN) | in_phase(each, IDLE, NEW), FOR_TWO) for each in Phase if each != "ready"),
        (in_phase(Phase.READY, BUSY, OWN) | in_phase(Phase.DRAINING, BUSY, NEW), FOR_TWO),
        (in_phase(Phase.READY, BUSY, OWN) | of_pods("gleaner_backlog_seconds", 0, NEW), FOR_TWO),
        (in_phase(Phase.READY, BUSY, OWN) | until_now(in_phase(Phase.READY, IDLE, NEW), "stale _"), FOR_TWO),
        (in_phase(Phase.READY, BUSY, OWN) | until_now(in_phase(Phase.READY, IDLE, NEW), "0.0"), FOR_TWO),
        (in_phase(Phase.READY, BUSY, OWN) | in_phase(Phase.READY, IDLE, NEW), (1.6, 0, 0, 0)),
        (in_phase(Phase.LOADING, IDLE, OWN), UNKNOWN),
        (in_phase(Phase.DRAINING, BUSY, OWN), UNKNOWN),
        (in_phase(Phase.LOADING, IDLE, OWN) | in_phase(Phase.DRAINING, BUSY, NEW), UNKNOWN),
        (NOTHING, UNKNOWN),
    ],
    ids=[
        "two busy",
        *(f"and one {each}" for each in Phase if each != "ready"),
        "and one that still works while it drains",
        "and one without a phase yet",
        "and one that was free and is gone",
        "and one that was free and has started anew",
        "and one that is free",
        "two that load",
        "two that drain",
        "none ready",
        "nothing scraped",
    ],
)
def test_scaling_asks_for_ready_pods_alone(
    helm: Helm, tmp_path: Path, series: dict[str, str], wanted: tuple[float | None, ...]
) -> None:
    """A pod that loads or drains has gauges, at zero: as the least loaded one it would speak for all."""
    promtool(tmp_path, [], series, answers(helm.scaling_queries(), wanted))


@pytest.mark.second_tier  # promtool
def test_scaling_asks_for_the_pods_of_one_cluster_alone(helm: Helm, tmp_path: Path) -> None:
    """Both clusters have this release; a pod of the same name loads here and is ready there."""
    here, there = ',cluster="prod-eu",replica="a"', ',cluster="prod-us",replica="a"'
    series = in_phase(Phase.READY, BUSY, OWN, here) | in_phase(Phase.READY, (0.1, 0, 0, 0, 0.1), NEW, there)
    series |= in_phase(Phase.LOADING, IDLE, NEW, here) | in_phase(Phase.READY, IDLE, OTHERS, here)
    queries = helm.scaling_queries("scaling.matchers=cluster=\"prod-eu\"\\,replica=~'a'\\,")
    promtool(tmp_path, [], series, answers(queries, FOR_TWO))


@pytest.mark.second_tier  # promtool
@pytest.mark.parametrize(
    ("stages", "bulk", "wanted", "pods"),
    [
        ((0.2, 1.0), (0.1, 0.9), 5, (0.2, 2, 0, 5)),
        ((0.2, 1.0), None, None, (2.0, 2, 0, 0)),
        (None, None, None, (0, 0, 0, 0)),
    ],
    ids=["bulk works", "no bulk process yet", "no pods"],
)
def test_scaling_leaves_bulk_work_out_and_asks_for_its_deadline(
    helm: Helm,
    tmp_path: Path,
    stages: tuple[float, float] | None,
    bulk: tuple[float, float] | None,
    wanted: float | None,
    pods: tuple[float, ...],
) -> None:
    series: dict[str, str] = {}
    for name, values in (("gleaner_stage_work_ratio", stages), ("gleaner_bulk_stage_work_ratio", bulk)):
        for stage, value in zip(("compute", "parse"), values or (), strict=False):
            series |= of_pods(name, value, OWN, f',stage="{stage}"')
            series |= of_pods(name, value, NEW, f',stage="{stage}"')
            series |= of_pods(name, 9.0, OTHERS, f',stage="{stage}"')
    if stages:
        series |= in_phase(Phase.READY, (0, 1, 9, 0, 0), OWN) | of_phase(Phase.DRAINING, NEW)
    if wanted:
        series |= of_pods("gleaner_bulk_tasks_wanted", wanted, OWN) | of_pods("gleaner_bulk_tasks_wanted", 0, NEW)
    promtool(tmp_path, [], series, answers(helm.scaling_queries(*FROM_NONE), pods))


@pytest.mark.second_tier  # promtool
def test_two_releases_in_one_prometheus_are_watched_apart(helm: Helm, tmp_path: Path) -> None:
    """Requests of both take a minute, but one alone has a limit on latency."""
    measured = tmp_path / "values.yaml"
    measured.write_text(yaml.safe_dump({"capacity": '{"slo_ms": 500, "recommended": []}'}))
    rendered = (helm.rendered(values=(measured,)), helm.rendered(release="fleet-two"))
    both = [each["PrometheusRule"]["spec"]["groups"] for each in rendered]
    rules = [{**group, "name": f"{group['name']}-{i}"} for i, groups in enumerate(both) for group in groups]
    values = of_phase(Phase.READY, OWN) | of_phase(Phase.READY, OTHERS[:1]) | of_phase(Phase.LOADING, OTHERS[1:])
    for kind, more, added in (("bucket", ',le="30.0"', 0), ("bucket", ',le="+Inf"', 100), ("count", "", 100)):
        series = of_pods(f"gleaner_request_seconds_{kind}", 0, OWN + OTHERS, f',route="/extract"{more}')
        values |= dict.fromkeys(series, f"0+{added}")
    labels = '{{namespace="documents", release="{}"}}'
    firing = 'count by (namespace, release) (ALERTS{{alertname="{}",alertstate="firing"}})'
    promtool(
        tmp_path,
        rules,
        values,
        {
            firing.format("GleanerTooFewTasks"): [{"labels": labels.format("fleet-two"), "value": 1}],
            firing.format("GleanerSlow"): [{"labels": labels.format("fleet"), "value": 1}],
            "sum by (namespace, release) (gleaner:tasks:ready)": [
                {"labels": labels.format(name), "value": value} for name, value in (("fleet", 2), ("fleet-two", 1))
            ],
        },
    )


def test_the_operators_rules_are_prometheus_own(helm: Helm) -> None:
    objects = helm.rendered()
    scope = re.compile(r"namespace='documents',(pod=~'[^']+'|release='fleet'),?")
    rendered = [rule for group in objects["PrometheusRule"]["spec"]["groups"] for rule in group["rules"]]
    plain = [rule for group in rules() for rule in group["rules"]]
    assert [scope.sub("", rule["expr"]).replace("{}", "") for rule in rendered] == [rule["expr"] for rule in plain]
    assert [rule.get("alert", rule.get("record")) for rule in rendered] == [
        rule.get("alert", rule.get("record")) for rule in plain
    ]
    monitor = objects["PodMonitor"]["spec"]
    label = monitor["jobLabel"]
    assert objects["Deployment"]["spec"]["template"]["metadata"]["labels"][label] == "gleaner", "the rules' job"
    assert monitor["podMetricsEndpoints"][0]["port"] == "internal"
