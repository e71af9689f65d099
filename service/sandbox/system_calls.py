"""The numbers of system calls on x86_64 and aarch64, as data, and the lists that a parser's filter is made of.

Numbers: the kernel's arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h. A call that one of
the two does not have is None there.
"""

from __future__ import annotations

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
"""What reading bytes into text takes once everything is imported: memory, its one connection, the clock, the end."""

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
"""No reader ever makes these, so whoever does is not a reader any more: the kernel ends it. All others fail (EPERM)."""


def numbers(table: Table, architecture: Architecture) -> list[int]:
    """The numbers of a table's calls on an architecture."""
    return [number for each in table.values() if (number := each[architecture.column]) is not None]
