"""The filter of system calls as a program for the kernel's BPF machine, assembled from tables. Pure.

Encoding: struct sock_filter (uint16 code, uint8 jump if true, uint8 jump if false, uint32 k) over struct seccomp_data
(int32 number, uint32 architecture, uint64 address, uint64 arguments[6]); see seccomp(2).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from service.sandbox.system_calls import ALLOWED, ALLOWED_UNLESS_EXECUTABLE, FATAL, Architecture, numbers

LOAD, IF_EQUAL, IF_AT_LEAST, IF_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, FAIL, END = 0x7FFF0000, 0x00050000 | 1, 0x80000000
"""Actions: allow; fail with EPERM; end the process (SECCOMP_RET_KILL_PROCESS)."""
NUMBER_AT, ARCHITECTURE_AT, THIRD_ARGUMENT_AT = 0, 4, 32
EXECUTABLE = 4

Instruction = tuple[int, int, int, int]


def parser_filter(architecture: Architecture) -> list[Instruction]:
    """The program of a parser: its table's calls pass, hostile ones end it, all others fail."""
    return list(_instructions(architecture))


def encode(program: list[Instruction]) -> bytes:
    """The program as the kernel reads it."""
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _instructions(architecture: Architecture) -> Iterator[Instruction]:
    yield LOAD, 0, 0, ARCHITECTURE_AT
    yield IF_EQUAL, 1, 0, architecture.audit_value
    yield RETURN, 0, 0, END
    yield LOAD, 0, 0, NUMBER_AT
    if architecture.foreign_above is not None:
        yield IF_AT_LEAST, 0, 1, architecture.foreign_above
        yield RETURN, 0, 0, END
    for number in numbers(ALLOWED, architecture):
        yield IF_EQUAL, 0, 1, number
        yield RETURN, 0, 0, ALLOW
    for number in numbers(ALLOWED_UNLESS_EXECUTABLE, architecture):
        yield IF_EQUAL, 0, 4, number
        yield LOAD, 0, 0, THIRD_ARGUMENT_AT
        yield IF_BITS, 0, 1, EXECUTABLE
        yield RETURN, 0, 0, FAIL
        yield RETURN, 0, 0, ALLOW
    for number in numbers(FATAL, architecture):
        yield IF_EQUAL, 0, 1, number
        yield RETURN, 0, 0, END
    yield RETURN, 0, 0, FAIL
