"""The recipes, each in its own environment by the engine it is for (`make recipes`): the rows of `gleaner bulk`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser

from service.bulk import finish
from service.bulk.s3 import S3Storage, place_of
from service.bulk.storage import FolderStorage, JobStorage
from service.cli import main
from tests.support.bulk_cloud import BulkCloud, bulk_cloud, moto_server
from tests.support.bulk_fleet import EchoService, until, working
from tests.support.hardware import RECIPES
from tests.support.source_tree import ROOT

PLACE = ROOT / "service/bulk/recipes"
MODULE = "service.bulk.recipes"
MODEL = f"documents@sha256:{'ab' * 32}"
PRINT_ROWS = "import json, sys, pyarrow.parquet as p; print(json.dumps(p.read_table(sys.argv[1]).to_pylist()))"
Rows = dict[str, dict[str, Any]]

pytestmark = pytest.mark.timeout(1200)


def _texts(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        text = f"Invoice {number} of Example GmbH to Anna Smith, Berlin, 12 May 2024. Total: EUR {number}.50."
        (folder / f"{number:03}.txt").write_text(text)
    return folder


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def _run(*command: str | Path, **more: str) -> str:
    """The output of a command that ends well."""
    found = subprocess.run([*map(str, command)], env=_environment(**more), cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, f"{found.returncode}: {found.stdout[-2000:]}{found.stderr[-4000:]}"
    return found.stdout


def _compared(flat: dict[str, Any]) -> dict[str, Any]:
    """What all ways to a row have in common: a version is a digest here and a time of change there, and a score may
    differ in its sixth digit with the documents beside it.
    """
    document = json.loads(flat["document"] or "null", parse_float=lambda digits: round(float(digits), 3))
    return {name: flat[name] for name in ("bytes", "sha256", "model", "error_code")} | {"document": document}


def _bulk(folder: Path, output: Path) -> Rows:
    """The rows of `gleaner bulk`, by key."""
    command = [sys.executable, "-m", "service.cli", "bulk", str(folder), str(output), "--fields"]
    assert subprocess.run(command, env=_environment(), cwd=ROOT).returncode in (0, 1)
    return _of_storage(FolderStorage(output))


def _of_storage(storage: JobStorage, prefix: str = "") -> Rows:
    rows = map(finish.flat_row, finish.rows(storage))
    return {row["key"].removeprefix(prefix): _compared(row) for row in rows}


def _parquet(name: str, table: Path, folder: Path) -> Rows:
    """The rows of a table, by their path in the folder; each once."""
    rows = json.loads(_run(RECIPES / name / "bin/python", "-c", PRINT_ROWS, table))
    found = {row["key"].partition(f"{folder}/")[2]: _compared(row) for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty texts, a PDF in a folder of its own, and a file that is none."""
    folder = _texts(tmp_path_factory.mktemp("corpus") / "in", 30)
    (folder / "bills").mkdir()
    shutil.copy(ROOT / "loadtest/samples/invoice.pdf", folder / "bills")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    return folder


@pytest.fixture(scope="module")
def expected(corpus: Path) -> Rows:
    rows = _bulk(corpus, corpus.parent / "bulk")
    assert len(rows) == 32
    assert [key for key, row in rows.items() if row["error_code"]] == ["broken.pdf"]
    return rows


@pytest.mark.needs("recipe-daft")
def test_daft(corpus: Path, expected: Rows, tmp_path: Path) -> None:
    _run(RECIPES / "daft/bin/python", "-m", f"{MODULE}.daft_rows", corpus, tmp_path / "out")
    assert _parquet("daft", tmp_path / "out", corpus) == expected


@pytest.mark.needs("recipe-spark")
def test_spark(corpus: Path, expected: Rows, tmp_path: Path) -> None:
    python = RECIPES / "spark/bin/python"
    submit = (RECIPES / "spark/bin/spark-submit", "--master", "local[1]", PLACE / "spark.py")
    _run(*submit, corpus, tmp_path / "out", PYSPARK_PYTHON=str(python), SPARK_LOCAL_IP="127.0.0.1")
    assert _parquet("spark", tmp_path / "out", corpus) == expected


@pytest.mark.needs("recipe-ray")
def test_ray_adds_nothing_when_it_is_called_again(corpus: Path, expected: Rows, tmp_path: Path) -> None:
    for _ in range(2):
        _run(RECIPES / "ray/bin/python", "-m", f"{MODULE}.ray_data", corpus, tmp_path / "out")
        assert _parquet("ray", tmp_path / "out", corpus) == expected


@pytest.mark.needs("recipe-ray")
def test_ray_goes_on_after_a_kill(tmp_path: Path) -> None:
    folder, out = _texts(tmp_path / "in", 96), tmp_path / "out"
    command = [str(RECIPES / "ray/bin/python"), "-m", f"{MODULE}.ray_data", str(folder), str(out)]
    with (tmp_path / "log").open("wb") as log:
        killed = subprocess.Popen(command, env=_environment(), cwd=ROOT, stdout=log, stderr=log)
    done = tmp_path / "out.checkpoint"
    _until(lambda: any(".pending" not in path.name for path in done.glob("*.parquet")))
    children = psutil.Process(killed.pid).children(recursive=True)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    _until(lambda: not any(child.is_running() and child.status() != "zombie" for child in children))
    begun = json.loads(_run(RECIPES / "ray/bin/python", "-c", PRINT_ROWS, done))
    assert 0 < len(begun) < 96
    _run(*command)
    assert _parquet("ray", out, folder) == _bulk(folder, tmp_path / "bulk")


