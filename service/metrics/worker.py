"""Metrics of an API worker: requests, documents and their stages."""

from __future__ import annotations

from service.core.errors import BY_CODE, is_server_error
from service.metrics.processes import ProcessMetrics
from service.metrics.prometheus import REFUSALS_TEXT, counter, gauge, gauge_of_processes, histogram

_STAGE_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class WorkerMetrics:
    """Metrics of an API worker: requests, documents and their stages."""

    def __init__(self) -> None:
        self.requests = counter("gleaner_requests", "Answered requests by route and status.", "route", "status")
        self.request_seconds = histogram(
            "gleaner_request_seconds",
            "Seconds from a request's first byte to its answer; of none with priority `batch`, or with OCR.",
            _STAGE_BUCKETS,
            "route",
        )
        self.server_errors = counter(
            "gleaner_server_errors", "Requests for work that the service failed, in whole or in part.", "code"
        )
        for code in filter(is_server_error, BY_CODE):
            self.server_errors.labels(code)  # A series that begins with its first error has no increase there.
        self.documents = counter(
            "gleaner_documents", "Answered documents by outcome: ok, or the error's code.", "outcome"
        )
        self.refusals = counter("gleaner_refusals", REFUSALS_TEXT, "code")
        clients = "by client; `other` beyond a hundred, and without GLEANER_INTERNAL_PORT."
        self.client_documents = counter("gleaner_client_documents", f"Documents that were sent, {clients}", "client")
        self.client_tokens = counter("gleaner_client_tokens", f"Tokens that were answered, {clients}", "client")
        self.stage_seconds = histogram(
            "gleaner_stage_seconds", "Seconds of a document in each stage.", _STAGE_BUCKETS, "stage"
        )
        self.entities = counter("gleaner_entities", "Entities found.")
        self.failed_readers = counter(
            "gleaner_failed_readers",
            "Documents that lost a value or fields to an error in a reader.",
            "reader",
            "error",
        )
        self._failed_readers: set[tuple[str, str]] = set()
        self.redacted = counter("gleaner_redacted_entities", "Ranges of text that were taken out of documents.")
        self.rasterized_pages = counter(
            "gleaner_rasterized_pages", "Pages of redacted PDFs that became pictures, as they could not be rewritten."
        )
        self.parser_deaths = counter(
            "gleaner_parser_deaths", "Parser processes that crashed or were stopped over a file."
        )
        self.parser_sandbox = gauge(
            "gleaner_parser_sandbox", "1 if the platform gave this part of the parsers' sandbox, 0 if not.", "part"
        )
        self.resubmitted = counter("gleaner_resubmitted_documents", "Documents submitted again after an engine died.")
        self.keys_rejected = gauge(
            "gleaner_keys_rejected", "1 while the keys file is bad and the keys before it stay in force."
        )
        self.failed_keys = counter(
            "gleaner_failed_keys", "Requests with an unknown key, by answer: forbidden or rate_limited.", "code"
        )
        self.connections = ConnectionMetrics()
        self.process = ProcessMetrics("worker", children="parser")
        self.build = gauge("gleaner_build_info", "1, by the service's version and Python's.", "version", "python")

    def reading_failed(self, reader: str, error: str) -> bool:
        """Count a document over which a reader raised; True for the first with this error."""
        self.failed_readers.labels(reader, error).inc()
        is_first = (reader, error) not in self._failed_readers
        self._failed_readers.add((reader, error))
        return is_first

    def answered(self, route: str, status: int, seconds: float | None, server_error: str | None) -> None:
        """Count an answered request.

        Args:
            seconds: None where its time says nothing of the service's speed.
            server_error: the code of an error of the service's in the answer.
        """
        self.requests.labels(route, str(status)).inc()
        if server_error is not None:
            self.server_errors.labels(server_error).inc()
        if seconds is not None:
            self.request_seconds.labels(route).observe(seconds)


class ConnectionMetrics:
    """Metrics of an API worker's connections: open ones, held bytes, and refusals before parsing."""

    def __init__(self) -> None:
        self.open = gauge_of_processes("gleaner_connections", "Connections that are open.", together="livesum")
        self.in_flight = gauge_of_processes(
            "gleaner_requests_in_flight", "Requests that were taken on and are not answered.", together="livesum"
        )
        self.held_bytes = gauge_of_processes(
            "gleaner_held_bytes", "Bytes of unfinished bodies and unread answers.", together="livesum"
        )
        self.loop_lag_seconds = gauge_of_processes(
            "gleaner_event_loop_lag_seconds", "Longest delay of a timer in the last second.", together="livemax"
        )
        self.refused = counter(
            "gleaner_connection_refusals", "Requests and connections refused before they were parsed.", "code"
        )
        self.dropped = counter("gleaner_connection_drops", "Connections closed without an answer, by reason.", "reason")
