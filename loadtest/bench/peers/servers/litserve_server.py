"""LitServe with the pipeline inside: `python -m loadtest.bench.peers.servers.litserve_server FOLDER --port …`.

As its documentation advises: the model is loaded in `setup`, batching by `max_batch_size` and `batch_timeout`, worker
processes by `workers_per_device`; https://lightning.ai/docs/litserve/features/batching.
"""

from __future__ import annotations

from typing import Any

import litserve

from loadtest.bench.peers.servers.arguments import ServerArguments, parse_arguments


class LitServeExtraction(litserve.LitAPI):
    """POST /extract, one text a request; LitServe collects them."""

    def __init__(self, orders: ServerArguments) -> None:
        super().__init__(max_batch_size=orders.batch_size, batch_timeout=orders.wait_seconds, api_path="/extract")
        self._orders = orders

    def setup(self, device: str) -> None:
        from loadtest.bench.peers.servers.pipeline import (
            ExtractionPipeline,
        )  # in the workers only: torch takes seconds to import

        self._judge = ExtractionPipeline(self._orders.folder, self._orders.threads)

    def decode_request(self, request: dict[str, str]) -> str:
        return request["text"]

    def predict(self, x: str | list[str]) -> Any:
        """One text where nothing is collected, else a batch."""
        return self._judge.answers([x])[0] if isinstance(x, str) else self._judge.answers(x)

    def encode_response(self, output: dict[str, Any]) -> dict[str, Any]:
        return output


def main() -> None:
    """Serve until SIGTERM."""
    orders = parse_arguments()
    server = litserve.LitServer(
        LitServeExtraction(orders), accelerator="cpu", workers_per_device=orders.workers, timeout=600.0
    )
    server.run(host="127.0.0.1", port=orders.port, num_api_servers=1, log_level="warning", generate_client_file=False)


if __name__ == "__main__":
    main()
