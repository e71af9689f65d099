"""`python -m loadtest.chaos`: random faults for minutes; exit code 1 if an answer was wrong or lost for no reason."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from random import SystemRandom

from loadtest.chaos.experiment import Plan, run_chaos
from loadtest.chaos.faults import all_faults, remote_store, small_disk
from loadtest.chaos.subject import Subject, make_questions
from loadtest.cli import end_on_sigterm
from loadtest.managed_service import ManagedService

TENANT = "steady"
DISK_MEGABYTES = 128
MOST_SHOWN = 30
"""Findings that are printed."""
SETTINGS: dict[str, str | int | float] = {
    "MODELS": "documents",
    "DTYPE": "float32",
    "WORKERS": 2,
    "PARSERS": 1,
    "DEADLINE_MS": 30_000,
    "MODEL_POLL_SECONDS": 1,
    "LOG_LEVEL": "WARNING",
}


def main() -> int:
    """Run, print what happened, and the findings if there are any."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="default: 10")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6), help="default: a new one")
    parser.add_argument("--only", action="append", metavar="FAULT", help="part of a fault's name (may be repeated)")
    parser.add_argument("--no-remote", action="store_true", help="without a remote store")
    chosen = parser.parse_args()
    end_on_sigterm()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gleaner-chaos-")))
        small = stack.enter_context(small_disk(home / "uploads", DISK_MEGABYTES))
        os.environ["TMPDIR"] = str(home / "uploads")
        remote = stack.enter_context(remote_store(home)) if not chosen.no_remote else None
        faults = [
            fault
            for fault in all_faults(home / "uploads" if small else None, remote)
            if chosen.only is None or any(part in fault.name for part in chosen.only)
        ]
        print(f"seed {chosen.seed}; {len(faults)} kinds of faults; uploads on a small disk: {small}", flush=True)
        service = ManagedService(SETTINGS, [TENANT], needs_store=True)
        if remote:
            os.environ.update(remote.service_variables)
            service.publish_through(remote.publisher_variables)
        stack.enter_context(service)
        subject = Subject(service, make_questions(chosen.seed, key=service.keys[TENANT]))
        plan = Plan(60 * chosen.minutes, faults, chosen.seed)
        ledger = asyncio.run(run_chaos(subject, plan, lambda line: print(line, flush=True)))
    print("\n".join(["", *ledger.table(), ""]))
    findings = ledger.findings()
    print("\n".join([f"{len(findings)} findings", *(f"FOUND: {each}" for each in findings[:MOST_SHOWN])]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
