"""Ray Serve with the pipeline inside: `python -m loadtest.bench.peers.servers.ray_server FOLDER --port …`.

As its documentation advises: dynamic request batching by `serve.batch` on an asynchronous method, replicas by
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
"""Most requests that a replica holds; those that wait to be collected are among them."""


def application(orders: ServerArguments) -> Any:
    """POST /extract, one text a request; Ray Serve collects them."""

    @serve.deployment(
        num_replicas=orders.workers,
        max_ongoing_requests=ONGOING,
        ray_actor_options={
            "num_cpus": orders.threads,
            "runtime_env": {"env_vars": {"OMP_NUM_THREADS": str(orders.threads)}},
        },
    )
    class Extraction:
        def __init__(self) -> None:
            from loadtest.bench.peers.servers.pipeline import (
                ExtractionPipeline,  # in the replicas only: torch takes seconds to import
            )

            self._judge = ExtractionPipeline(orders.folder, orders.threads)

        @serve.batch(max_batch_size=orders.batch_size, batch_wait_timeout_s=orders.wait_seconds)
        async def collected(self, texts: list[str]) -> list[dict[str, Any]]:
            return self._judge.answers(texts)

        async def __call__(self, request: Request) -> dict[str, Any]:
            body = await request.json()
            answer: dict[str, Any] = await self.collected(body["text"])
            return answer

    deployment: Any = Extraction
    return deployment.bind()


def main() -> None:
    """Serve until SIGTERM; all that Ray writes goes into a folder that ends with it."""
    orders = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="ray-") as home:
        ray.init(
            num_cpus=max(os.cpu_count() or 1, orders.workers * orders.threads),
            include_dashboard=False,
            log_to_driver=False,
            logging_level="warning",
            _node_ip_address="127.0.0.1",
            _temp_dir=home,
        )
        serve.start(http_options={"host": "127.0.0.1", "port": orders.port})
        serve.run(application(orders), route_prefix="/extract")
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
        serve.shutdown()
        ray.shutdown()


if __name__ == "__main__":
    main()
