"""mosec with the pipeline inside: `python -m loadtest.bench.peers.servers.mosec_server FOLDER --port …`.

As its documentation advises: the model is loaded in the worker's constructor, batching by `max_batch_size` and
`max_wait_time`, processes by `num`, threads by each worker's environment; its HTTP side is compiled Rust.
"""

from __future__ import annotations

import os
from typing import Any

from mosec import Server, Worker

from loadtest.bench.peers.servers.arguments import parse_arguments

SECONDS = 600


class MosecExtraction(Worker):
    """POST /extract, one text a request; mosec collects them. Made in each process, from the command line."""

    def __init__(self) -> None:
        from loadtest.bench.peers.servers.pipeline import (
            ExtractionPipeline,
        )  # in the workers only: torch takes seconds to import

        super().__init__()
        orders = parse_arguments()
        self._judge = ExtractionPipeline(orders.folder, orders.threads)

    def forward(self, data: Any) -> Any:
        """One request where nothing is collected, else a batch."""
        if isinstance(data, dict):
            return self._judge.answers([data["text"]])[0]
        return self._judge.answers([each["text"] for each in data])


def main() -> None:
    """Serve until SIGTERM."""
    orders = parse_arguments()
    os.environ.update(MOSEC_ADDRESS="127.0.0.1", MOSEC_TIMEOUT=str(SECONDS * 1000), MOSEC_LOG_LEVEL="warning")
    server = Server()
    server.append_worker(
        MosecExtraction,
        num=orders.workers,
        max_batch_size=orders.batch_size,
        max_wait_time=round(orders.wait_seconds * 1000),
        env=[{"OMP_NUM_THREADS": str(orders.threads)}] * orders.workers,
        timeout=SECONDS,
        route="/extract",
    )
    server.run()


if __name__ == "__main__":
    main()
