"""What code in a parser would try after a file has taken it over: run in the sandbox, in place of the reader.

A file is JSON: the attack's name and its arguments. The text of its document says how it went: `succeeded: …`, or
`refused: …` with the reason. Of some the kernel ends the process, and there is no document.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import resource
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

from service.documents.document import Document
from service.documents.limits import DocumentLimits

PTRACE_ATTACH = 16
CONNECTION = 3
_LIBC = ctypes.CDLL(None, use_errno=True)


def attack(data: bytes, _media_type: str | None, _name: str | None, _limits: DocumentLimits) -> Document:
    """Carry out the file's attack."""
    name, *arguments = json.loads(data)
    try:
        return Document(f"succeeded: {ATTACKS[name](*arguments)}")
    except Exception as error:
        code = errno.errorcode.get(getattr(error, "errno", None) or 0, "")
        return Document(f"refused: {type(error).__name__} {code}")


def _check(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def _memory_by_file(process: int, address: int, length: int) -> str:
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return repr(memory.read(length))


def _memory_by_call(process: int, address: int, length: int) -> str:
    class Range(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    target = ctypes.create_string_buffer(length)
    here, there = Range(ctypes.addressof(target), length), Range(address, length)
    _check(_LIBC.process_vm_readv(process, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
    return repr(target.raw)


def _trace(process: int) -> str:
    _check(_LIBC.ptrace(PTRACE_ATTACH, process, 0, 0))
    _LIBC.ptrace(17, process, 0, 0)
    return "attached"


def _environment(process: int, name: str) -> str:
    found = {**os.environ}
    try:
        found["/proc"] = Path(f"/proc/{process}/environ").read_text()
    except OSError:
        found["/proc"] = ""
    if name not in found and name not in found["/proc"]:
        raise LookupError(name)
    return name


def _connect(path: str) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path.replace("@", "\0"))
    return "connected"


def _connect_by_tcp(port: int) -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        return "connected"


def _write(path: str) -> str:
    Path(path).write_text("from the parser")
    return path


def _fork() -> str:
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    return "forked"


def _thread() -> str:
    threading.Thread(target=time.sleep, args=(0,)).start()
    return "started"


def _descriptors() -> str:
    """Descriptors that can be written to, beyond /dev/null and the parser's own connection."""
    found = []
    for number in range(CONNECTION + 1, 1024):
        try:
            os.write(number, b"")
        except OSError:
            continue
        found.append(number)
    if not found:
        raise LookupError("no descriptor")
    return repr(found)


def _executable_memory() -> str:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    return "mapped"


def _more_processes() -> str:
    resource.setrlimit(resource.RLIMIT_NPROC, (100, 100))
    return "raised"


def _foreign_call() -> str:
    """getpid by the numbers of x32, which a filter of x86_64's numbers alone would not know."""
    return str(_check(_LIBC.syscall(0x40000000 + 39)))


def _log(line: str) -> str:
    for number in (1, 2):
        os.write(number, line.encode())
    raise LookupError("nobody reads it")


def _answer_and_live_on() -> str:
    from service.api.parsers.frames import frame_prefix, to_frames

    for part in to_frames(Document("succeeded: an answer")):
        os.write(CONNECTION, frame_prefix(part) + bytes(part))
    while True:
        time.sleep(1)


def _endless_answer() -> str:
    os.write(CONNECTION, struct.pack("<I", 2**32 - 1))
    while True:
        os.write(CONNECTION, bytes(2**20))


def _kill(process: int) -> str:
    os.kill(process, signal.SIGWINCH)
    return "signalled"


def _execute(path: str) -> str:
    os.execv(path, [path])


ATTACKS: dict[str, Callable[..., str]] = {
    "answer and live on": _answer_and_live_on,
    "connect": _connect,
    "descriptors": _descriptors,
    "endless answer": _endless_answer,
    "environment": _environment,
    "executable memory": _executable_memory,
    "execute": _execute,
    "foreign call": _foreign_call,
    "fork": _fork,
    "kill": _kill,
    "list": lambda path: repr(os.listdir(path)),
    "log": _log,
    "memory by call": _memory_by_call,
    "memory by file": _memory_by_file,
    "more processes": _more_processes,
    "read": lambda path: Path(path).read_text()[:10],
    "tcp": _connect_by_tcp,
    "thread": _thread,
    "trace": _trace,
    "write": _write,
}
"""Name → what it does; returns only if it succeeded."""
