"""`python -m infra.scrape_targets CLUSTER --region R --out FILE`: a fleet's tasks as targets for Prometheus (file_sd).

A task on ECS has a network interface of its own, so its instance's address is not where it listens, and a name in DNS
shows no more than eight of them. ECS itself knows all: its tasks with their addresses, written anew every few seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from infra.stacks.container import INTERNAL_PORT

CONTAINER = "gleaner"
MOST_DESCRIBED = 100
"""Tasks that one call describes."""
Aws = Callable[[Sequence[str]], Any]
"""Function that runs the AWS CLI with these arguments and returns its JSON."""


def targets(tasks: Iterable[dict[str, Any]], port: int = INTERNAL_PORT) -> list[dict[str, Any]]:
    """Running tasks, as `describe-tasks` lists them, in Prometheus' format; the instance is the task's id."""
    found = []
    for task in tasks:
        addresses = [
            interface["privateIpv4Address"]
            for container in task.get("containers", ())
            if container["name"] == CONTAINER
            for interface in container.get("networkInterfaces", ())
        ]
        if task.get("lastStatus") == "RUNNING" and addresses:
            labels = {"instance": task["taskArn"].rpartition("/")[2], "zone": task.get("availabilityZone", "")}
            found.append({"targets": [f"{addresses[0]}:{port}"], "labels": labels})
    return sorted(found, key=lambda each: each["labels"]["instance"])


def ask(aws: Aws, cluster: str) -> list[dict[str, Any]]:
    """All tasks of the cluster's service, which has its name."""
    of = ["--cluster", cluster]
    arns = aws(["ecs", "list-tasks", *of, "--service-name", cluster])["taskArns"]
    parts = [arns[i : i + MOST_DESCRIBED] for i in range(0, len(arns), MOST_DESCRIBED)]
    return [task for part in parts for task in aws(["ecs", "describe-tasks", *of, "--tasks", *part])["tasks"]]


def write(found: list[dict[str, Any]], out: Path) -> None:
    """Replace the file at once: Prometheus reads it whenever it changes."""
    fresh = out.with_suffix(".new")
    fresh.write_text(json.dumps(found, indent=1) + "\n")
    os.replace(fresh, out)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file once, or every so many seconds until a signal; an answer that fails leaves it as it is."""
    parser = argparse.ArgumentParser(prog="python -m infra.scrape_targets", description=__doc__)
    parser.add_argument("cluster", help="the fleet's name: gleaner-production")
    parser.add_argument("--region", required=True)
    parser.add_argument("--out", type=Path, required=True, help="a file that file_sd_configs names")
    parser.add_argument("--port", type=int, default=INTERNAL_PORT, help=f"where metrics are (default: {INTERNAL_PORT})")
    parser.add_argument("--every", type=float, help="seconds until the next time; none: once")
    chosen = parser.parse_args(arguments)

    def aws(words: Sequence[str]) -> Any:
        command = ["aws", *words, "--region", chosen.region, "--output", "json"]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)

    while True:
        try:
            write(targets(ask(aws, chosen.cluster), chosen.port), chosen.out)
        except subprocess.CalledProcessError as error:
            print(f"infra: {' '.join(error.cmd[:3])} failed", file=sys.stderr)
            if chosen.every is None:
                return 1
        if chosen.every is None:
            return 0
        time.sleep(chosen.every)


if __name__ == "__main__":
    sys.exit(main())
