"""The sandbox on this kernel and on poorer ones: each part may be missing, the others hold, and the report says so."""

from __future__ import annotations

import json
import os
import resource
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.sandbox import kernel
from service.sandbox.apply import (
    SPARE_CPU_SECONDS,
    ParserSandbox,
    ProcessLimits,
    SandboxMode,
    SandboxPart,
    SandboxReport,
)
from service.sandbox.kernel import ParserFilter

LIMITS = ProcessLimits(memory_bytes=2**31, cpu_seconds=7.5)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is made of Linux's parts")


def in_child(work: Callable[[], object]) -> object:
    """What `work` returns in a forked process, which may give up whatever it likes; its exit code if it died."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(sink, json.dumps(work()).encode())
        finally:
            os._exit(7)
    os.close(sink)
    with open(source, "rb") as answer:
        data = answer.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(data) if data else status


def denied(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


WHERE: dict[str, tuple[object, str]] = {
    "landlock": (kernel, "deny_files_and_network"),
    "namespaces": (kernel, "enter_namespaces"),
    "seccomp": (ParserFilter, "__init__"),
}


def deny(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    owner, name = WHERE[part]
    monkeypatch.setattr(owner, name, denied)


def enclosed(work: Callable[[], object], mode: SandboxMode = SandboxMode.AUTO) -> list[Any]:
    """The given parts of the sandbox and what `work` returns in it."""

    def inside() -> object:
        sandbox = ParserSandbox(mode, LIMITS)
        if sandbox.enter_namespaces() and (child := os.fork()):
            os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        sandbox.close()
        sandbox.restrict()
        return [sorted(sandbox.report.given), sandbox.report.holds, work()]

    found = in_child(inside)
    assert isinstance(found, list)
    return found


def can_open(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


@pytest.mark.parametrize("missing", ["landlock", "namespaces", "seccomp"])
def test_without_one_part_the_others_still_keep_files_away(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deny(monkeypatch, missing)
    given, holds, opened = enclosed(lambda: can_open("/"))
    assert missing not in given
    assert holds == (missing != "seccomp")
    assert not opened


def test_without_any_part_the_limits_are_left_and_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for part in WHERE:
        deny(monkeypatch, part)

    def limits() -> object:
        return [
            resource.getrlimit(each)[1] for each in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE)
        ]

    assert enclosed(limits) == [["no_privileges"], False, [2**31, 8 + SPARE_CPU_SECONDS, 0]]


def test_switched_off_it_gives_nothing_but_limits() -> None:
    assert enclosed(lambda: resource.getrlimit(resource.RLIMIT_NPROC)[1], SandboxMode.OFF) == [[], False, 0]


def test_privileges_are_gone_for_good() -> None:
    def status() -> list[str]:
        wanted = ("CapEff", "CapPrm", "NoNewPrivs")
        lines = Path("/proc/self/status").read_text().splitlines()
        return [line.split()[1] for line in lines if line.startswith(wanted)]

    def inside() -> object:
        sandbox = ParserSandbox(SandboxMode.AUTO, LIMITS)
        sandbox._drop_privileges()
        return [*status(), os.geteuid() != 0]

    assert in_child(inside) == ["0" * 16, "0" * 16, "1", True]


def test_a_filter_that_was_withdrawn_is_not_installed() -> None:
    def inside() -> object:
        sandbox = ParserSandbox(SandboxMode.AUTO, LIMITS)
        sandbox.close()
        sandbox.withdraw(SandboxPart.SECCOMP, "not here")
        sandbox.restrict()
        return [os.getppid() > 0, sandbox.report.missing[SandboxPart.SECCOMP]]

    assert in_child(inside) == [True, "not here"]


def test_landlock_is_asked_for_what_its_version_knows() -> None:
    sizes = {abi: len(kernel.landlock_ruleset(abi)) for abi in range(1, 9)}
    assert sizes == {1: 8, 2: 8, 3: 8, 4: 16, 5: 16, 6: 24, 7: 24, 8: 24}
    files = {abi: struct.unpack_from("=Q", kernel.landlock_ruleset(abi))[0] for abi in range(1, 6)}
    assert files == {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}


def test_a_report_knows_whether_the_sandbox_holds() -> None:
    report = SandboxReport().with_part(SandboxPart.LANDLOCK).with_part(SandboxPart.SECCOMP)
    assert not report.holds
    assert report.with_part(SandboxPart.NO_PRIVILEGES).holds
    assert not report.with_part(SandboxPart.NO_PRIVILEGES).without(SandboxPart.SECCOMP, "no").holds
