"""Metrics of several processes: their sum, their names, and values on a disk that is full."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prometheus_client.mmap_dict import MmapedDict

from service.environment import METRICS_VARIABLE
from service.metrics.prometheus import FIRST_BYTES, AllocatedValues, forget_process
from tests.support.metric_values import ALL_METRICS, signatures

PRELUDE = """
from service.core.worker_load import IDLE
from service.core.types import Load
from service.metrics.engine import BatchCounts, EngineMetrics
from service.metrics.prometheus import exposition
from service.metrics.worker import WorkerMetrics
"""
SHOW = "print(exposition().decode())"


def process(folder: Path, program: str) -> tuple[int, str]:
    """A process of the service that runs this; its id and what it printed."""
    environment = {**os.environ, METRICS_VARIABLE: str(folder)}
    command = [sys.executable, "-c", PRELUDE + program]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        printed, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    return child.pid, printed


def test_counters_of_processes_add_up_and_the_latest_gauge_counts(tmp_path: Path) -> None:
    process(tmp_path, "EngineMetrics().starts.inc(); EngineMetrics().batches.count(BatchCounts(1, 10, 0.5))")
    engine = "m = EngineMetrics(); m.starts.inc(); m.batches.count(BatchCounts(1, 5, 0.5))"
    engine += "; m.queue.update(Load(tokens=9), IDLE, 1, 2, 3)"
    engine += "; m.memory.budget_tokens.labels('old', 'sha256:0').set(512)"
    dead, _ = process(tmp_path, engine)
    process(tmp_path, "WorkerMetrics().documents.labels('ok').inc(4)")
    _, shown = process(tmp_path, "WorkerMetrics().documents.labels('ok').inc()\n" + SHOW)
    lines = shown.splitlines()
    for expected in (
        "gleaner_engine_starts_total 2.0",
        "gleaner_tokens_total 15.0",
        "gleaner_queue_tokens 9.0",
        'gleaner_documents_total{outcome="ok"} 5.0',
        'gleaner_budget_tokens{model="old",revision="sha256:0"} 512.0',
    ):
        assert expected in lines
    forget_process(dead, tmp_path)
    _, shown = process(tmp_path, SHOW)
    assert "gleaner_tokens_total 15.0" in shown.splitlines()
    assert 'model="old"' not in shown, "the next engine may hold other models"


WITH_CHILDREN = """
import json, subprocess, sys
from service.metrics.processes import ProcessMetrics
from service.metrics.prometheus import series
metrics = ProcessMetrics("worker", children="parser")
BUSY = "while __import__('time').process_time() < 0.3: pass\\nprint(flush=True)\\ninput()"
for _ in range(2):
    with subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        metrics.update()
        there = series()[("process_resident_memory_bytes", (("process", "parser"),))]
        child.communicate(b"\\n")
    metrics.update()
found = {f"{name} {labels[0][1]}": value for (name, labels), value in series().items()}
print(json.dumps({**found, "there": there}))
"""


def test_cpu_time_of_ended_processes_stays_and_their_memory_goes(tmp_path: Path) -> None:
    dead, printed = process(tmp_path, WITH_CHILDREN)
    found = json.loads(printed)
    assert found["process_cpu_seconds_total parser"] >= 0.5
    assert found["there"] > 1_000_000
    assert found["process_resident_memory_bytes parser"] == 0
    for name in ("cpu_seconds_total", "resident_memory_bytes", "open_fds", "max_fds", "start_time_seconds"):
        assert found[f"process_{name} worker"] > 0, name
    forget_process(dead, tmp_path)
    _, shown = process(tmp_path, SHOW)
    assert 'process_cpu_seconds_total{process="parser"}' in shown
    assert "process_resident_memory_bytes" not in shown


MANY = 2_000
"""Keys that take more than the first pages of a file."""


def in_file(path: Path) -> dict[str, float]:
    return {key: value for key, value, _, _ in MmapedDict.read_all_values_from_file(str(path))}  # type: ignore[no-untyped-call]


def fill(values: AllocatedValues, count: int = MANY) -> None:
    for number in range(count):
        values.read_value(f"key {number} with a rather long name")  # type: ignore[no-untyped-call]
        values.write_value(f"key {number} with a rather long name", float(number), 0.0)  # type: ignore[no-untyped-call]


def held(values: AllocatedValues) -> dict[str, float]:
    return {key: value for key, value, _ in values.read_all_values()}  # type: ignore[no-untyped-call]


Opened = Callable[[Path], AllocatedValues]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens values, and closes them after the test."""
    made: list[AllocatedValues] = []

    def open_values(path: Path) -> AllocatedValues:
        made.append(AllocatedValues(str(path)))
        return made[-1]

    yield open_values
    for values in made:
        values.close()  # type: ignore[no-untyped-call]


