"""Namespaces of its own for a process and its children: no network, no other process, and an empty file system."""

from __future__ import annotations

import os

from service.sandbox.kernel import detach, mount, system_call, unshare

_USER, _MOUNT, _PID, _NET, _IPC, _UTS = 0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000
_WORLD = _MOUNT | _PID | _NET | _IPC | _UTS
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC, _RECURSIVE, _PRIVATE = 0x1, 0x2, 0x4, 0x8, 0x4000, 0x40000
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_COVERED = b"/proc"
"""Any folder that is there: the empty file system is mounted over it and then becomes the root."""


def enter() -> bool:
    """Enter new namespaces, in a user namespace as an unprivileged process must; returns whether the user's is new too.

    The next child is process 1 of the new process namespace: it sees only its own children, which end with it.

    Raises:
        OSError: neither is allowed here.
    """
    try:
        unshare(_USER | _WORLD)
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
