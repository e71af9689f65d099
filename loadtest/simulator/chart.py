"""Instances over time, in characters of a terminal. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from loadtest.simulator.fleet.timeline import Minute

WIDTH = 72
HEIGHT = 10
SERVING, PAID, QUEUED = "█", "░", "!"


def chart(minutes: Sequence[Minute], width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """The most instances that were paid for, and the fewest tasks that served, in each column's time."""
    columns = _columns(minutes, width)
    most = max((max(each.machines for each in column) for column in columns), default=1) or 1
    tall = min(height, most)
    lines = []
    for row in range(tall, 0, -1):
        bound = most * (row - 0.5) / tall
        cells = (_cell(column, bound) for column in columns)
        label = f"{most * row / tall:5.0f}" if row in (tall, 1) or tall <= height // 2 else " " * 5
        lines.append(f"{label} │{''.join(cells)}")
    marks = "".join(QUEUED if max(each.longest_queue_seconds for each in c) >= 1 else "─" for c in columns)
    end = minutes[-1].at_seconds / 3600 if minutes else 0
    lines.append(f"{'0':>5} └{marks}")
    lines.append(f"       0 h{f'{end:g} h':>{max(len(columns) - 3, 1)}}")
    lines.append(
        f"       {SERVING} serving   {PAID} paid for: starting, draining, idle   {QUEUED} a queue of 1 s and more"
    )
    return lines


def _cell(column: Sequence[Minute], bound: float) -> str:
    if min(each.serving for each in column) >= bound:
        return SERVING
    return PAID if max(each.machines for each in column) >= bound else " "


def _columns(minutes: Sequence[Minute], width: int) -> list[Sequence[Minute]]:
    count = min(width, len(minutes))
    edges = [len(minutes) * i // count for i in range(count + 1)] if count else []
    return [minutes[low:high] for low, high in pairwise(edges)]
