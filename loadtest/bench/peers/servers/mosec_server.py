"""mosec around the pipeline: `python -m loadtest.bench.peers.servers.mosec_server FOLDER --port …`.

Set up as its documentation advises: the model is loaded in the worker's constructor, batching by `max_batch_size` and
`max_wait_time`, processes by `num`, threads by each worker's environment; its HTTP side is compiled Rust.
"""

from __future__ import annotations

import os
from typing import Any

from mosec import Server, Worker

from loadtest.bench.peers.servers.arguments import parse_arguments

SECONDS = 600


class MosecExtraction(Worker):
    """POST /extract with one text per request; mosec forms the batches, and makes one of these in each process."""

    def __init__(self) -> None:
        from loadtest.bench.peers.servers.pipeline import (
            ExtractionPipeline,
        )  # in the workers only: torch takes seconds to import

        super().__init__()
        arguments = parse_arguments()
        self._pipeline = ExtractionPipeline(arguments.folder, arguments.threads)

    def forward(self, data: Any) -> Any:
        """The answer for one request, or the answers for a batch of them."""
        if isinstance(data, dict):
            return self._pipeline.answers([data["text"]])[0]
        return self._pipeline.answers([each["text"] for each in data])


def main() -> None:
    """Serve until SIGTERM."""
    arguments = parse_arguments()
    os.environ.update(MOSEC_ADDRESS="127.0.0.1", MOSEC_TIMEOUT=str(SECONDS * 1000), MOSEC_LOG_LEVEL="warning")
    server = Server()
    server.append_worker(
        MosecExtraction,
        num=arguments.workers,
        max_batch_size=arguments.batch_size,
        max_wait_time=round(arguments.wait_seconds * 1000),
        env=[{"OMP_NUM_THREADS": str(arguments.threads)}] * arguments.workers,
        timeout=SECONDS,
        route="/extract",
    )
    server.run()


if __name__ == "__main__":
    main()
