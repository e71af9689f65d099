"""The choice that follows from the grid, by a rule, and the grid as a table. Pure.

bursty   of those that keep nearly as many documents as the best on each sudden demand, the cheapest over all
steady   of those that keep 99.9 % on each demand that is not sudden, or where none does nearly as many as the best,
         the cheapest on these
either   what is deployed stays, unless the cheapest saves a twentieth: a policy that people know is worth that; it
         stays as well where none keeps enough of all demands
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import msgspec

from loadtest.simulator.outcome import Outcome

NEARLY = 0.005
"""Of a demand's documents: about what two seeds differ by."""
GOAL = 0.999
WORTH_A_CHANGE = 0.05
INCUMBENT = "+ pool of 8"
"""The tuning as it was, with the pool that every later candidate has."""


class Cell(msgspec.Struct, frozen=True):
    """One candidate on one demand: means over the seeds."""

    candidate: str
    shape: str
    sudden: bool
    kept: float
    late: float
    refused: float
    p99_ms: float
    dollars_per_million: float
    over_oracle: float
    short_lives: float
    starts: float


class Evidence(msgspec.Struct, frozen=True):
    """The whole grid, and what was chosen. `tunings`: of each candidate, by name."""

    command: str
    seeds: tuple[int, ...]
    bursty: str
    steady: str
    tunings: dict[str, dict[str, float | bool]]
    cells: tuple[Cell, ...]


def cell(candidate: str, sudden: bool, outcomes: Sequence[Outcome]) -> Cell:
    """The means, rounded to what is printed and compared."""
    first = outcomes[0]
    return Cell(
        candidate,
        first.demand,
        sudden,
        kept=round(fmean(each.kept for each in outcomes), 5),
        late=round(fmean(each.late for each in outcomes), 5),
        refused=round(fmean(each.refused for each in outcomes), 5),
        p99_ms=round(fmean(each.p99_ms for each in outcomes), 1),
        dollars_per_million=round(fmean(each.dollars_per_million for each in outcomes), 3),
        over_oracle=round(fmean(each.over_oracle for each in outcomes), 3),
        short_lives=round(fmean(each.short_lives for each in outcomes), 4),
        starts=round(fmean(each.starts for each in outcomes), 1),
    )


def bursty(cells: Sequence[Cell]) -> str:
    """For demands that may jump."""
    sudden = [each for each in cells if each.sudden]
    best = _best(sudden)
    behind = {each.candidate for each in sudden if each.kept < best[each.shape] - NEARLY}
    return _cheapest([each for each in cells if each.candidate not in behind])


def steady(cells: Sequence[Cell]) -> str:
    """For demands that instances can follow."""
    calm = [each for each in cells if not each.sudden]
    enough = {shape: GOAL if kept >= GOAL else kept - NEARLY for shape, kept in _best(calm).items()}
    short = {each.candidate for each in calm if each.kept < enough[each.shape]}
    return _cheapest([each for each in calm if each.candidate not in short])


def _best(cells: Sequence[Cell]) -> dict[str, float]:
    """The most that any candidate keeps of each demand."""
    return {each.shape: max(other.kept for other in cells if other.shape == each.shape) for each in cells}


def _cheapest(cells: Sequence[Cell]) -> str:
    prices: dict[str, list[float]] = {}
    for each in cells:
        prices.setdefault(each.candidate, []).append(each.dollars_per_million)
    if not prices:
        return INCUMBENT
    cheapest = min(prices, key=lambda name: fmean(prices[name]))
    stays = INCUMBENT in prices and fmean(prices[cheapest]) > fmean(prices[INCUMBENT]) * (1 - WORTH_A_CHANGE)
    return INCUMBENT if stays else cheapest


def table(evidence: Evidence) -> str:
    """Kept in time, and dollars per million documents, by candidate and demand."""
    shapes = list(dict.fromkeys(each.shape for each in evidence.cells))
    found: dict[str, Mapping[str, Cell]] = {}
    for each in evidence.cells:
        found[each.candidate] = {**found.get(each.candidate, {}), each.shape: each}
    head = "| policy | " + " | ".join(shapes) + " | $ per million | over the oracle | lives under 15 min |"
    lines = [head, "|---" * (len(shapes) + 4) + "|"]
    for name, row in found.items():
        mark = "**" if name in (evidence.bursty, evidence.steady) else ""
        kept = " | ".join(f"{row[shape].kept:.2%}" for shape in shapes)
        means = (fmean(getattr(row[shape], of) for shape in shapes) for of in ("dollars_per_million", "over_oracle"))
        price, oracle = means
        brief = fmean(row[shape].short_lives for shape in shapes)
        lines.append(f"| {mark}{name}{mark} | {kept} | {price:.2f} | {oracle:.2f} | {brief:.1%} |")
    return "\n".join(lines)
