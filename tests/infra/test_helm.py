"""The chart as Helm renders it, against Kubernetes' own schemas, the policy and Prometheus' rules."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from infra.helm_files import CHART, files, rules
from infra.scaling.policy import policy_for
from service.settings import Settings
from tests.support.helm import Helm
from tests.support.metric_values import exported_names

VERSIONS = ("1.35", "1.36", "1.37")
CUSTOM = {"ScaledObject", "PodMonitor", "PrometheusRule"}
"""Kinds of KEDA and of the Prometheus operator, whose schemas are not Kubernetes' own."""
FILES = sorted((CHART / "values").glob("*.yaml"))
OPTIONS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "keys, store and role": (
        "apiKeysSecret=keys",
        "remote=s3://models/models",
        "store.kind=claim",
        "store.claim=models",
        "serviceAccount.annotations.role=arn",
        "region=eu-central-1",
        "trustedProxies={10.0.0.0/16}",
        "image.tag=sha256:abc",
    ),
    "host path, no KEDA": ("store.kind=hostPath", "scaling.enabled=false", "monitoring.enabled=false"),
    "no policy": ("network.enabled=false", "gpu.runtimeClassName=nvidia", "image.pullSecrets[0].name=pull"),
}


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm.unpacked(tmp_path_factory.mktemp("helm"))


