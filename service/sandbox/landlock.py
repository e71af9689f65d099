"""Denies the calling process and its children all files, TCP, and signals to the world outside: landlock(7)."""

from __future__ import annotations

import ctypes
import os
import struct

from service.sandbox.kernel import system_call

_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_VERSION = 1
_FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 5: 0xFFFF}
_TCP, _TCP_SINCE = 0x3, 4
_SIGNALS_AND_ABSTRACT_SOCKETS, _SCOPES_SINCE = 0x3, 6


def version() -> int:
    """The kernel's version of Landlock.

    Raises:
        OSError: it has none, or does not let this process ask.
    """
    return system_call(_CREATE_RULESET, ctypes.c_void_p(None), ctypes.c_size_t(0), _VERSION)


def ruleset(abi: int) -> bytes:
    """The attributes of a ruleset that denies all that this version knows (struct landlock_ruleset_attr). Pure."""
    files = max(bits for since, bits in _FILES.items() if since <= abi)
    attributes = struct.pack("=Q", files)
    if abi >= _TCP_SINCE:
        attributes += struct.pack("=Q", _TCP)
    if abi >= _SCOPES_SINCE:
        attributes += struct.pack("=Q", _SIGNALS_AND_ABSTRACT_SOCKETS)
    return attributes


def deny_everything() -> None:
    """Deny this process, for good, what Landlock can deny; needs `no_new_privs`. Open descriptors stay usable.

    Raises:
        OSError: the kernel has no Landlock, or it is off.
    """
    attributes = ruleset(version())
    descriptor = system_call(_CREATE_RULESET, ctypes.c_char_p(attributes), ctypes.c_size_t(len(attributes)), 0)
    try:
        system_call(_RESTRICT_SELF, descriptor, 0)
    finally:
        os.close(descriptor)
