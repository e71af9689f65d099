"""The container as both variants run it: its paths, its user and its environment variables. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from infra.environments import Environment
from infra.fleet_scaling import max_queue_ms, queue_limit_tokens
from infra.scaling.policy import Policy

NAMESPACE = "Gleaner"
CONTAINER = "gleaner"
PORT = 8080
INTERNAL_PORT = 8081
"""Port of metrics, models and docs: for scrapers inside the network, never through the balancer."""
USER = 10001
MODELS_INSIDE = "/models"
MODELS_ON_HOST = "/var/lib/gleaner/models"
"""Folder on the instance's own disk, so that the next task finds the last one's downloads."""
TEMPORARY = {"/tmp": 512}
"""Writable folders in memory, MiB; all else but the models is read-only."""
SHARED_MEMORY_MIB = 1024
"""MiB of /dev/shm, where sockets and metrics are: apart from `/tmp`, which uploads may fill."""
KEEP_ALIVE_SLACK_SECONDS = 30


def container_environment(
    environment: Environment,
    policy: Policy,
    *,
    proxies: Sequence[str],
    bucket: str,
    region: str,
    bulk_queue: str | None = None,
) -> dict[str, str]:
    """The service's environment variables.

    Args:
        proxies: the networks that the balancer's own addresses are in; its X-Forwarded-For is believed.
        bulk_queue: URL of the queue of bulk jobs.
    """
    delays = policy.delays
    settings: dict[str, object] = {
        "HOST": "0.0.0.0",
        "PORT": PORT,
        "INTERNAL_PORT": INTERNAL_PORT,
        "TRUSTED_PROXIES": ",".join(proxies),
        "DEVICE": "cuda",
        "MODELS": ",".join(environment.models),
        "ADAPTERS": ",".join(environment.adapters) or "none",
        "MODEL_STORE": MODELS_INSIDE,
        "MODEL_REMOTE": f"s3://{bucket}/models",
        "CLOUDWATCH_NAMESPACE": NAMESPACE,
        "CLOUDWATCH_SERVICE": environment.fleet,
        "DEADLINE_MS": delays.longest_request_seconds * 1000,
        "DRAIN_GRACE_SECONDS": delays.drain_grace_seconds,
        "DRAIN_SECONDS": delays.longest_request_seconds,
        "KEEP_ALIVE_SECONDS": delays.idle_seconds + KEEP_ALIVE_SLACK_SECONDS,
        "MAX_QUEUE_MS": max_queue_ms(environment, policy),
    }
    if environment.bulk is not None:
        settings |= {"BULK_QUEUE": bulk_queue, "BULK_TASKS": environment.bulk.tasks}
        settings |= {"BULK_EVENTS": environment.bulk.events} if environment.bulk.events else {}
    if environment.canary_percent:
        settings["CANARY_PERCENT"] = environment.canary_percent
    if limit := queue_limit_tokens(policy):
        settings["QUEUE_LIMIT_TOKENS"] = limit
    return {
        **{f"GLEANER_{name}": str(value) for name, value in settings.items()},
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "HOME": "/tmp",
    }