def test_every_page_of_a_file_is_allocated_before_it_is_mapped(tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "counter_1.db"
    values = opened(path)
    assert path.stat().st_blocks * 512 >= FIRST_BYTES
    fill(values)
    assert len(in_file(path)) == MANY
    assert path.stat().st_size > FIRST_BYTES
    assert path.stat().st_blocks * 512 >= path.stat().st_size
    again = opened(path)
    assert held(again) == held(values)
    assert [each.name for each in tmp_path.iterdir()] == ["counter_1.db"]


@pytest.mark.parametrize("room", [0, FIRST_BYTES])
def test_without_space_values_go_on_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opened, room: int
) -> None:
    allocate = os.posix_fallocate

    def limited(descriptor: int, offset: int, size: int) -> None:
        if offset + size > room:
            raise OSError(errno.ENOSPC, "no space")
        allocate(descriptor, offset, size)

    monkeypatch.setattr(os, "posix_fallocate", limited)
    path = tmp_path / "counter_1.db"
    values = opened(path)
    fill(values)
    assert len(held(values)) == MANY
    assert held(values)["key 1999 with a rather long name"] == 1999.0
    if room:
        assert 0 < len(in_file(path)) < MANY
    else:
        assert list(tmp_path.iterdir()) == [], "a file without content would fail those who read all of them"


PROGRAM = """
import os, sys
from pathlib import Path
folder = Path(sys.argv[1])
with (folder / "filler").open("wb") as filler:
    try:
        while True:
            os.write(filler.fileno(), bytes(4096))
    except OSError:
        pass
from service.metrics.engine import EngineMetrics
from service.metrics.prometheus import exposition
metrics = EngineMetrics()
for number in range(3_000):
    metrics.refusals.labels(f"a code with a long name {number}").inc()
print(len(exposition()))
"""


