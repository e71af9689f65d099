"""How a peer's server is set up, from its command line. Imports no torch: a server's main process has no model."""

from __future__ import annotations

import argparse
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerArguments:
    """How a peer's server is to be set up; from its command line."""

    folder: str
    port: int
    workers: int
    threads: int
    batch_size: int
    wait_seconds: float


def parse_arguments() -> ServerArguments:
    """The command line of a peer's server. Other arguments are left to the server's own software."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("folder")
    for name in ("port", "workers", "threads", "batch-size"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--wait-seconds", type=float, required=True)
    return ServerArguments(**vars(parser.parse_known_args()[0]))
