"""The filter's program, run on a machine of our own, says of every call what its tables say."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from service.sandbox.syscall_filter import (
    ALLOW,
    ALLOWED,
    ALLOWED_UNLESS_EXECUTABLE,
    ARCHITECTURE_AT,
    ARCHITECTURES,
    END,
    EXECUTABLE,
    FAIL,
    FATAL,
    IF_AT_LEAST,
    IF_BITS,
    IF_EQUAL,
    LOAD,
    RETURN,
    THIRD_ARGUMENT_AT,
    Architecture,
    Table,
    encode,
    numbers,
    parser_filter,
)

MACHINES = [pytest.param(each, id=each.name) for each in ARCHITECTURES.values()]


def verdict(architecture: Architecture, number: int, *, third: int = 0, audit_value: int | None = None) -> int:
    """What the program says of a call."""
    words = {0: number, ARCHITECTURE_AT: audit_value or architecture.audit_value, THIRD_ARGUMENT_AT: third}
    program, at, value = parser_filter(architecture), 0, 0
    tests: dict[int, Callable[[int], bool]] = {
        IF_EQUAL: lambda k: value == k,
        IF_AT_LEAST: lambda k: value >= k,
        IF_BITS: lambda k: bool(value & k),
    }
    while True:
        code, if_true, if_false, k = program[at]
        at += 1
        if code == RETURN:
            return k
        if code == LOAD:
            value = words[k]
        else:
            at += if_true if tests[code](k) else if_false


def both(table: Table) -> set[int]:
    return {number for architecture in ARCHITECTURES.values() for number in numbers(table, architecture)}


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_the_tables_pass_end_the_process_or_fail(machine: Architecture) -> None:
    for number in numbers(ALLOWED, machine):
        assert verdict(machine, number) == ALLOW
    for number in numbers(FATAL, machine):
        assert verdict(machine, number) == END
    known = {*numbers(ALLOWED, machine), *numbers(FATAL, machine), *numbers(ALLOWED_UNLESS_EXECUTABLE, machine)}
    for number in set(range(500)) - known:
        assert verdict(machine, number) == FAIL


@pytest.mark.parametrize("machine", MACHINES)
def test_memory_is_given_unless_it_is_to_be_run(machine: Architecture) -> None:
    for number in numbers(ALLOWED_UNLESS_EXECUTABLE, machine):
        assert verdict(machine, number, third=3) == ALLOW
        assert verdict(machine, number, third=3 | EXECUTABLE) == FAIL


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_architecture_end_the_process(machine: Architecture) -> None:
    assert verdict(machine, 0, audit_value=0x40000003) == END
    if machine.foreign_above is not None:
        assert verdict(machine, machine.foreign_above + 1) == END


@pytest.mark.parametrize("machine", MACHINES)
def test_no_call_stands_in_two_tables(machine: Architecture) -> None:
    found = [number for table in (ALLOWED, ALLOWED_UNLESS_EXECUTABLE, FATAL) for number in numbers(table, machine)]
    assert len(found) == len(set(found))


def test_an_instruction_takes_eight_bytes() -> None:
    assert encode([(LOAD, 0, 0, 4), (IF_EQUAL, 1, 2, 0xC000003E)]) == struct.pack(
        "=HBBIHBBI", 0x20, 0, 0, 4, 0x15, 1, 2, 0xC000003E
    )
    assert len(encode(parser_filter(ARCHITECTURES["x86_64"]))) < 8 * 4096, "the kernel takes no longer ones"