@pytest.mark.needs("mounts")
def test_a_process_lives_through_a_full_disk(tmp_path: Path) -> None:
    """A file system of its own, of 1 MiB; with sparse files the kernel kills the process (SIGBUS)."""
    mounted = 'mount -t tmpfs -o size=1m none "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", mounted, "sh", str(tmp_path), sys.executable]
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    ended = subprocess.run(
        [*command, PROGRAM], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended


METRICS: dict[str, tuple[str, ...]] = {
    "gleaner_backlog_seconds": ("gauge",),
    "gleaner_bad_messages": ("counter",),
    "gleaner_batch_fill": ("histogram",),
    "gleaner_batch_splits": ("counter",),
    "gleaner_batches": ("counter",),
    "gleaner_budget_tokens": ("gauge", "model", "revision"),
    "gleaner_build_info": ("gauge", "version", "python"),
    "gleaner_bulk_backlog_seconds": ("gauge",),
    "gleaner_bulk_dead_letters": ("gauge",),
    "gleaner_bulk_deadline_left_seconds": ("gauge",),
    "gleaner_bulk_stage_work_ratio": ("gauge", "stage"),
    "gleaner_bulk_tasks_wanted": ("gauge",),
    "gleaner_busy_seconds": ("counter",),
    "gleaner_capacity_tokens_per_second": ("gauge",),
    "gleaner_client_documents": ("counter", "client"),
    "gleaner_client_tokens": ("counter", "client"),
    "gleaner_cloudwatch_deliveries": ("counter", "outcome"),
    "gleaner_connection_drops": ("counter", "reason"),
    "gleaner_connection_refusals": ("counter", "code"),
    "gleaner_connections": ("gauge",),
    "gleaner_documents": ("counter", "outcome"),
    "gleaner_engine_starts": ("counter",),
    "gleaner_entities": ("counter",),
    "gleaner_event_loop_lag_seconds": ("gauge",),
    "gleaner_failed_keys": ("counter", "code"),
    "gleaner_failed_readers": ("counter", "reader", "error"),
    "gleaner_gpu_clock_hertz": ("gauge", "clock"),
    "gleaner_gpu_ecc_errors": ("gauge", "kind"),
    "gleaner_gpu_lost": ("gauge",),
    "gleaner_gpu_memory_total_bytes": ("gauge",),
    "gleaner_gpu_memory_used_bytes": ("gauge",),
    "gleaner_gpu_power_limit_watts": ("gauge",),
    "gleaner_gpu_power_watts": ("gauge",),
    "gleaner_gpu_temperature_celsius": ("gauge",),
    "gleaner_gpu_throttled": ("gauge", "reason"),
    "gleaner_gpu_utilization_ratio": ("gauge",),
    "gleaner_gpu_xid_errors": ("counter", "xid"),
    "gleaner_held_bytes": ("gauge",),
    "gleaner_keys_rejected": ("gauge",),
    "gleaner_memory_available_bytes": ("gauge",),
    "gleaner_memory_bytes_per_token": ("gauge", "model", "revision"),
    "gleaner_memory_fit_error_ratio": ("gauge", "model", "revision"),
    "gleaner_memory_rest_bytes": ("gauge",),
    "gleaner_memory_room_bytes": ("gauge",),
    "gleaner_memory_shrinks": ("counter",),
    "gleaner_memory_splits": ("counter",),
    "gleaner_model_move_seconds": ("counter", "direction"),
    "gleaner_model_moves": ("counter", "direction"),
    "gleaner_model_path": ("gauge", "model", "revision", "path", "attention", "kernels", "dtype", "reason"),
    "gleaner_model_queue_tokens": ("gauge", "model"),
    "gleaner_model_tokens": ("counter", "model"),
    "gleaner_models": ("gauge", "place"),
    "gleaner_parser_deaths": ("counter",),
    "gleaner_parser_sandbox": ("gauge", "part"),
    "gleaner_parser_wait_seconds": ("gauge",),
    "gleaner_phase": ("gauge", "phase"),
    "gleaner_queue_documents": ("gauge",),
    "gleaner_queue_oldest_age_seconds": ("gauge",),
    "gleaner_queue_sequences": ("gauge",),
    "gleaner_queue_tokens": ("gauge",),
    "gleaner_rasterized_pages": ("counter",),
    "gleaner_redacted_entities": ("counter",),
    "gleaner_refusals": ("counter", "code"),
    "gleaner_request_seconds": ("histogram", "route"),
    "gleaner_requests": ("counter", "route", "status"),
    "gleaner_requests_in_flight": ("gauge",),
    "gleaner_resubmitted_documents": ("counter",),
    "gleaner_revision_rejected": ("gauge", "model", "tag"),
    "gleaner_revision_switches": ("counter", "model", "tag", "outcome"),
    "gleaner_server_errors": ("counter", "code"),
    "gleaner_stage_seconds": ("histogram", "stage"),
    "gleaner_stage_work_ratio": ("gauge", "stage"),
    "gleaner_start_seconds": ("gauge", "part"),
    "gleaner_tokens": ("counter",),
    "gleaner_weight_bytes": ("gauge", "place"),
    "gleaner_work_ratio": ("gauge",),
    "process_cpu_seconds": ("counter", "process"),
    "process_max_fds": ("gauge", "process"),
    "process_open_fds": ("gauge", "process"),
    "process_resident_memory_bytes": ("gauge", "process"),
    "process_start_time_seconds": ("gauge", "process"),
}
"""Name → kind, labels. A change here is a change for everybody who reads `/metrics`."""


def test_names_kinds_and_labels_are_those_of_the_interface() -> None:
    found = [each for kind in ALL_METRICS for each in signatures(kind())]
    assert len({name for name, *_ in found}) == len(set(found)), "a name has two meanings"
    assert {name: tuple(rest) for name, *rest in found} == METRICS
