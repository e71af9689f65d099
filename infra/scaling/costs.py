"""`python -m infra.scaling.costs`: what a fleet costs by the hour, and a million documents by measured capacity.

    per million = price of an hour × 1,000,000 ÷ (3,600 × documents a second × share of capacity that is used)

The share is the policy's target. Prices change, and differ by region: pass your own with --price.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from infra.scaling.capacity import ASSUMED, Capacity, read_capacity
from infra.scaling.policy import targets_for

PRICES_ARE_OF = "2025, us-east-1, Linux, on demand; check before you rely on them"
HOURLY_DOLLARS: Mapping[str, float] = {"g4dn.xlarge": 0.526, "g6.xlarge": 0.805, "g5.xlarge": 1.006}
AROUND_DOLLARS: Mapping[str, float] = {
    "11 endpoints in 2 zones": 0.22,
    "balancer, without what it carries": 0.0225,
    "metrics and alarms": 0.015,
}
"""By the hour, whatever the size of the fleet."""


def per_million(hourly_dollars: float, documents_per_second: float, share: float) -> float:
    """Dollars for a million documents on tasks that are used to this share of their capacity."""
    return hourly_dollars * 1_000_000 / (3600 * documents_per_second * share)


def table(prices: Mapping[str, float], capacity: Capacity, tasks: int) -> list[str]:
    """The costs as a table, cheapest hour first."""
    share = targets_for(capacity).work_ratio
    around = sum(AROUND_DOLLARS.values())
    rows = [
        f"| {name} | {price:.3f} | {tasks * price + around:.2f} | "
        f"{per_million(price, capacity.documents_per_second, share):.2f} |"
        for name, price in sorted(prices.items(), key=lambda each: each[1])
    ]
    head = f"| instance | $ an hour | fleet of {tasks}, $ an hour | $ per million documents |"
    return [head, "|---|---|---|---|", *rows]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m infra.scaling.costs", description=__doc__)
    parser.add_argument("--capacity", type=Path, help="JSON of `gleaner loadtest --find-knee`, measured on that type")
    parser.add_argument("--price", action="append", default=[], metavar="TYPE=DOLLARS", help="an hour of a type")
    parser.add_argument("--tasks", type=int, default=2, help="size of the fleet (default: 2)")
    chosen = parser.parse_args()
    capacity = read_capacity(chosen.capacity.read_text()) if chosen.capacity else ASSUMED
    given = {name: float(price) for name, _, price in (each.partition("=") for each in chosen.price)}
    print("\n".join(table(given or HOURLY_DOLLARS, capacity, chosen.tasks)))
    print(f"\n{capacity.documents_per_second:g} documents a second and task, used to 70 %.", end=" ")
    print("Prices are yours." if given else f"Prices of {PRICES_ARE_OF}.")
    if chosen.capacity is None:
        print("The capacity is assumed, not measured: pass --capacity.")


if __name__ == "__main__":
    main()
