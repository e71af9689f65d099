"""The architecture, read off the source: imports point down, folders form no circle, names and folders stay readable.

Imports under TYPE_CHECKING count too.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from model_store.families.registry import FAMILIES
from tests.support.source_tree import (
    CLIENT,
    PACKAGES,
    ROOT,
    circle,
    import_edges,
    imports,
    place,
    sibling_graphs,
    sources,
)

PIPELINE, GLINER = "loadtest/bench/transformers_pipeline.py", "loadtest/bench/gliner_library.py"
LIBRARIES = "loadtest/bench/inference_libraries.py"
RECIPES = "service/bulk/recipes/"
RANDOM_MODELS = "loadtest/bench/random_models.py"
TRAINING = "model_store/builtin/training/"
FAMILY_ENGINES = tuple(
    f"{place(path)}/" for path in (ROOT / "service" / "families").rglob("engine") if (path / "__init__.py").exists()
)
"""Engine halves of the families of models: what they share, and each one's own."""

ONLY_IN = {
    "torch": ("service/engine/", *FAMILY_ENGINES, "service/training/", TRAINING, PIPELINE, LIBRARIES, RANDOM_MODELS),
    "transformers": (
        "service/engine/",
        *FAMILY_ENGINES,
        "service/training/",
        TRAINING,
        PIPELINE,
        LIBRARIES,
        RANDOM_MODELS,
    ),
    "fastapi": ("service/api/",),
    "starlette": ("service/api/",),
    "gunicorn": ("service/api/",),
    "ray": (RECIPES,),
    "airflow": (RECIPES,),
    "daft": (RECIPES,),
    "pyspark": (RECIPES,),
    "gliner": (GLINER,),
    "openvino": (
        "service/engine/encoder/converted_model.py",
        LIBRARIES,
    ),
    "zmq": (
        "service/engine/engine_socket.py",
        "service/engine/models/live_rollout.py",
        "service/api/engine/connection.py",
    ),
    "boto3": ("service/publisher/loop.py",),
    "botocore": (
        "model_store/remote/s3.py",
        "model_store/remote/s3_connection.py",
        "service/bulk/sqs.py",
        "service/publisher/loop.py",
    ),
    "prometheus_client": ("service/metrics/", "loadtest/generator/sampler.py"),
    "aiohttp": ("loadtest/generator/http_client.py",),
    "psutil": ("loadtest/service_process.py", "loadtest/bench/"),
    "matplotlib": ("loadtest/report/",),
    "pydantic_settings": ("service/settings.py",),
    "pypdfium2": ("service/documents/",),
    "pikepdf": ("service/documents/",),
    "mcp": ("service/api/adapters/mcp.py",),
    "mcp_types": ("service/api/adapters/mcp.py",),
    "regex": ("service/api/parsers/patterns.py", "service/documents/charset_detection.py"),
    "opentelemetry": ("service/api/tracing/otel.py",),
    "aws_cdk": ("infra/stacks/",),
    "constructs": ("infra/stacks/",),
    "cdk_nag": ("infra/stacks/",),
    "cfnlint": ("infra/stacks/",),
    "grafana_foundation_sdk": ("infra/dashboards/grafana.py",),
    "phonenumbers": ("service/text/",),
    "pyarrow": ("service/bulk/finish.py", RECIPES),
    "stdnum": ("service/text/", TRAINING),
    "babel": ("service/text/values/", TRAINING),
    "tokenizers": (
        "service/text/tokenizer.py",
        "service/text/split_points.py",
        "service/text/token_cache.py",
        TRAINING,
        RANDOM_MODELS,
    ),
}
"""Library → the only places that may import it."""