def pod(objects: dict[str, dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = objects["Deployment"]["spec"]["template"]["spec"]
    return found


def variables(objects: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in pod(objects)["containers"][0]["env"]}


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_what_the_chart_repeats_is_what_the_code_says(path: Path) -> None:
    """`python -m infra.helm_files` writes it."""
    assert path.read_text() == files()[path]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_helm_finds_nothing_to_complain_of(helm: Helm, path: Path) -> None:
    done = helm.run("lint", "--strict", values=(path,))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("options", OPTIONS)
def test_every_object_is_one_that_kubernetes_takes(helm: Helm, options: str, version: str) -> None:
    objects = helm.rendered(*OPTIONS[options])
    own = [each for kind, each in objects.items() if kind not in CUSTOM]
    assert {"Deployment", "Service", "ServiceAccount", "PodDisruptionBudget"} <= {each["kind"] for each in own}
    for each in own:
        kubernetes_validate.validate(each, version, strict=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_values_for_a_device_give_a_pod_that_kubernetes_takes(helm: Helm, path: Path) -> None:
    objects = helm.rendered(values=(path,))
    kubernetes_validate.validate(objects["Deployment"], VERSIONS[-1], strict=True)
    given = yaml.safe_load(path.read_text())
    (container,) = pod(objects)["containers"]
    resource = given["gpu"].get("resource", "nvidia.com/gpu")
    assert container["resources"]["limits"][resource] == container["resources"]["requests"][resource] == 1
    assert pod(objects).get("nodeSelector", {}) == given["gpu"].get("nodeSelector", {})


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [
        ("scaling.minimum=0", "minimum"),
        ("scaling.minimum=1", "minimum"),
        ("scaling.minimum=20", "scaling.minimum is above scaling.maximum"),
        ("scaling.maximum=ten", "integer"),
        ("scaling.minimun=3", "minimun"),
        ("image.tag=latest", "tag"),
        ("image.tag=", "tag"),
        ("models=null", "models"),
        ("remote=models", "remote"),
        ("store.kind=nfs", "kind"),
        ("store.kind=claim", "claim"),
        ("settings.memory_fraction=0.4", "memory_fraction"),
        ("gpu.resource=gpu", "resource"),
    ],
)
def test_a_spoilt_value_is_refused(helm: Helm, spoilt: str, words: str) -> None:
    done = helm.run("template", sets=(spoilt,))
    assert done.returncode != 0
    assert words in done.stderr


@pytest.mark.parametrize("options", OPTIONS)
def test_the_pod_is_told_settings_that_the_service_takes(helm: Helm, options: str) -> None:
    told = variables(helm.rendered(*OPTIONS[options]))
    ours = {name.removeprefix("GLEANER_").lower(): value for name, value in told.items() if name.startswith("GLEANER_")}
    assert set(ours) <= set(Settings.model_fields)
    settings = Settings(**ours)  # type: ignore[arg-type]
    assert settings.internal_port not in (0, settings.port)


def test_a_pod_is_not_killed_before_its_drain_ends(helm: Helm) -> None:
    objects, delays = helm.rendered(), policy_for().delays
    (container,) = pod(objects)["containers"]
    pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    told = variables(objects)
    drain = float(told["GLEANER_DRAIN_GRACE_SECONDS"]) + float(told["GLEANER_DRAIN_SECONDS"])
    assert pod(objects)["terminationGracePeriodSeconds"] == pause + delays.stop_seconds
    assert pause + drain < pod(objects)["terminationGracePeriodSeconds"]
    probe = container["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] == delays.ready_seconds


def test_probes_ask_what_they_mean(helm: Helm) -> None:
    (container,) = pod(helm.rendered())["containers"]
    assert container["livenessProbe"]["httpGet"]["path"] == "/livez", "overload, a load and a drain kill nobody"
    for name in ("readinessProbe", "startupProbe"):
        assert container[name]["httpGet"]["path"] == "/readyz"
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports["internal"] != ports["http"]


def test_metrics_are_on_no_service_and_for_scrapers_alone(helm: Helm) -> None:
    objects = helm.rendered()
    assert [each["targetPort"] for each in objects["Service"]["spec"]["ports"]] == ["http"]
    callers, scrapers = objects["NetworkPolicy"]["spec"]["ingress"]
    assert ([each["port"] for each in callers["ports"]], [each["port"] for each in scrapers["ports"]]) == (
        ["http"],
        ["internal"],
    )
    assert scrapers["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]


CAPACITY = {
    "recommended": [
        {"name": "GLEANER_QUEUE_LIMIT_TOKENS", "value": 12_500_000.0, "reason": "r"},
        {"name": "GLEANER_MAX_QUEUE_MS", "value": 500, "reason": "r"},
        {"name": "scaling.work_ratio", "value": 0.64, "reason": "r"},
    ]
}


def test_a_measured_capacity_limits_what_may_wait_unless_it_is_set(helm: Helm, tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump({"capacity": json.dumps(CAPACITY)}))
    limits = {"GLEANER_QUEUE_LIMIT_TOKENS": "12500000", "GLEANER_MAX_QUEUE_MS": "500"}
    assert limits.items() <= variables(helm.rendered(values=(values,))).items()
    assert not limits.keys() & variables(helm.rendered()).keys()
    own = variables(helm.rendered("settings.MAX_QUEUE_MS=2s", values=(values,)))
    assert own["GLEANER_MAX_QUEUE_MS"] == "2s"
    values.write_text(yaml.safe_dump({"capacity": "{}"}))
    assert "no `recommended`" in helm.run("template", values=(values,)).stderr


def test_scaling_has_the_policys_thresholds(helm: Helm) -> None:
    targets, scale_in = policy_for().targets, policy_for().scale_in
    scaled = helm.rendered()["ScaledObject"]["spec"]
    work, backlog = scaled["triggers"]
    assert float(work["metadata"]["threshold"]) == targets.work_ratio
    assert float(backlog["metadata"]["threshold"]) == targets.backlog_seconds
    assert {each["metricType"] for each in scaled["triggers"]} == {"AverageValue"}, "the only kind with a fallback"
    down = scaled["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]
    assert down["stabilizationWindowSeconds"] == scale_in.alarm.seconds_to_alarm
    assert down["policies"][0]["value"] == -scale_in.steps[0].percent
    assert scaled["fallback"]["replicas"] >= scaled["minReplicaCount"] >= 2
    assert "replicas" not in helm.rendered()["Deployment"]["spec"], "an upgrade would undo the scaling"
    assert helm.rendered("scaling.enabled=false")["Deployment"]["spec"]["replicas"] == 2


@pytest.mark.second_tier  # promtool
def test_scaling_asks_for_this_releases_pods_and_metrics_that_there_are(helm: Helm, tmp_path: Path) -> None:
    queries = helm.scaling_queries()
    path = tmp_path / "queries.yml"
    recorded = [{"record": f"q{number}", "expr": query} for number, query in enumerate(queries)]
    labels = 'namespace="documents",pod="{}"'
    own, other = labels.format("fleet-7c9d5b-x2x4z"), labels.format("fleet-two-7c9d5b-x2x4z")
    series = [
        {"series": f"{name}{{{each}}}", "values": f"{value}x10"}
        for name, value in (("gleaner_work_ratio", 2.1), ("gleaner_backlog_seconds", 7))
        for each in (own, own.replace("x4z", "x5z"), other)
    ]
    expected = {"q0": 4.2, "q1": 14}
    checks = [
        {"expr": f"round({name}, 0.001)", "eval_time": "5m", "exp_samples": [{"labels": "{}", "value": value}]}
        for name, value in expected.items()
    ]
    path.write_text(yaml.safe_dump({"groups": [{"name": "q", "rules": recorded}]}))
    test = {
        "rule_files": [path.name],
        "tests": [{"interval": "1m", "input_series": series, "promql_expr_test": checks}],
    }
    (tmp_path / "test.yml").write_text(yaml.safe_dump(test))
    done = subprocess.run(["promtool", "test", "rules", "test.yml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"gleaner_work_ratio", "gleaner_backlog_seconds"} <= exported_names()


def test_the_operators_rules_are_prometheus_own(helm: Helm) -> None:
    objects = helm.rendered()
    assert (
        objects["PrometheusRule"]["spec"]["groups"] == rules() == json.loads((CHART / "files/rules.json").read_text())
    )
    monitor = objects["PodMonitor"]["spec"]
    label = monitor["jobLabel"]
    assert objects["Deployment"]["spec"]["template"]["metadata"]["labels"][label] == "gleaner", "the rules' job"
    assert monitor["podMetricsEndpoints"][0]["port"] == "internal"
