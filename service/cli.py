"""The command `gleaner`: parses arguments and runs one sub-command. Exit codes: 0 done, 1 failed, 2 wrong usage.

Only the chosen sub-command is imported, so that none pays for the imports of another.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from importlib import import_module

from model_store.errors import StoreError
from service.core.errors import GleanerError, InvalidOptions
from service.environment import distribution_version, our_variables
from service.terminal import printable_output, say

COMMANDS = {
    "serve": "serve HTTP until a signal",
    "extract": "entities of files",
    "bulk": "entities of any number of files, one row each, continued after any end",
    "redact": "files without the entities in them",
    "evaluate": "score a model on labelled documents",
    "models": "publish, pull, list and keep models",
    "keys": "add, list and revoke API keys",
    "data": "convert and check labelled documents",
    "train": "fine-tune a model on labelled documents",
    "plan": "what fits on this device, or on a GPU of another size",
    "healthcheck": "exit code 0 when a service on this machine is alive",
    "loadtest": "load a service and report, or find its knee",
    "simulate": "a fleet's scaling policy against a demand: latency, refusals, cost",
}
"""Sub-command → its purpose; its module in `service/commands` has the same name, unless `ELSEWHERE` has it."""
ELSEWHERE = {"loadtest": "loadtest.cli", "simulate": "loadtest.simulator.command"}
"""Sub-command → its module in another package."""

OWN_WARNING = ("serve", "healthcheck")
"""Commands that print no warning of unknown settings: one logs them, the other runs every few seconds."""
NOT_INSTALLED = ("loadtest", "infra")
"""Packages of the repository that neither wheel nor image contains."""


def main(arguments: list[str] | None = None) -> int:
    """Run one sub-command; returns the exit code."""
    with printable_output():
        return _main(sys.argv[1:] if arguments is None else arguments)


def _main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="gleaner", description="Document extraction: documents in, entities out.")
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    if os.getpid() == 1 and "serve" in words:  # The kernel drops what PID 1 neither handles nor blocks.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(name, help=purpose)
        if name in words:
            try:
                module = import_module(ELSEWHERE.get(name, f"service.commands.{name}"))
                module.add_arguments(command)
                if words[0] == name and hasattr(module, "with_action"):
                    words = [name, *module.with_action(words[1:])]
            except ModuleNotFoundError as error:
                if (error.name or "").partition(".")[0] not in NOT_INSTALLED:
                    raise
                print(
                    f"gleaner: `{name}` is not in this installation: run it in a checkout of the repository, or in an "
                    "image built with `make image ARGS=--loadtest`",
                    file=sys.stderr,
                )
                return 2
    chosen = parser.parse_args(words)
    if chosen.version:
        print(f"gleaner {distribution_version()}")
        return 0
    if chosen.command is None:
        parser.print_help(sys.stderr)
        return 2
    if our_variables() and chosen.command not in OWN_WARNING:
        _warn_of_settings()
    try:
        code: int = chosen.run(chosen)
    except InvalidOptions as error:
        say(str(error))
        return 2
    except (GleanerError, StoreError) as error:
        print(f"gleaner: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # What reads the output, such as `head`, has ended. Python's last flush must not fail too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return code


def _warn_of_settings() -> None:
    """Warn of variables that look like settings and are none."""
    from service.settings import unknown_settings  # pydantic takes a fifth of a second.

    for said in unknown_settings().values():
        say(f"warning: {said}")


if __name__ == "__main__":
    sys.exit(main())
