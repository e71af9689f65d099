"""The chart as Helm renders it, against Kubernetes' own schemas, the policy and Prometheus' rules."""

from __future__ import annotations

import json
import re
import tomllib
from ipaddress import ip_address, ip_network
from itertools import product
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from infra.fleet_scaling import DEFAULT_MAX_QUEUE_MS
from infra.helm_files import CHART, files
from infra.scaling.policy import policy_for
from service.settings import Settings
from service.signals.routes import ALWAYS_PUBLIC
from tests.support.helm import IMAGE, RELEASE, Helm

ROOT = Path(__file__).parents[2]
VERSIONS = ("1.35", "1.36", "1.37")
CUSTOM = {"ScaledObject", "PodMonitor", "PrometheusRule", "HTTPRoute"}
"""Kinds of KEDA, the Prometheus operator and the Gateway API, whose schemas are not Kubernetes' own."""
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
    "other clusters": (
        "image.pullPolicy=Always",
        "models={documents,other}",
        "store.sizeLimit=30Gi",
        "settings.DTYPE=float16",
        "gpu.nodeSelector.pool=gpu",
        "cpu=1500m",
        "memory=8Gi",
        "tolerations[0].key=sku",
        "tolerations[0].operator=Exists",
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight=1",
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].key=metadata.name",
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].operator=Exists",
        "podAnnotations.owner=documents",
        "extraEnv[0].name=AWS_ACCESS_KEY_ID",
        "extraEnv[0].valueFrom.secretKeyRef.name=store",
        "extraEnv[0].valueFrom.secretKeyRef.key=id",
        "service.port=8000",
        "network.callers[0].podSelector.matchLabels.app=gateway",
        "network.scrapers[0].podSelector.matchLabels.app=prometheus",
        "network.egress[0].ports[0].port=9000",
        "gateway.parents[0].name=public",
        "gateway.hostnames={extract.example.com}",
        "gateway.paths={/,/models/*,/invocations}",
        "scaling.minimum=3",
        "scaling.maximum=9",
        "scaling.fallback=5",
        "scaling.prometheus=https://thanos.example",
        "scaling.matchers=cluster='prod-eu'",
        "scaling.authentication.name=thanos",
        "scaling.authentication.modes=basic",
        "monitoring.labels.release=kube-prometheus-stack",
        "store.hostPath=/models",
        "global.any=thing",
    ),
    "bulk jobs alone": (
        "bulk.queue=https://sqs.eu-central-1.amazonaws.com/1/jobs",
        "bulk.pods=8",
        "bulk.events=s3://out/inbox/",
        "bulk.authentication=queue",
        "region=eu-central-1",
        "scaling.minimum=0",
    ),
    "all GPUs in use": ("rollout.maxSurge=0", "rollout.maxUnavailable=1", "priorityClassName=services"),
    "no policy": ("network.enabled=false", "gpu.runtimeClassName=nvidia", "image.pullSecrets[0].name=pull"),
}


