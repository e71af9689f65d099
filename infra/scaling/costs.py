"""`python -m infra.scaling.costs`: what a fleet costs by the hour, and a million documents by measured capacity.

    per million = price of a task's hour × 1,000,000 ÷ (3,600 × documents a second at full load × share that is used)

The share is the policy's target, which is a share of the rate at full load; bulk jobs use all of it. A task's hour is
its instance's, its disk's and its metrics'. Prices change, and differ by region: pass your own with --price.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from infra.scaling.capacity import ASSUMED, Capacity, read_capacity
from infra.scaling.policy import targets_for

HOURS_A_MONTH = 730
PRICES_ARE_OF = "2025, us-east-1, Linux, on demand; check before you rely on them"
HOURLY_DOLLARS: Mapping[str, float] = {"g4dn.xlarge": 0.526, "g6.xlarge": 0.805, "g5.xlarge": 1.006}
MONTHLY_DISK_DOLLARS = 100 * 0.08 + (500 - 125) * 0.04
"""Dollars a month for 100 GB of gp3 at 500 MB/s, for a stopped instance too."""
MONTHLY_TASK_DOLLARS: Mapping[str, float] = {"PutMetricData, every 10 s": 2.59, "detailed monitoring": 2.10}
AROUND_DOLLARS: Mapping[str, float] = {
    "11 endpoints in 2 zones": 0.22,
    "balancer, without what it carries": 0.0225,
    "metrics, alarms and a dashboard": 0.019,
}
"""Dollars an hour, whatever the size of the fleet."""
SPOT_PRICE = 0.4
"""Ratio to the price on demand, about."""
BULK_ENDPOINTS_DOLLARS = 0.04
"""Dollars an hour for two more endpoints in two zones."""
CHUNK_FILES = 50
REQUEST_DOLLARS: Mapping[str, float] = {
    "S3, one read a file": 0.4e-6,
    "S3, one part a chunk": 5e-6 / CHUNK_FILES,
    "SQS, three calls a chunk": 3 * 0.4e-6 / CHUNK_FILES,
}
"""Dollars a file of bulk jobs."""
NOT_IN_IT = (
    "what the balancer carries, flow logs, Container Insights, logs, traffic between zones, and instances that come "
    "and go: by each start of one, and a quarter of an hour after ECS needs it no more"
)


def task_hour(instance_dollars: float) -> float:
    """Dollars for an hour of one task: its instance, its disk, its metrics."""
    return instance_dollars + (MONTHLY_DISK_DOLLARS + sum(MONTHLY_TASK_DOLLARS.values())) / HOURS_A_MONTH


def fleet_hour(instance_dollars: float, tasks: int, pool: int) -> float:
    """Dollars for an hour of a fleet, with the disks of the stopped instances of its warm pool."""
    waiting = pool * MONTHLY_DISK_DOLLARS / HOURS_A_MONTH
    return tasks * task_hour(instance_dollars) + waiting + sum(AROUND_DOLLARS.values())


def per_million(hourly_dollars: float, documents_per_second: float, share: float) -> float:
    """Dollars for a million documents on tasks that are used to this share of their rate at full load."""
    return hourly_dollars * 1_000_000 / (3600 * documents_per_second * share)


def table(prices: Mapping[str, float], capacity: Capacity, tasks: int, pool: int) -> list[str]:
    """The costs as a table, cheapest hour first, and the share of capacity that they assume."""
    share, rate = targets_for(capacity).work_ratio, capacity.full_documents_per_second
    rows = [
        f"| {name} | {price:.3f} | {task_hour(price):.3f} | {fleet_hour(price, tasks, pool):.2f} | "
        f"{per_million(task_hour(price), rate, share):.2f} |"
        for name, price in sorted(prices.items(), key=lambda each: each[1])
    ]
    fleet = f"fleet of {tasks} and {pool} in the pool, $ an hour"
    head = f"| instance | $ an hour | with disk and metrics | {fleet} | $ per million documents |"
    used = f"Each task carries {rate:g} documents a second at full load; the fleet is used to {share:.0%} on average."
    return [head, "|---|---|---|---|---|", *rows, "", used]


def bulk_table(prices: Mapping[str, float], capacity: Capacity) -> list[str]:
    """The costs of bulk jobs as a table, and what a fleet from none costs between them."""
    rate = capacity.full_documents_per_second
    rows = [
        f"| {name} | {per_million(task_hour(price), rate, 1.0):.2f} | "
        f"{per_million(task_hour(price * SPOT_PRICE), rate, 1.0):.2f} |"
        for name, price in sorted(prices.items(), key=lambda each: each[1])
    ]
    requests = sum(REQUEST_DOLLARS.values()) * 1e6
    asleep = sum(AROUND_DOLLARS.values()) + BULK_ENDPOINTS_DOLLARS
    said = (
        f"Requests to S3 and SQS: ${requests:.2f} per million files, which is all in the idle time of a fleet that is "
        f"there. A fleet without tasks: ${asleep:.2f} an hour."
    )
    return ["| bulk jobs, $ per million files | on demand | on Spot |", "|---|---|---|", *rows, "", said]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m infra.scaling.costs", description=__doc__)
    parser.add_argument("--capacity", type=Path, help="JSON of `gleaner loadtest --find-knee`, measured on that type")
    parser.add_argument("--price", action="append", default=[], metavar="TYPE=DOLLARS", help="an hour of a type")
    parser.add_argument("--tasks", type=int, default=2, help="size of the fleet (default: 2)")
    parser.add_argument("--pool", type=int, default=2, help="size of its warm pool (default: 2)")
    chosen = parser.parse_args()
    capacity = read_capacity(chosen.capacity.read_text()) if chosen.capacity else ASSUMED
    given = {name: float(price) for name, _, price in (each.partition("=") for each in chosen.price)}
    prices = given or HOURLY_DOLLARS
    print("\n".join([*table(prices, capacity, chosen.tasks, chosen.pool), "", *bulk_table(prices, capacity)]))
    print("Prices are yours." if given else f"Prices of {PRICES_ARE_OF}.", f"Not in it: {NOT_IN_IT}.")
    if chosen.capacity is None:
        print("The capacity is assumed, not measured: pass --capacity.")


if __name__ == "__main__":
    main()
