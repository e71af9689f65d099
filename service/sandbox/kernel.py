"""Linux confinement calls that Python's `os` lacks, by ctypes; each raises OSError if it fails. Knows no policy.

Namespaces, an empty root, dropped privileges, Landlock and a seccomp filter; what is combined when is in `apply`.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

from service.sandbox.syscall_filter import ARCHITECTURES, encode, parser_filter

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


_NEW_USER, _MOUNT, _PID, _NET, _IPC, _UTS = 0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000
_WORLD = _MOUNT | _PID | _NET | _IPC | _UTS
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC, _RECURSIVE, _PRIVATE = 0x1, 0x2, 0x4, 0x8, 0x4000, 0x40000
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_COVERED = b"/proc"
"""Existing folder over which the empty file system is mounted before it becomes the root."""


def enter_namespaces() -> bool:
    """Enter new namespaces, in a user namespace as an unprivileged process must; returns whether the user's is new too.

    The next child is process 1 of the new process namespace: it sees only its own children, which end with it.

    Raises:
        OSError: neither is allowed here.
    """
    try:
        unshare(_NEW_USER | _WORLD)
    except OSError:
        unshare(_WORLD)
        return False
    return True


def empty_root() -> None:
    """Make an empty, read-only file system the root of this process; needs a mount namespace of its own.

    Raises:
        OSError: not allowed here.
    """
    flags = _READ_ONLY | _NO_SUID | _NO_DEVICES | _NO_EXEC
    mount(None, b"/", None, _RECURSIVE | _PRIVATE)
    mount(b"none", _COVERED, b"tmpfs", flags, b"size=4k,nr_inodes=2")
    os.chdir(_COVERED)
    system_call(_PIVOT_ROOT[os.uname().machine], b".", b".")
    detach(b".")
    os.chdir("/")


NOBODY = 65534
_CAPSET = {"x86_64": 126, "aarch64": 91}
_VERSION_3 = 0x20080522


def gain_no_privileges() -> None:
    """Never gain privileges by starting a program: PR_SET_NO_NEW_PRIVS."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def become_nobody() -> None:
    """If this process is root, take the user and group `nobody`, and no other group."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def drop_capabilities() -> None:
    """Drop all capabilities of this process: capset(2)."""
    header = ctypes.create_string_buffer(struct.pack("=Ii", _VERSION_3, 0))
    data = ctypes.create_string_buffer(bytes(24))
    system_call(_CAPSET[os.uname().machine], header, data)


_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_ASK_VERSION = 1
_FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 5: 0xFFFF}
_TCP, _TCP_SINCE = 0x3, 4
_SIGNALS_AND_ABSTRACT_SOCKETS, _SCOPES_SINCE = 0x3, 6


def landlock_version() -> int:
    """The kernel's version of Landlock.

    Raises:
        OSError: it has none, or does not let this process ask.
    """
    return system_call(_CREATE_RULESET, ctypes.c_void_p(None), ctypes.c_size_t(0), _ASK_VERSION)


def landlock_ruleset(abi: int) -> bytes:
    """The attributes of a ruleset that denies all that this version knows (struct landlock_ruleset_attr). Pure."""
    files = max(bits for since, bits in _FILES.items() if since <= abi)
    attributes = struct.pack("=Q", files)
    if abi >= _TCP_SINCE:
        attributes += struct.pack("=Q", _TCP)
    if abi >= _SCOPES_SINCE:
        attributes += struct.pack("=Q", _SIGNALS_AND_ABSTRACT_SOCKETS)
    return attributes


def deny_files_and_network() -> None:
    """Deny this process, for good, what Landlock can deny; needs `no_new_privs`. Open descriptors stay usable.

    Raises:
        OSError: the kernel has no Landlock, or it is off.
    """
    attributes = landlock_ruleset(landlock_version())
    descriptor = system_call(_CREATE_RULESET, ctypes.c_char_p(attributes), ctypes.c_size_t(len(attributes)), 0)
    try:
        system_call(_RESTRICT_SELF, descriptor, 0)
    finally:
        os.close(descriptor)


_MODE_FILTER = 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class ParserFilter:
    """A parser's filter, made ready for this machine before the first process needs it."""

    def __init__(self) -> None:
        architecture = ARCHITECTURES.get(os.uname().machine)
        if architecture is None:
            raise OSError(f"no table of system calls for {os.uname().machine}")
        code = encode(parser_filter(architecture))
        self._program = _Program(len(code) // 8, code)

    def install(self) -> None:
        """Filter this process from now on; needs `no_new_privs`.

        Raises:
            OSError: the kernel has no filters, or does not allow this process one.
        """
        prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(self._program))