def pod(objects: dict[str, dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = objects["Deployment"]["spec"]["template"]["spec"]
    return found


def variables(objects: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in pod(objects)["containers"][0]["env"] if "value" in each}


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_what_the_chart_repeats_is_what_the_code_says(path: Path) -> None:
    """`python -m infra.helm_files` writes it."""
    assert path.read_text() == files()[path]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_helm_finds_nothing_to_complain_of(helm: Helm, path: Path) -> None:
    done = helm.run("lint", "--strict", values=(path,))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("options", OPTIONS)
def test_every_object_is_one_that_kubernetes_takes(helm: Helm, options: str) -> None:
    objects = helm.rendered(*OPTIONS[options])
    own = [each for kind, each in objects.items() if kind not in CUSTOM]
    assert {"Deployment", "Service", "ServiceAccount", "PodDisruptionBudget"} <= {each["kind"] for each in own}
    for version, each in product(VERSIONS, own):
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


MEBIBYTES = {"Mi": 1, "Gi": 1024}
IDLE_MIB, WORKER_MIB, SCANNING_PARSER_MIB = 766, 344, 382
"""Memory of engine and supervisor, of a worker with its idle parsers, of a parser that reads scans: BENCHMARKS.md."""
CUDA_MIB = 1024
"""Host memory of CUDA's context. Assumed: nothing was measured on a GPU."""


def mebibytes(quantity: str) -> int:
    return int(quantity[:-2]) * MEBIBYTES[quantity[-2:]]


def needed_mebibytes(objects: dict[str, dict[str, Any]]) -> int:
    """Most memory of a pod: all parsers read scans, all workers hold what they may, folders in memory are full."""
    told = variables(objects)
    settings = Settings(workers=int(told["GLEANER_WORKERS"]))
    worker = WORKER_MIB + settings.parsers * SCANNING_PARSER_MIB + settings.max_held_bytes // 1024**2
    folders = [each["emptyDir"] for each in pod(objects)["volumes"] if each.get("emptyDir", {}).get("medium")]
    in_memory = sum(mebibytes(each["sizeLimit"]) for each in folders)
    return IDLE_MIB + CUDA_MIB + settings.workers * worker + in_memory


@pytest.mark.parametrize(
    ("cpu", "memory", "workers"),
    [
        *(("500m", "11Gi", 1), ("1", "11Gi", 1), ("1500m", "11Gi", 1), ("2", "11Gi", 1), ("2.5", "11Gi", 2)),
        *(("3", "11Gi", 2), ("3001m", "11Gi", 3), ("8", "16Gi", 7), ("96", "64Gi", 16)),
        *(("40", "11Gi", 5), ("8", "6400Mi", 2), ("8", "6399Mi", 1), ("8", "4864Mi", 1)),
    ],
)
def test_a_pod_has_a_worker_for_each_core_but_one_that_memory_holds(
    helm: Helm, cpu: str, memory: str, workers: int
) -> None:
    """Without a limit a pod sees all cores of its node."""
    objects = helm.rendered(f"cpu={cpu}", f"memory={memory}")
    assert variables(objects)["GLEANER_WORKERS"] == str(workers)
    assert needed_mebibytes(objects) <= mebibytes(memory)


def test_settings_of_any_kind_are_written_as_the_service_reads_them(helm: Helm, tmp_path: Path) -> None:
    """YAML's numbers are floating-point numbers to Helm, which writes a million as 1e+06."""
    values = tmp_path / "values.yaml"
    values.write_text("settings: {WORKERS: 4, QUEUE_LIMIT_TOKENS: 12500000, MEMORY_FRACTION: 0.45, MODELS: other}")
    told = variables(helm.rendered("settings.PARSERS=3", values=(values,)))
    names = ("WORKERS", "QUEUE_LIMIT_TOKENS", "MEMORY_FRACTION", "MODELS", "PARSERS")
    assert [told[f"GLEANER_{name}"] for name in names] == ["4", "12500000", "0.45", "other", "3"]


@pytest.mark.parametrize("path", [None, *FILES], ids=lambda path: path.stem if path else "values")
def test_a_pods_memory_is_enough_for_its_workers(helm: Helm, path: Path | None, tmp_path: Path) -> None:
    values, all_cores = (path,) if path else (), tmp_path / "values.yaml"
    all_cores.write_text("settings: {WORKERS: '16'}")
    objects = helm.rendered(values=values)
    resources = pod(objects)["containers"][0]["resources"]
    assert resources["requests"]["memory"] == resources["limits"]["memory"]
    assert needed_mebibytes(objects) <= mebibytes(resources["limits"]["memory"])
    assert needed_mebibytes(helm.rendered(values=(*values, all_cores))) > mebibytes(resources["limits"]["memory"])


def leaves(schema: dict[str, Any], place: str = "") -> set[str]:
    """The values that a schema names, as paths."""
    parts = schema.get("properties", {})
    return {leaf for name, each in parts.items() for leaf in leaves(each, f"{place}.{name}")} if parts else {place[1:]}


def test_every_value_of_the_schema_is_rendered_by_some_option() -> None:
    given = [option for options in OPTIONS.values() for option in (*options, *IMAGE)]
    named = leaves(json.loads((CHART / "values.schema.json").read_text()))
    files_too = {"capacity", "gpu.resource"}
    """Given by --set-file, and by the files of `values/`."""
    assert {leaf for leaf in named if not any(option.startswith(leaf) for option in given)} == files_too


KARPENTER = ("karpenter.k8s.aws/", "karpenter.sh/", "kubernetes.io/", "node.kubernetes.io/", "topology.kubernetes.io/")
"""The prefixes of the labels that Karpenter knows before there is a node; for others it makes none."""


@pytest.mark.parametrize(("file", "known"), [("karpenter", KARPENTER), ("gke", ("cloud.google.com/gke-accelerator",))])
def test_nodes_that_are_not_there_yet_are_asked_for_by_known_labels(
    helm: Helm, file: str, known: tuple[str, ...]
) -> None:
    selector = pod(helm.rendered(values=(CHART / "values" / f"{file}.yaml",)))["nodeSelector"]
    assert selector
    assert all(label.startswith(known) for label in selector)


def reached(objects: dict[str, dict[str, Any]], address: str, port: int) -> bool:
    """Whether the network policy lets a pod out to there by TCP."""
    for rule in objects["NetworkPolicy"]["spec"]["egress"]:
        networks = [ip_network(peer["ipBlock"]["cidr"]) for peer in rule.get("to", ())]
        ports = [each["port"] for each in rule["ports"] if each.get("protocol", "TCP") == "TCP"]
        if port in ports and (not networks or any(ip_address(address) in each for each in networks)):
            return True
    return False


@pytest.mark.parametrize(
    ("address", "port", "open_to"),
    [
        ("10.0.0.10", 53, True),
        ("52.219.1.1", 443, True),
        ("169.254.170.23", 80, True),
        ("169.254.169.254", 80, False),
        ("10.0.0.10", 80, False),
        ("10.0.0.10", 9000, False),
    ],
)
def test_pods_reach_pod_identity_and_the_store_and_no_more(helm: Helm, address: str, port: int, open_to: bool) -> None:
    assert reached(helm.rendered(), address, port) is open_to
    assert reached(helm.rendered(*OPTIONS["other clusters"]), "10.0.0.10", 9000)


def test_a_route_hands_on_what_callers_may_ask_and_nothing_else(helm: Helm) -> None:
    assert "HTTPRoute" not in helm.rendered()
    (rule,) = helm.rendered(*OPTIONS["other clusters"])["HTTPRoute"]["spec"]["rules"]
    *own, root, models, invocations = rule["matches"]
    assert own == [{"path": {"type": "Exact", "value": each}} for each in ALWAYS_PUBLIC]
    assert root == {"path": {"type": "Exact", "value": "/"}, "method": "POST"}, "a GET would be the console"
    assert models == {"path": {"type": "PathPrefix", "value": "/models"}}
    assert invocations["path"]["value"] == "/invocations"
    seconds = int(rule["timeouts"]["request"].removesuffix("s"))
    assert seconds > policy_for().delays.longest_request_seconds
    assert rule["backendRefs"] == [{"name": RELEASE, "port": 8000}]


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [
        ("scaling.minimum=0", "minimum"),
        ("scaling.minimum=1", "minimum: got 1, want 2"),
        ("bulk.queue=jobs", "queue"),
        ("scaling.minimum=20", "scaling.minimum is above scaling.maximum"),
        ("scaling.maximum=ten", "integer"),
        ("scaling.minimun=3", "minimun"),
        ("scaling.matchers=prod-eu", "matchers"),
        ("scaling.matchers=a='b'c='d'", "matchers"),
        ("image.tag=latest", "image.tag: latest moves"),
        ("image.repository=", "repository"),
        ("models=null", "models"),
        ("remote=models", "remote"),
        ("store.kind=nfs", "kind"),
        ("store.kind=claim", "claim"),
        ("settings.memory_fraction=0.4", "memory_fraction"),
        ("gpu.resource=gpu", "resource"),
        ("cpu=3 cores", "cpu"),
        ("cpu=0", "cpu"),
        ("cpu=0m", "cpu"),
        ("memory=11GB", "memory"),
        ("memory=4863Mi", "memory: 4863Mi is too little"),
        ("rollout.maxSurge=0", "maxSurge and maxUnavailable cannot both be 0"),
        ("rollout.maxSurge=0%", "maxSurge and maxUnavailable cannot both be 0"),
        ("rollout.maxSurge=few", "rollout"),
    ],
)
def test_a_spoilt_value_is_refused(helm: Helm, spoilt: str, words: str) -> None:
    done = helm.run("template", sets=(spoilt,))
    assert done.returncode != 0
    assert words in done.stderr


def test_the_chart_and_its_image_have_the_projects_version(helm: Helm) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == version
    assert {*re.findall(r"--version (\S+)", (CHART / "README.md").read_text())} == {version}
    (container,) = pod(helm.rendered("image.tag="))["containers"]
    assert container["image"] == f"registry.example/gleaner:{version}"


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


RESTRICTED_VOLUMES = {"downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret"}


def is_restricted(spec: dict[str, Any]) -> bool:
    """Whether Pod Security's level `restricted` admits a pod; what the chart never sets is left out."""
    (container,) = spec["containers"]
    denied = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    return (
        spec["securityContext"]["runAsNonRoot"]
        and spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        and denied.items() <= container["securityContext"].items()
        and not spec.keys() & {"hostNetwork", "hostPID", "hostIPC"}
        and all(each.keys() - {"name"} <= RESTRICTED_VOLUMES for each in spec["volumes"])
    )


def test_pods_are_restricted_unless_their_store_is_a_hosts_folder(helm: Helm) -> None:
    restricted = {name for name, options in OPTIONS.items() if is_restricted(pod(helm.rendered(*options)))}
    assert restricted == OPTIONS.keys() - {"host path, no KEDA"}


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
    "slo_ms": 500,
    "recommended": [
        {"name": "GLEANER_QUEUE_LIMIT_TOKENS", "value": 12_500_000.0, "reason": "r"},
        {"name": "GLEANER_MAX_QUEUE_MS", "value": 500, "reason": "r"},
        {"name": "scaling.work_ratio", "value": 0.64, "reason": "r"},
    ],
}