ENGINE_MAY_IMPORT = (
    "service.core",
    "service.engine",
    "service.wire",
    "service.environment",
    "service.settings",
    "service.metrics",
    "service.signals",
    "service.logs",
    "service.process",
    "service.host_memory",
    "service.documents.document",
    "service.documents.limits",
    "service.documents.placed_pages",
    "service.families",
    "service.text.tokenizer",
    "service.text.pipeline",
    "model_store",
)
FAMILY_MAY_IMPORT = (
    "model_store.families",
    "service.core",
    "service.documents.document",
    "service.documents.words",
    "service.families",
    "service.text",
    "service.wire",
)
MAY_IMPORT = {
    "service/core/": ("service.core",),
    "service/documents/": ("service.core", "service.documents"),
    "service/wire.py": ("service.core",),
    "service/environment.py": (),
    "service/host_memory.py": (),
    "service/settings.py": ("service.core", "service.environment", "service.host_memory", "service.signals"),
    "service/commands/healthcheck.py": ("service.environment",),
    "service/metrics/": ("service.core", "service.metrics"),
    "service/text/split_points.py": (),
    "service/text/token_cache.py": (),
    "service/text/decoding_files.py": ("service.core",),
    "service/text/tokenizer.py": (
        "service.core",
        "service.text.decoding_files",
        "service.text.token_cache",
        "service.text.split_points",
        "service.text.rules",
    ),
    "service/text/pipeline.py": ("service.core", "service.text.rules", "service.text.tokenizer", "service.text.values"),
    "service/families/": FAMILY_MAY_IMPORT,
    "service/text/values/": ("service.core", "service.text.values"),
    "service/text/rules/": ("service.core", "service.text.values", "service.text.rules"),
    "service/signals/": ("service.signals",),
    "service/client/": ("service.client",),
    "service/publisher/": (
        "service.publisher",
        "service.signals",
        "service.metrics",
        "service.settings",
        "service.logs",
        "service.process",
    ),
    "service/engine/": ENGINE_MAY_IMPORT,
    "service/training/": (*ENGINE_MAY_IMPORT, "service.evaluation", "service.text", "service.training"),
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
        "service.sandbox",
        "service.environment",
        "service.host_memory",
        "service.text.values",
        "service.text.tokenizer",
        "service.families.processor",
        "service.families.registry",
        "service.text.pipeline",
        "service.text.token_classification",
    ),
    "service/sandbox/": ("service.sandbox",),
    "service/bulk/": (
        "model_store",
        "service.bulk",
        "service.client",
        "service.core",
        "service.environment",
        "service.local_service",
        "service.logs",
        "service.metrics",
        "service.process",
        "service.remote_service",
        "service.settings",
        "service.signals",
    ),
    "model_store/builtin/training/": (
        "model_store",
        "service.core",
        "service.text",
        "service.commands.evaluate",
        "service.evaluation",
        "service.documents.document",
        "service.documents.words",
        "service.documents.pdf.reading_order",
        "service.documents.pdf.words",
        "service.training",
    ),
    "service/evaluation/": (
        "service.core",
        "service.documents.document",
        "service.documents.limits",
        "service.documents.placed_pages",
        "service.evaluation",
        "service.text.values",
    ),
    "model_store/": ("model_store",),
    "infra/": ("infra", "service.signals"),
    "loadtest/": ("loadtest", "infra", "service.signals"),
    "loadtest/results/capacity_file.py": ("loadtest", "infra", "service.core.scheduling.throughput"),
    "loadtest/simulator/": ("loadtest", "infra", "service.signals", "service.core"),
}
"""Place → all of ours that it may import; of two places, one within the other, the inner one's rule holds."""

ENGINE_FLOORS = (
    ("tools",),
    ("__main__",),
    ("assembly",),
    ("loop",),
    ("batch_forming",),
    ("requests",),
    ("lifecycle",),
    ("models",),
    ("encoder", "memory"),
    ("execution",),
    ("device", "engine_socket"),
)
"""Within `service/engine`, from top to bottom: each may import only what is on a lower floor."""

LONGEST_TEST_NAME = 70
MOST_LINES = 350
"""Most lines of a source file."""

