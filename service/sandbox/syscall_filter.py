"""The filter of system calls of a parser: tables of call numbers, and the BPF program assembled from them. Pure.

Numbers: the kernel's arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h. A call that one of
the two architectures does not have is None there.
Encoding: struct sock_filter (uint16 code, uint8 jump if true, uint8 jump if false, uint32 k) over struct seccomp_data
(int32 number, uint32 architecture, uint64 address, uint64 arguments[6]); see seccomp(2).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Architecture:
    """A processor architecture: its AUDIT_ARCH value, and its column in the tables."""

    name: str
    audit_value: int
    column: int
    foreign_above: int | None = None
    """Numbers from here on are of another calling convention (x32), which is let nothing through."""


ARCHITECTURES = {
    "x86_64": Architecture("x86_64", 0xC000003E, 0, foreign_above=0x40000000),
    "aarch64": Architecture("aarch64", 0xC00000B7, 1),
}
"""Machine as `os.uname()` names it → architecture."""

Table = dict[str, tuple[int | None, int | None]]

ALLOWED: Table = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "close": (3, 57),
    "lseek": (8, 62),
    "fstat": (5, 80),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "brk": (12, 214),
    "madvise": (28, 233),
    "futex": (202, 98),
    "membarrier": (324, 283),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "sched_yield": (24, 124),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
"""System calls that read bytes into text once all is imported: memory, its one connection, the clock, the end."""

ALLOWED_UNLESS_EXECUTABLE: Table = {"mmap": (9, 222), "mprotect": (10, 226)}
"""Allowed, but memory that is to be run as code is refused."""

FATAL: Table = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "execve": (59, 221),
    "execveat": (322, 281),
    "clone": (56, 220),
    "clone3": (435, 435),
    "fork": (57, None),
    "vfork": (58, None),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "socket": (41, 198),
    "connect": (42, 203),
    "sendmsg": (46, 211),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "memfd_create": (319, 279),
}
"""Calls that no reader makes: the kernel kills a process that makes one. All other calls fail with EPERM."""


def numbers(table: Table, architecture: Architecture) -> list[int]:
    """The numbers of a table's calls on an architecture."""
    return [number for each in table.values() if (number := each[architecture.column]) is not None]


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
