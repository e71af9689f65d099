"""The command line of a peer's server. It imports no torch: a server's main process has no model."""

from __future__ import annotations

import argparse
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerArguments:
    """The model folder, the port and the set-up of a peer's server."""

    folder: str
    port: int
    workers: int
    threads: int
    batch_size: int
    wait_seconds: float


def parse_arguments() -> ServerArguments:
    """The arguments of this process; those that are unknown belong to the server's own software."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("folder")
    for name in ("port", "workers", "threads", "batch-size"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--wait-seconds", type=float, required=True)
    return ServerArguments(**vars(parser.parse_known_args()[0]))
