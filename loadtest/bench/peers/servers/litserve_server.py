"""LitServe around the pipeline: `python -m loadtest.bench.peers.servers.litserve_server FOLDER --port …`.

Set up as its documentation advises: the model is loaded in `setup`, batching by `max_batch_size` and `batch_timeout`,
worker processes by `workers_per_device`; https://lightning.ai/docs/litserve/features/batching.
"""

from __future__ import annotations

from typing import Any

import litserve
import litserve.server

from loadtest.bench.peers.servers.arguments import ServerArguments, parse_arguments

litserve.server._MCP_AVAILABLE = False
"""LitServe takes any installed `mcp` for its own, which needs `fastmcp` besides; `POST /extract` needs neither."""


class LitServeExtraction(litserve.LitAPI):
    """POST /extract with one text per request; LitServe forms the batches."""

    def __init__(self, arguments: ServerArguments) -> None:
        super().__init__(max_batch_size=arguments.batch_size, batch_timeout=arguments.wait_seconds, api_path="/extract")
        self._arguments = arguments

    def setup(self, device: str) -> None:
        from loadtest.bench.peers.servers.pipeline import (
            ExtractionPipeline,
        )  # in the workers only: torch takes seconds to import

        self._pipeline = ExtractionPipeline(self._arguments.folder, self._arguments.threads)

    def decode_request(self, request: dict[str, str]) -> str:
        return request["text"]

    def predict(self, x: str | list[str]) -> Any:
        """The answer for one text, or the answers for a batch of them."""
        return self._pipeline.answers([x])[0] if isinstance(x, str) else self._pipeline.answers(x)

    def encode_response(self, output: dict[str, Any]) -> dict[str, Any]:
        return output


def main() -> None:
    """Serve until SIGTERM."""
    arguments = parse_arguments()
    server = litserve.LitServer(
        LitServeExtraction(arguments), accelerator="cpu", workers_per_device=arguments.workers, timeout=600.0
    )
    server.run(
        host="127.0.0.1", port=arguments.port, num_api_servers=1, log_level="warning", generate_client_file=False
    )


if __name__ == "__main__":
    main()
