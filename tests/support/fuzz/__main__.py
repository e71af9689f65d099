"""`python -m tests.support.fuzz`: fuzzes files, bodies, messages, readers and the port; exit code 1 on a finding."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from random import SystemRandom

from loadtest.service_process import ServiceProcess, clean_environment, processes_running, settings_environment
from tests.support.fuzz.body_target import BodyTarget
from tests.support.fuzz.campaign import FuzzReport, Target, run_campaign
from tests.support.fuzz.file_target import file_targets
from tests.support.fuzz.http_target import HttpTarget
from tests.support.fuzz.reading_target import ReadingTarget
from tests.support.fuzz.wire import MessageTarget

SHARES = {
    "pdf": 0.15,
    "docx": 0.1,
    "html": 0.15,
    "text": 0.03,
    "csv": 0.02,
    "OCR result": 0.05,
    "any format": 0.1,
    "body": 0.2,
    "message": 0.1,
}
SHARES |= {"reading": 0.05, "http": 0.05}
"""Shares of all inputs."""
MOST_SHOWN = 20
"""Findings."""


def main() -> int:
    """Fuzz every target, print a table, and the findings if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=200_000, help="default: 200000")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6), help="default: a new one")
    parser.add_argument("--only", action="append", choices=[*SHARES], help="this target (may be repeated)")
    chosen = parser.parse_args()
    wanted = chosen.only or [*SHARES]
    total = sum(SHARES[name] for name in wanted)
    counts = {name: round(chosen.inputs * SHARES[name] / total) for name in wanted}
    print(
        f"seed {chosen.seed}\n| target | inputs | s | slowest CPU s | findings | outcomes |\n|---|---|---|---|---|---|"
    )
    targets: list[Target] = [*file_targets(), BodyTarget(), MessageTarget(), ReadingTarget()]
    reports = [_run(each, counts[each.name], chosen.seed) for each in targets if each.name in counts]
    if "http" in counts:
        reports.append(_run_http(counts["http"], chosen.seed))
    findings = [finding for report in reports for finding in report.findings]
    print(
        "\n".join(["", f"{sum(report.inputs for report in reports)} inputs", *(f"FOUND: {each}" for each in findings)])
    )
    return 1 if findings else 0


def _run(target: Target, inputs: int, seed: int) -> FuzzReport:
    report = run_campaign(target, inputs, seed, lambda line: print(line, file=sys.stderr))
    print(report.row(), flush=True)
    return report


def _run_http(inputs: int, seed: int) -> FuzzReport:
    with tempfile.TemporaryDirectory(prefix="gleaner-fuzz-") as home:
        settings = settings_environment(
            {"LOG_LEVEL": "ERROR", "MODELS": "documents", "MODEL_STORE": Path(home) / "store"}
        )
        with ServiceProcess(Path(home) / "serve.log", {**clean_environment(), **settings}) as service:
            before = _processes(service.process.pid)
            report = _run(HttpTarget(("127.0.0.1", service.port)), inputs, seed)
            if _processes(service.process.pid) != before:
                report.findings.append("http: a process of the service was replaced")
    return report


def _processes(root: int) -> set[int]:
    return {process.pid for module in ("service.engine", "service.api") for process in processes_running(module, root)}


if __name__ == "__main__":
    sys.exit(main())
