"""Every metric's name, kind and labels: an interface that dashboards, alarms and autoscaling refer to."""

from __future__ import annotations

from tests.support.metric_values import ALL_METRICS, collected, signatures

METRICS: dict[str, tuple[str, ...]] = {
    "gleaner_backlog_seconds": ("gauge",),
    "gleaner_bad_messages": ("counter",),
    "gleaner_batch_fill": ("histogram",),
    "gleaner_batch_splits": ("counter",),
    "gleaner_batches": ("counter",),
    "gleaner_budget_tokens": ("gauge", "model"),
    "gleaner_busy_seconds": ("counter",),
    "gleaner_capacity_tokens_per_second": ("gauge",),
    "gleaner_cloudwatch_deliveries": ("counter", "outcome"),
    "gleaner_cloudwatch_given_up": ("counter",),
    "gleaner_connection_drops": ("counter", "reason"),
    "gleaner_connection_refusals": ("counter", "code"),
    "gleaner_connections": ("gauge",),
    "gleaner_documents": ("counter", "outcome"),
    "gleaner_engine_starts": ("counter",),
    "gleaner_entities": ("counter",),
    "gleaner_event_loop_lag_seconds": ("gauge",),
    "gleaner_failed_keys": ("counter", "code"),
    "gleaner_gpu_clock_hertz": ("gauge", "clock"),
    "gleaner_gpu_ecc_errors": ("gauge", "kind"),
    "gleaner_gpu_lost": ("gauge",),
    "gleaner_gpu_memory_total_bytes": ("gauge",),
    "gleaner_gpu_memory_used_bytes": ("gauge",),
    "gleaner_gpu_power_limit_watts": ("gauge",),
    "gleaner_gpu_power_watts": ("gauge",),
    "gleaner_gpu_temperature_celsius": ("gauge",),
    "gleaner_gpu_throttled": ("gauge", "reason"),
    "gleaner_gpu_utilization_ratio": ("gauge",),
    "gleaner_gpu_xid_errors": ("counter", "xid"),
    "gleaner_held_bytes": ("gauge",),
    "gleaner_keys_rejected": ("gauge",),
    "gleaner_memory_available_bytes": ("gauge",),
    "gleaner_memory_bytes_per_token": ("gauge", "model"),
    "gleaner_memory_fit_error_ratio": ("gauge", "model"),
    "gleaner_memory_rest_bytes": ("gauge",),
    "gleaner_memory_room_bytes": ("gauge",),
    "gleaner_memory_shrinks": ("gauge",),
    "gleaner_memory_splits": ("counter",),
    "gleaner_model_move_seconds": ("counter", "direction"),
    "gleaner_model_moves": ("counter", "direction"),
    "gleaner_model_path": ("gauge", "model", "path", "attention", "kernels", "dtype", "reason"),
    "gleaner_model_queue_tokens": ("gauge", "model"),
    "gleaner_model_tokens": ("counter", "model"),
    "gleaner_models": ("gauge", "place"),
    "gleaner_parser_deaths": ("counter",),
    "gleaner_parser_sandbox": ("gauge", "part"),
    "gleaner_parser_wait_seconds": ("gauge",),
    "gleaner_phase": ("gauge", "phase"),
    "gleaner_queue_documents": ("gauge",),
    "gleaner_queue_oldest_age_seconds": ("gauge",),
    "gleaner_queue_sequences": ("gauge",),
    "gleaner_queue_tokens": ("gauge",),
    "gleaner_rasterized_pages": ("counter",),
    "gleaner_redacted_entities": ("counter",),
    "gleaner_refusals": ("counter", "code"),
    "gleaner_request_seconds": ("histogram", "route"),
    "gleaner_requests": ("counter", "route", "status"),
    "gleaner_requests_in_flight": ("gauge",),
    "gleaner_resubmitted_documents": ("counter",),
    "gleaner_revision_rejected": ("gauge", "model"),
    "gleaner_revision_switches": ("counter", "model", "outcome"),
    "gleaner_stage_seconds": ("histogram", "stage"),
    "gleaner_stage_work_ratio": ("gauge", "stage"),
    "gleaner_start_seconds": ("gauge", "part"),
    "gleaner_tokens": ("counter",),
    "gleaner_weight_bytes": ("gauge", "place"),
    "gleaner_work_ratio": ("gauge",),
}
"""Name → kind, labels. A change here is a change for everybody who reads `/metrics`."""


def test_names_kinds_and_labels_are_those_of_the_interface() -> None:
    found = [each for kind in ALL_METRICS for each in signatures(kind())]
    assert len({name for name, *_ in found}) == len(found), "a name is used twice"
    assert {name: tuple(rest) for name, *rest in found} == METRICS


def test_every_help_text_is_a_sentence() -> None:
    texts = [metric.documentation for kind in ALL_METRICS for metric in collected(kind())]
    assert all(text[0].isupper() or text[0].isdigit() for text in texts)
    assert all(text.endswith(".") for text in texts)
