"""Calls of the Linux kernel that Python's `os` lacks, by ctypes: each raises OSError if it fails. Knows no policy."""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38

_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def prctl(option: int, value: int = 0, pointer: object = 0) -> int:
    """Call prctl(2) with one value and, where the option takes one, a pointer."""
    libc = _linux()
    unused = ctypes.c_ulong(0)
    argument = pointer if not isinstance(pointer, int) else ctypes.c_ulong(pointer)
    return _checked(libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), argument, unused, unused))


def system_call(number: int, *arguments: object) -> int:
    """Make a system call by its number; integers are passed as longs."""
    libc = _linux()
    return _checked(libc.syscall(ctypes.c_long(number), *(_long(each) for each in arguments)))


def unshare(flags: int) -> None:
    """Give this process namespaces of its own: unshare(2)."""
    _checked(_linux().unshare(ctypes.c_int(flags)))


def mount(source: bytes | None, target: bytes, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
    """Call mount(2)."""
    _checked(_linux().mount(source, target, kind, ctypes.c_ulong(flags), options))


def detach(target: bytes) -> None:
    """Take a mounted file system out of the tree, at once for new users: umount2(2) with MNT_DETACH."""
    _checked(_linux().umount2(target, ctypes.c_int(2)))


def _linux() -> ctypes.CDLL:
    if _LIBC is None:
        raise OSError("not Linux")
    return _LIBC


def _long(value: object) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else value


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