PURE = (
    "service/core/",
    "service/signals/",
    "infra/scaling/alarm_values.py",
    "infra/scaling/capacity.py",
    "infra/dashboards/on_call.py",
    "infra/dashboards/page.py",
    "infra/scaling/policy.py",
    "infra/scaling/limits.py",
    "infra/scaling/policy_values.py",
    "infra/scaling/oncall_alarms.py",
    "loadtest/simulator/alarm_evaluation.py",
    "loadtest/simulator/autoscaler.py",
    "loadtest/simulator/fleet.py",
    "loadtest/simulator/machines.py",
    "loadtest/simulator/outcome.py",
    "loadtest/simulator/service_model.py",
    "loadtest/simulator/single_task.py",
    "loadtest/simulator/task_group.py",
    "loadtest/simulator/tasks.py",
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


def is_under(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


@pytest.mark.parametrize("path", sources(), ids=place)
def test_imports_point_down(path: Path) -> None:
    for module in imports(path):
        top = module.partition(".")[0]
        allowed = ONLY_IN.get(top)
        assert allowed is None or place(path).startswith(allowed), f"{place(path)} may not import {module}"
        rules = [where for where in MAY_IMPORT if place(path).startswith(where)]
        if top in PACKAGES and rules:
            assert is_under(module, MAY_IMPORT[max(rules, key=len)]), f"{place(path)} may not import {module}"


def is_pure(path: Path) -> bool:
    return place(path).startswith(PURE)


@pytest.mark.parametrize("path", [path for path in sources() if is_pure(path)], ids=place)
def test_the_pure_floor_has_no_clock_and_no_world(path: Path) -> None:
    used = {module.partition(".")[0] for module in imports(path)}
    assert not used & IMPURE
    assert not CLOCK.search(path.read_text())


def test_workers_import_no_engine_half_of_a_family() -> None:
    halves = tuple(place.rstrip("/").replace("/", ".") for place in FAMILY_ENGINES)
    for path in sources():
        if not place(path).startswith(ONLY_IN["torch"]):
            assert not any(is_under(module, halves) for module in imports(path)), place(path)


def test_each_family_has_its_package() -> None:
    for name in FAMILIES:
        for half in ("processor.py", "engine/reading.py"):
            assert (ROOT / "service" / "families" / name / half).is_file(), f"{name}/{half}"


def test_only_one_file_reads_the_environment() -> None:
    others = ("service/environment.py", RECIPES)
    for path in sources():
        if place(path).startswith(("service/", "model_store/", "infra/")) and not place(path).startswith(others):
            text = path.read_text()
            assert "os.environ" not in text, place(path)
            assert "getenv" not in text, place(path)


def test_every_place_in_the_table_exists() -> None:
    """A rule for a folder that was renamed would hold for nothing."""
    for where in (*MAY_IMPORT, *PURE):
        assert (ROOT / where).exists(), where


def in_engine(module: tuple[str, ...]) -> bool:
    return module[:2] == ("service", "engine") and len(module) > 2


def test_within_the_engine_imports_point_down_too() -> None:
    floor = {name: number for number, names in enumerate(ENGINE_FLOORS) for name in names}
    children = {
        path.stem for path in (ROOT / "service" / "engine").iterdir() if list(path.glob("*.py")) or path.is_file()
    }
    assert children - {"__init__"} == set(floor)
    for importer, imported in import_edges():
        if in_engine(importer) and in_engine(imported) and importer[2] != imported[2]:
            assert floor[importer[2]] < floor[imported[2]], f"{'.'.join(importer)} may not import {'.'.join(imported)}"


def test_files_and_folders_form_no_circle() -> None:
    """In every folder: no circle among its files and sub-folders, by what is anywhere in them."""
    for folder, graph in sibling_graphs(import_edges()).items():
        found = circle(graph)
        assert found is None, f"{'/'.join(folder)}: {' → '.join(found or ())}"


def test_a_circle_between_folders_would_be_found() -> None:
    edges = [(("p", "a", "x"), ("p", "b", "y")), (("p", "b", "z"), ("p", "c")), (("p", "c"), ("p", "a", "w"))]
    assert circle(sibling_graphs(edges)[("p",)]) == ["a", "b", "c", "a"]
    assert circle(sibling_graphs(edges[:2])[("p",)]) is None


def test_imports_by_string_are_seen(tmp_path: Path) -> None:
    """A circle and an import from above that no import statement shows."""
    files = {
        "service/api/rest.py": "from importlib import import_module\nimport_module('service.api.grpc')",
        "service/api/grpc.py": "import service.api.rest",
        "service/core/plan.py": "import importlib\nname = 'x'\nimportlib.import_module(f'service.engine.{name}')",
        "service/core/probe.py": "from importlib.util import find_spec\nfind_spec('torch') or __import__('torch')",
        "service/engine/loop.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    edges = import_edges(tmp_path)
    assert circle(sibling_graphs(edges)[("service", "api")]) == ["grpc", "rest", "grpc"]
    assert (("service", "core", "plan"), ("service", "engine", "loop")) in edges
    assert not any(is_under(name, ("service.core",)) for name in imports(tmp_path / "service/core/plan.py"))
    assert "torch" in set(imports(tmp_path / "service/core/probe.py"))


def test_no_file_is_too_long_to_be_read_whole() -> None:
    lengths = {place(path): len(path.read_text().splitlines()) for path in sources()}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def _classes() -> list[tuple[Path, ast.ClassDef]]:
    service = [path for path in sources() if place(path).startswith("service/") and path.parent != CLIENT]
    return [
        (path, node)
        for path in service
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]


def test_no_two_public_classes_of_the_service_have_one_name() -> None:
    names = Counter(node.name for _, node in _classes() if not node.name.startswith("_"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_folder_with_modules_is_a_package_with_a_sentence() -> None:
    """But for data folders, which hold no module."""
    for folder in {path.parent for path in sources()}:
        text = (folder / "__init__.py").read_text() if (folder / "__init__.py").exists() else ""
        assert ast.get_docstring(ast.parse(text)), f"{place(folder)}/__init__.py says nothing"


def test_names_of_tests_are_short_and_unique_in_their_file() -> None:
    for path in (ROOT / "tests").rglob("test_*.py"):
        functions = (node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef))
        names = Counter(each.name for each in functions if each.name.startswith("test_"))
        assert [name for name, count in names.items() if count > 1 or len(name) > LONGEST_TEST_NAME] == [], place(path)
