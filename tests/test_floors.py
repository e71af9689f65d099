"""Imports point down only: the architecture, read off the source. Imports under TYPE_CHECKING count too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("service", "model_store", "infra", "loadtest")

PEERS = "loadtest/bench/peers/servers/"
RANDOM_MODELS = "loadtest/bench/random_models.py"
TRAINING = "model_store/builtin/training/"

ONLY_IN = {
    "torch": ("service/engine/", TRAINING, PEERS, RANDOM_MODELS),
    "transformers": ("service/engine/", TRAINING, PEERS, RANDOM_MODELS),
    "fastapi": ("service/api/",),
    "starlette": ("service/api/", PEERS),
    "gunicorn": ("service/api/",),
    "litserve": (PEERS,),
    "mosec": (PEERS,),
    "ray": (PEERS,),
    "zmq": ("service/engine/ipc/server.py", "service/engine/ipc/local_client.py", "service/api/engine/client.py"),
    "boto3": ("loadtest/bench/store/boto3_peer.py", "service/publisher/cloudwatch.py"),
    "botocore": (
        "model_store/remote/s3.py",
        "model_store/remote/s3_errors.py",
        "service/publisher/cloudwatch.py",
    ),
    "prometheus_client": ("service/metrics.py", "loadtest/telemetry/sampler.py"),
    "aiohttp": ("loadtest/client/http.py",),
    "psutil": ("loadtest/telemetry/process_usage.py", "loadtest/bench/"),
    "matplotlib": ("loadtest/report/",),
    "pydantic_settings": ("service/settings.py",),
    "pypdfium2": ("service/documents/",),
    "aws_cdk": ("infra/stacks/",),
    "constructs": ("infra/stacks/",),
    "cdk_nag": ("infra/stacks/",),
    "cfnlint": ("infra/stacks/",),
    "grafana_foundation_sdk": ("infra/dashboards/grafana.py",),
    "tokenizers": ("service/text/tokenizer.py", TRAINING, PEERS, RANDOM_MODELS),
}
"""Library → the only places that may import it."""

MAY_IMPORT = {
    "service/core/": ("service.core",),
    "service/documents/": ("service.core", "service.documents"),
    "service/wire.py": ("service.core",),
    "service/settings.py": ("service.core",),
    "service/metrics.py": ("service.core",),
    "service/text/tokenizer.py": ("service.core",),
    "service/text/pipeline.py": ("service.core", "service.text.tokenizer"),
    "service/signals/": ("service.signals",),
    "service/publisher/": (
        "service.publisher",
        "service.signals",
        "service.metrics",
        "service.settings",
        "service.logs",
        "service.process",
    ),
    "service/engine/": (
        "service.core",
        "service.engine",
        "service.wire",
        "service.settings",
        "service.metrics",
        "service.signals",
        "service.logs",
        "service.process",
        "service.text.tokenizer",
        "service.text.pipeline",
        "model_store",
    ),
    "service/api/": (
        "service.core",
        "service.documents",
        "service.api",
        "service.wire",
        "service.settings",
        "service.metrics",
        "service.signals",
        "service.logs",
        "service.process",
        "service.text.tokenizer",
        "service.text.pipeline",
    ),
    "model_store/": ("model_store",),
    "infra/": ("infra", "service.signals"),
    "loadtest/": ("loadtest", "infra", "service.signals"),
}
"""Place → all of ours that it may import."""

PURE = (
    "service/core/",
    "service/signals/",
    "service/publisher/outbox.py",
    "infra/scaling/alarms.py",
    "infra/scaling/autoscaler.py",
    "infra/scaling/capacity.py",
    "infra/dashboards/capacity.py",
    "infra/dashboards/on_call.py",
    "infra/dashboards/page.py",
    "infra/scaling/policy.py",
    "infra/scaling/policy_values.py",
    "infra/scaling/oncall_alarms.py",
)
"""Decisions: values in, values out; time is passed in."""

CLOCK = re.compile(r"\.(now|today|utcnow)\(")
IMPURE = {
    "time",
    "os",
    "socket",
    "subprocess",
    "threading",
    "asyncio",
    "random",
    "pathlib",
    "io",
    "logging",
}


def sources() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{place(path)}: relative imports hide the floor"
            yield node.module or ""


def is_under(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


@pytest.mark.parametrize("path", sources(), ids=place)
def test_imports_point_down(path: Path) -> None:
    for module in imports(path):
        top = module.partition(".")[0]
        allowed = ONLY_IN.get(top)
        assert allowed is None or place(path).startswith(allowed), f"{place(path)} may not import {module}"
        if top in PACKAGES:
            for where, ours in MAY_IMPORT.items():
                if place(path).startswith(where):
                    assert is_under(module, ours), f"{place(path)} may not import {module}"


def is_pure(path: Path) -> bool:
    return place(path).startswith(PURE)


@pytest.mark.parametrize("path", [path for path in sources() if is_pure(path)], ids=place)
def test_the_pure_floor_has_no_clock_and_no_world(path: Path) -> None:
    used = {module.partition(".")[0] for module in imports(path)}
    assert not used & IMPURE
    assert not CLOCK.search(path.read_text())


def test_only_the_settings_look_at_the_environment() -> None:
    for path in sources():
        if place(path).startswith(("service/", "model_store/", "infra/")) and place(path) != "service/settings.py":
            text = path.read_text()
            assert "os.environ" not in text, place(path)
            assert "getenv" not in text, place(path)


def test_every_place_in_the_table_exists() -> None:
    """A rule for a folder that was renamed would hold for nothing."""
    for where in (*MAY_IMPORT, *PURE):
        assert (ROOT / where).exists(), where
