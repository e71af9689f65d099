"""Gives up what a process could do beyond its user's rights: capabilities, set-uid programs, the user root itself."""

from __future__ import annotations

import ctypes
import os
import struct

from service.sandbox.kernel import PR_SET_NO_NEW_PRIVS, prctl, system_call

NOBODY = 65534
_CAPSET = {"x86_64": 126, "aarch64": 91}
_VERSION_3 = 0x20080522


def gain_none() -> None:
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
