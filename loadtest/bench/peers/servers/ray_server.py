"""Ray Serve around the pipeline: `python -m loadtest.bench.peers.servers.ray_server FOLDER --port …`.

Set up as its documentation advises: dynamic request batching by `serve.batch` on an asynchronous method, replicas by
`num_replicas`, as many ongoing requests as fill the batches, `OMP_NUM_THREADS` and `num_cpus` for each replica;
https://docs.ray.io/en/latest/serve/advanced-guides/dyn-req-batch.html and …/performance.html.
"""

from __future__ import annotations

import os
import signal
import tempfile
from typing import Any

import ray
from ray import serve
from starlette.requests import Request

from loadtest.bench.peers.servers.arguments import ServerArguments, parse_arguments

ONGOING = 256
"""Most requests at a replica, including those that wait for their batch."""


def application(arguments: ServerArguments) -> Any:
    """POST /extract with one text per request; Ray Serve forms the batches."""

    @serve.deployment(
        num_replicas=arguments.workers,
        max_ongoing_requests=ONGOING,
        ray_actor_options={
            "num_cpus": arguments.threads,
            "runtime_env": {"env_vars": {"OMP_NUM_THREADS": str(arguments.threads)}},
        },
    )
    class RayExtraction:
        def __init__(self) -> None:
            from loadtest.bench.peers.servers.pipeline import (
                ExtractionPipeline,  # in the replicas only: torch takes seconds to import
            )

            self._pipeline = ExtractionPipeline(arguments.folder, arguments.threads)

        @serve.batch(max_batch_size=arguments.batch_size, batch_wait_timeout_s=arguments.wait_seconds)
        async def collected(self, texts: list[str]) -> list[dict[str, Any]]:
            return self._pipeline.answers(texts)

        async def __call__(self, request: Request) -> dict[str, Any]:
            body = await request.json()
            answer: dict[str, Any] = await self.collected(body["text"])
            return answer

    deployment: Any = RayExtraction
    return deployment.bind()


def main() -> None:
    """Serve until SIGTERM, with Ray's files in a temporary folder."""
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="ray-") as home:
        ray.init(
            num_cpus=max(os.cpu_count() or 1, arguments.workers * arguments.threads),
            include_dashboard=False,
            log_to_driver=False,
            logging_level="warning",
            _node_ip_address="127.0.0.1",
            _temp_dir=home,
        )
        serve.start(http_options={"host": "127.0.0.1", "port": arguments.port})
        serve.run(application(arguments), route_prefix="/extract")
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
        serve.shutdown()
        ray.shutdown()


if __name__ == "__main__":
    main()