def limit_rules(objects: dict[str, Any]) -> list[str]:
    """The limit on latency, with the labels that its alert asks for."""
    rules = [rule for group in objects["PrometheusRule"]["spec"]["groups"] for rule in group["rules"]]
    limits = [rule for rule in rules if rule.get("record") == "gleaner:request_seconds:slo"]
    assert all(rule["labels"] == {"namespace": "documents", "release": "fleet"} for rule in limits)
    return [rule["expr"] for rule in limits]


def test_a_measured_capacity_limits_what_may_wait_unless_it_is_set(helm: Helm, tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump({"capacity": json.dumps(CAPACITY)}))
    limits = {"GLEANER_QUEUE_LIMIT_TOKENS": "12500000", "GLEANER_MAX_QUEUE_MS": "500"}
    assert limits.items() <= variables(helm.rendered(values=(values,))).items()
    assert variables(helm.rendered())["GLEANER_MAX_QUEUE_MS"] == str(DEFAULT_MAX_QUEUE_MS)
    assert "GLEANER_QUEUE_LIMIT_TOKENS" not in variables(helm.rendered())
    own = variables(helm.rendered("settings.MAX_QUEUE_MS=2s", values=(values,)))
    assert own["GLEANER_MAX_QUEUE_MS"] == "2s"
    assert limit_rules(helm.rendered(values=(values,))) == ["vector(500) / 1000"]
    assert not limit_rules(helm.rendered())
    values.write_text(yaml.safe_dump({"capacity": "{}"}))
    assert "no `recommended`" in helm.run("template", values=(values,)).stderr
