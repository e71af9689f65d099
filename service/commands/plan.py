"""`gleaner plan`: prints what a model takes of a device and what fits: of this one, where it measures, or of a GPU."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
from rich.table import Table

from service.core.errors import InvalidOptions, ModelError
from service.core.memory.capacity_plan import CapacityPlan
from service.environment import child_environment
from service.settings import read_settings
from service.terminal import draw

FLAGS = ("device", "dtype")
MEBIBYTE = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = __doc__
    parser.add_argument("model", metavar="MODEL", help="`name`, `name@tag` or `name@sha256:…`")
    parser.add_argument("--gpu-memory-gib", type=float, metavar="N", help="plan for a GPU with this many GiB")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    for flag in FLAGS:
        parser.add_argument(f"--{flag}", help=f"instead of GLEANER_{flag.upper()}")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Measure and print; returns the exit code."""
    size = chosen.gpu_memory_gib
    if size is not None and not 0 < size < 10_000:
        raise InvalidOptions("--gpu-memory-gib takes a size in GiB, such as 16")
    flags = {flag: value for flag in FLAGS if (value := getattr(chosen, flag)) is not None}
    if read_settings(**flags).dtype == "int8" and size is not None:
        raise InvalidOptions("int8 is for CPUs; for a GPU set --dtype to auto, bfloat16, float16 or float32")
    arguments = [chosen.model, *([] if size is None else [str(size)])]
    found = _measure(arguments, {flag.upper(): value for flag, value in flags.items()})
    if chosen.json:
        print(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        _print(found)
    return 0


def _measure(arguments: list[str], flags: dict[str, str]) -> CapacityPlan:
    with tempfile.TemporaryDirectory(prefix="gleaner-plan-") as folder:
        command = [sys.executable, "-m", "service.engine.tools.capacity_plan", *arguments]
        environment = child_environment(Path(folder), **flags)
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise ModelError(lines[-1] if lines else "the measuring ended without a word")
    return msgspec.json.decode(done.stdout, type=CapacityPlan)


def _print(plan: CapacityPlan) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right")
    for name, value in rows(plan):
        table.add_row(name, value)
    draw(table)
    print(
        "The speed is the device's alone: a service also reads, tokenizes and answers (`gleaner loadtest --find-knee`)."
    )
    if plan.device != plan.measured_on:
        print("The memory is computed for that device from what was measured here; its speed is not predicted.")


def rows(plan: CapacityPlan) -> list[tuple[str, str]]:
    """Make the table's rows: name and value."""
    return [
        ("model", f"{plan.model}, {plan.dtype}"),
        ("device", plan.device),
        ("measured on", plan.measured_on),
        ("weights", _size(plan.weights_bytes)),
        ("activations per 1,000 tokens", _size(plan.activation_bytes_per_1000_tokens)),
        ("workspace", _size(plan.workspace_bytes)),
        ("predicted memory of a batch over what it took, at most", f"{1 + plan.fit_error_ratio:.1f} times"),
        ("room for a batch", _size(plan.room_bytes)),
        ("longest sequence", f"{plan.longest_sequence_tokens:,} tokens"),
        ("largest batch", f"{plan.batch_tokens:,} tokens"),
        ("largest batch that memory would hold", f"{plan.memory_batch_tokens:,} tokens"),
        ("models of this size that fit", f"{plan.models:,}"),
        (f"speed of full batches on {plan.measured_on.split(',')[0]}", f"{plan.tokens_per_second:,.0f} tokens/s"),
    ]


def _size(size_bytes: int) -> str:
    return f"{size_bytes / MEBIBYTE:,.1f} MiB"