def _until(holds: Callable[[], bool], seconds: float = 180.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[BulkCloud]:
    with moto_server() as url, bulk_cloud(url, monkeypatch) as made:
        yield made


class Started:
    """A bucket with two objects, in place of the one that Airflow and Step Functions name, and what answers them."""

    def __init__(self, cloud: BulkCloud) -> None:
        self._cloud = cloud
        cloud.put({"in/day/a": b"a", "in/day/b": b"b"})

    def run(self, command: str) -> int:
        """The exit code of a command of a task, on the day `day`."""
        names = {"{{ ds }}": "day", "documents/in": f"{self._cloud.source}/in", "documents/out": self._cloud.target}
        for name, value in names.items():
            command = command.replace(name, value)
        name, *words = shlex.split(command)
        assert name == "gleaner"
        return main(words)

    def answer(self) -> None:
        """A fleet's worker works until all is answered."""

        async def work() -> None:
            async with working(self._cloud, EchoService(models={MODEL})):
                await until(lambda: "day/_SUCCESS" in self._cloud.objects(self._cloud.target))

        asyncio.run(work())

    def answers(self) -> list[str]:
        """The ids of the documents that `finish` wrote."""
        lines = self._cloud.objects(self._cloud.target)["day/documents.jsonl"].splitlines()
        return [json.loads(line)["document"]["id"] for line in lines]


@pytest.fixture
def started(cloud: BulkCloud, monkeypatch: pytest.MonkeyPatch) -> Started:
    monkeypatch.setenv("GLEANER_BULK_QUEUE", cloud.queue)
    monkeypatch.setenv("GLEANER_MODELS", MODEL)
    return Started(cloud)


def test_children_of_an_array_job_on_aws_batch_answer_a_shard_each(
    cloud: BulkCloud, corpus: Path, expected: Rows
) -> None:
    files = (path for path in corpus.rglob("*") if path.is_file())
    cloud.put({f"in/{path.relative_to(corpus)}": path.read_bytes() for path in files})
    shards: list[Rows] = []
    for index in "01":
        child = {"AWS_BATCH_JOB_ARRAY_INDEX": index, "AWS_BATCH_JOB_ARRAY_SIZE": "2"}
        source, out = f"s3://{cloud.source}/in/", cloud.output("out/")
        _run(sys.executable, "-m", f"{MODULE}.aws_batch", source, out, **child)
        shards.append(_of_storage(S3Storage(place_of(f"{out}{index}")), "in/"))
    assert all(shards)
    assert len(shards[0]) + len(shards[1]) == len(expected)
    assert shards[0] | shards[1] == expected


PRINT_TASKS = """
import json, runpy, sys
tasks = runpy.run_path(sys.argv[1])["dag"].topological_sort()
print(json.dumps([[each.bash_command, getattr(each, "retry_exit_code", None)] for each in tasks]))
"""


@pytest.mark.needs("recipe-airflow")
def test_airflows_tasks_start_wait_for_and_finish_a_job(started: Started, tmp_path: Path) -> None:
    home = {"AIRFLOW_HOME": str(tmp_path), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
    found = _run(RECIPES / "airflow/bin/python", "-c", PRINT_TASKS, PLACE / "airflow_dag.py", **home)
    (start, *_), (status, again), (finish, *_) = json.loads(found.splitlines()[-1])
    assert [started.run(command) for command in (start, status)] == [0, again]
    started.answer()
    assert [started.run(command) for command in (status, finish)] == [0, 0]
    assert started.answers() == ["a", "b"]


def test_step_functions_start_a_job_and_wait_for_it(started: Started) -> None:
    text = (PLACE / "step_functions.json").read_text()
    AmazonStateLanguageParser.parse(text)
    states, waits = json.loads(text)["States"], 0
    given = {"in": "s3://documents/in/day/", "out": "s3://documents/out/day/"}
    for name in _visited(states, "Start", given, started.run):
        waits += name == "Wait"
        if waits == 2:
            started.answer()
    assert (name, waits) == ("Status", 2)


@pytest.mark.parametrize(("code", "end"), [(1, "DeadLetters"), (2, "Failed")])
def test_step_functions_end_with_what_status_ends_with(code: int, end: str) -> None:
    states = json.loads((PLACE / "step_functions.json").read_text())["States"]
    codes = iter((0, 3, code))
    *_, last = _visited(states, "Start", {"in": "s3://a/in/", "out": "s3://a/out/"}, lambda _: next(codes))
    assert last == end


def _visited(states: dict[str, Any], name: str, data: dict[str, Any], run: Callable[[str], int]) -> Iterator[str]:
    """The states of a machine, one after another, with those fields of the language that the recipe has."""
    while True:
        yield name
        state = states[name]
        if state["Type"] == "Task":
            (overrides,) = state["Parameters"]["Overrides"]["ContainerOverrides"]
            words = re.findall(r"'([^']+)'|\$\.(\w+)", overrides["Command.$"])
            code = run(" ".join(["gleaner", *(word or data[field] for word, field in words)]))
            cause = json.dumps({"Containers": [{"ExitCode": code}]})
            state = {**state, **state["Catch"][0]} if code else state
            data = {**data, "failed": {"Cause": cause}}
        elif state["Type"] == "Pass":
            data = {**data, "task": json.loads(data["failed"]["Cause"])}
        elif state["Type"] == "Choice":
            code = data["task"]["Containers"][0]["ExitCode"]
            chosen = [each for each in state["Choices"] if each.get("NumericEquals") == code]
            state = chosen[0] if chosen else {"Next": state["Default"]}
        if "Next" not in state:
            return
        name = state["Next"]
