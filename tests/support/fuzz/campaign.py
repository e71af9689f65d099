"""A fuzz campaign against one target: inputs by seed, in a child process, since an input may kill it."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Protocol

PIECE = 250
"""Inputs for one child process."""
SLOW_CPU_SECONDS = 5.0
MEMORY_BYTES = 4 << 30
CHILD_SECONDS = 600.0


class Target(Protocol):
    """Something that reads bytes from outside. `attack` names what came of it, or raises what it must never raise."""

    name: str

    def make(self, draw: Random) -> bytes: ...

    def attack(self, data: bytes) -> str: ...


@dataclass(slots=True)
class FuzzReport:
    """What came of a campaign's inputs; a finding has the input's number, which the seed makes again."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    slowest_cpu_seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def row(self) -> str:
        """A row in Markdown."""
        outcomes = ", ".join(f"{count} {name}" for name, count in self.outcomes.most_common(6))
        figures = f"{self.inputs} | {self.seconds:.0f} | {self.slowest_cpu_seconds:.2f}"
        return f"| {self.target} | {figures} | {len(self.findings)} | {outcomes} |"


def run_campaign(target: Target, inputs: int, seed: int, say: Callable[[str], None]) -> FuzzReport:
    """Attack with this many inputs; a child that dies is a finding, and the next input goes to another child."""
    report, begun, number = FuzzReport(target.name), time.monotonic(), 0
    while number < inputs:
        number = _run_child(target, seed, number, min(number + PIECE, inputs), report)
        report.inputs, report.seconds = number, time.monotonic() - begun
        if number % (PIECE * 40) == 0:
            say(report.row())
    return report


def input_of(target: Target, seed: int, number: int) -> bytes:
    """The input of this number."""
    return target.make(Random(f"{target.name} {seed} {number}"))


def _run_child(target: Target, seed: int, first: int, end: int, report: FuzzReport) -> int:
    """Run inputs `first` to `end` in a child process; returns the number of the next input."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_attack, args=(target, seed, first, end, theirs))
    child.start()
    theirs.close()
    done = first
    try:
        while done < end and ours.poll(CHILD_SECONDS):
            outcome, cpu_seconds, finding = ours.recv()
            report.outcomes[outcome] += 1
            report.slowest_cpu_seconds = max(report.slowest_cpu_seconds, cpu_seconds)
            if finding:
                report.findings.append(f"{target.name} seed {seed} input {done}: {finding}")
            done += 1
    except EOFError:
        pass
    if done < end:
        child.kill()
    child.join()
    if done == end:
        return end
    report.outcomes["killed its process"] += 1
    report.findings.append(f"{target.name} seed {seed} input {done}: its process ended with {child.exitcode}")
    return done + 1


def _attack(target: Target, seed: int, first: int, end: int, sink: Connection) -> None:
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY_BYTES, mapped + MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in range(first, end):
        data = input_of(target, seed, number)
        begun, finding = time.process_time(), ""
        try:
            outcome = target.attack(data)
        except Exception as error:
            outcome, finding = "wrong error", f"{type(error).__name__}: {str(error)[:200]}"
        cpu_seconds = time.process_time() - begun
        if cpu_seconds > SLOW_CPU_SECONDS:
            finding = finding or f"{cpu_seconds:.1f} s of processor"
        sink.send((outcome, cpu_seconds, finding))
    sink.close()
