"""The sum of all processes' metrics: what is added up, what is replaced, what goes with its process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from service.environment import METRICS_VARIABLE
from service.metrics.exposition import forget_process

PRELUDE = """
from service.core.worker_load import IDLE
from service.core.types import Load
from service.metrics.engine import BatchCounts, EngineMetrics
from service.metrics.exposition import exposition
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
    engine += "; m.memory.budget_tokens.labels('old').set(512)"
    dead, _ = process(tmp_path, engine)
    process(tmp_path, "WorkerMetrics().documents.labels('ok').inc(4)")
    _, shown = process(tmp_path, "WorkerMetrics().documents.labels('ok').inc()\n" + SHOW)
    lines = shown.splitlines()
    for expected in (
        "gleaner_engine_starts_total 2.0",
        "gleaner_tokens_total 15.0",
        "gleaner_queue_tokens 9.0",
        'gleaner_documents_total{outcome="ok"} 5.0',
        'gleaner_budget_tokens{model="old"} 512.0',
    ):
        assert expected in lines
    forget_process(dead, tmp_path)
    _, shown = process(tmp_path, SHOW)
    assert "gleaner_tokens_total 15.0" in shown.splitlines()
    assert 'model="old"' not in shown, "the next engine may hold other models"


def test_forgetting_a_process_without_metrics_is_no_error(tmp_path: Path) -> None:
    forget_process(12345, tmp_path)


def test_the_exposition_of_no_process_is_empty(tmp_path: Path) -> None:
    assert process(tmp_path, SHOW)[1].strip() == ""
