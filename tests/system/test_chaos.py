"""Twelve seconds of what `make chaos` keeps up for minutes, with every kind of fault that is short."""

from __future__ import annotations

import asyncio
import time

from loadtest.chaos.__main__ import SETTINGS, TENANT
from loadtest.chaos.experiment import Plan, run_chaos
from loadtest.chaos.faults import all_faults
from loadtest.chaos.subject import Subject, make_questions
from loadtest.managed_service import ManagedService

SECONDS = 12.0
LONG = ("20 s", "at once")


def test_requests_are_answered_or_refused_while_processes_die() -> None:
    seed = int(time.time())
    faults = [fault for fault in all_faults() if not any(part in fault.name for part in LONG)]
    with ManagedService(SETTINGS, [TENANT], needs_store=True) as service:
        subject = Subject(service, make_questions(seed, key=service.keys[TENANT]))
        ledger = asyncio.run(run_chaos(subject, Plan(SECONDS, faults, seed)))
    assert not ledger.findings(), "\n".join([f"seed {seed}", *ledger.table(), *ledger.findings()])
    assert ledger.faults
