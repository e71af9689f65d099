"""`gleaner loadtest`: its arguments, and the command that they choose. Imports no library of the extra `loadtest`."""

from __future__ import annotations

import argparse
import signal
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from loadtest.errors import LoadtestError, MissingExtra
from loadtest.scenario.scenario import builtin_scenarios
from loadtest.scenario.traces import DAYS

EXTRA = ("aiohttp", "matplotlib", "psutil")
"""Libraries of the extra `loadtest` beyond the service's own."""
DEFAULT_COMMAND = "run"
COMMANDS = {
    "run": "run a scenario, or find the knee with --find-knee (this command may be left out)",
    "compare": "compare the results in two folders",
    "day": "write a synthetic day of arrivals, a trace for --trace",
}
DESCRIPTION = """Loads a service on schedule and reports, finds its knee, or compares two results. `gleaner loadtest
SCENARIO …` is short for `gleaner loadtest run SCENARIO …`, whose options are listed below."""


class LoadtestParser(argparse.ArgumentParser):
    """A parser whose first argument is a command, `run` if it is none. Its help has the arguments of `run` too."""

    run_parser: argparse.ArgumentParser

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        words = list(sys.argv[1:] if args is None else args)
        if not words or words[0] not in (*COMMANDS, "-h", "--help"):
            words.insert(0, DEFAULT_COMMAND)
        return super().parse_known_args(words, namespace)

    def format_help(self) -> str:
        return f"{super().format_help()}\n{self.run_parser.format_help()}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands and their arguments; `parser` becomes a `LoadtestParser`."""
    parser.__class__ = LoadtestParser
    assert isinstance(parser, LoadtestParser)
    parser.description = DESCRIPTION
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True, parser_class=argparse.ArgumentParser
    )
    added = {name: commands.add_parser(name, help=purpose) for name, purpose in COMMANDS.items()}
    parser.run_parser = added["run"]
    _add_run_arguments(added["run"])
    added["compare"].add_argument("before", type=Path, metavar="A", help="folder of a result")
    added["compare"].add_argument("after", type=Path, metavar="B", help="folder of another result")
    added["day"].add_argument("kind", choices=DAYS, help="diurnal, bursty or spiky")
    added["day"].add_argument("file", type=Path, metavar="FILE", help="the trace to write")
    added["day"].add_argument("--seed", type=int, default=1)
    parser.set_defaults(run=run_until_sigterm)


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(builtin_scenarios())
    parser.add_argument("scenario", nargs="?", default="default", metavar="SCENARIO", help=f"{names}, or a TOML file")
    parser.add_argument("--url", help="load the service at this URL; it needs nothing but POST /extract")
    parser.add_argument("--key", action="append", default=[], help="API key, one for each tenant of the scenario")
    parser.add_argument("--out", type=Path, help="folder for the result (default: loadtest/reports/<time>)")
    parser.add_argument("--seconds", type=float, help="stretch or compress the scenario to this length")
    parser.add_argument("--rate", type=float, help="one phase at this rate, in requests per second")
    parser.add_argument("--trace", type=Path, help="replay this file of `t_s,count`")
    parser.add_argument("--time-scale", type=float, default=1.0, help="divide the trace's time by this")
    parser.add_argument("--rate-scale", type=float, default=1.0, help="multiply the trace's arrivals by this")
    parser.add_argument("--documents", type=Path, help="send the files of this folder")
    parser.add_argument("--labels", help="what a model with free labels is to find, with commas between")
    parser.add_argument("--capacity", type=float, help="documents per second at full load, instead of measuring it")
    parser.add_argument("--processes", type=int, default=0, help="generator processes; 0: as many as the rate needs")
    parser.add_argument("--seed", type=int, help="instead of the scenario's")
    parser.add_argument("--assert", action="append", default=[], dest="checks", help="p99_ms<500, error_rate<0.001, …")
    parser.add_argument(
        "--untrusted", action="store_true", help="report even if the generator was the bottleneck (the report says so)"
    )
    parser.add_argument("--find-knee", action="store_true", help="search the highest rate whose p99 holds --slo-ms")
    parser.add_argument("--slo-ms", type=float, help="the service level; default: the scenario's")


def run(chosen: argparse.Namespace) -> int:
    """Run the chosen command; returns the exit code. A failure is a sentence on stderr."""
    try:
        require_extra()
        commands = import_module("loadtest.commands").COMMANDS
        commands["find_knee" if chosen.command == "run" and chosen.find_knee else chosen.command](chosen)
    except LoadtestError as error:
        print(f"gleaner loadtest: {error}", file=sys.stderr, flush=True)
        return error.exit_code
    return 0


def run_until_sigterm(chosen: argparse.Namespace) -> int:
    """Run the chosen command in a process of its own, which SIGTERM ends in order; returns the exit code."""
    end_on_sigterm()
    return run(chosen)


def end_on_sigterm() -> None:
    """Let SIGTERM raise SystemExit, so that open contexts stop the processes that they started."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))


def require_extra() -> None:
    """Check that the extra `loadtest` is installed.

    Raises:
        MissingExtra: a library is not.
    """
    missing = [name for name in EXTRA if find_spec(name) is None]
    if missing:
        command = f"{sys.executable} -m pip install -e '.[loadtest]'"
        raise MissingExtra(f"not installed: {', '.join(missing)}; in Gleaner's folder, `{command}` installs them")
