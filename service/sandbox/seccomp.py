"""Installs a parser's filter of system calls in the calling process, for good: seccomp(2). The program is elsewhere."""

from __future__ import annotations

import ctypes
import os

from service.sandbox.filter_program import encode, parser_filter
from service.sandbox.kernel import PR_SET_SECCOMP, prctl
from service.sandbox.system_calls import ARCHITECTURES

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
