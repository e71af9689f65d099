"""Metrics of a front worker: requests, documents and their stages."""

from __future__ import annotations

from service.metrics.kinds import counter, gauge, histogram

_STAGE_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class WorkerMetrics:
    """Metrics of a front worker: requests, documents and their stages."""

    def __init__(self) -> None:
        self.requests = counter("gleaner_requests", "Answered requests by route and status.", "route", "status")
        self.request_seconds = histogram(
            "gleaner_request_seconds", "Seconds from a request's first byte to its answer.", _STAGE_BUCKETS, "route"
        )
        self.documents = counter(
            "gleaner_documents", "Answered documents by outcome: ok, or the error's code.", "outcome"
        )
        self.stage_seconds = histogram(
            "gleaner_stage_seconds", "Seconds of a document in each stage.", _STAGE_BUCKETS, "stage"
        )
        self.entities = counter("gleaner_entities", "Entities found.")
        self.parser_deaths = counter(
            "gleaner_parser_deaths", "Parser processes that crashed or were stopped over a file."
        )
        self.parser_sandbox = gauge(
            "gleaner_parser_sandbox", "1 if the platform gave this part of the parsers' sandbox, 0 if not.", "part"
        )
        self.resubmitted = counter("gleaner_resubmitted_documents", "Documents submitted again after an engine died.")
