"""The on-call dashboard: is it slow, why, since when, what to do."""

from __future__ import annotations

from infra.dashboards.page import (
    DOCUMENTS,
    REQUESTS,
    TASKS,
    Page,
    Query,
    Row,
    Text,
    bars,
    lines,
    number,
    stack,
    states,
)

LEAST_TASKS = 2
"""Fewest tasks of a fleet, as in GleanerTooFewTasks."""

ADVICE = (
    ("queue, on all tasks", "more work than capacity", "Is the fleet at its maximum, or still starting?",
        "GleanerRefuses"),
    ("queue, on one task", "a slow GPU, or one long document", "Compare its busy ratio with the others'.",
        "GleanerBacklog"),
    ("compute", "longer documents, a GPU that throttles or is shared", "Compare tokens per document.", "GleanerSlow"),
    ("parse", "large or hostile files", "Whose files? The log names the client.", "GleanerParserDeaths"),
    ("tokenize, decode", "the host's cores are busy", "Fewer parsers, or a larger instance.", "GleanerLoopLate"),
    ("nothing, but refusals unread", "the API workers are full, or attacked", "Which code? More tasks, by hand.",
        "GleanerRefusesConnections"),
    ("nothing, but errors", "an engine that dies, a bad release", "Roll back.", "GleanerEngineDied"),
)  # fmt: skip
"""Symptom, its usual cause, the first step, and the alert whose section of the runbook says more."""


def advice() -> str:
    """The advice as a table in Markdown."""
    rows = (f"| **{grown}** | {why} | {what} [More]($runbook#{alert.lower()}) |" for grown, why, what, alert in ADVICE)
    where = "*More* leads to the runbook, at the address that stands under *Runbook* at the top of this page."
    return "\n".join(("| What has grown | Usual cause | What to do |", "|---|---|---|", *rows, "", where))


IS_IT_SLOW = Row("Is it slow?", (
    number("Requests", REQUESTS, Query("sum(gleaner:requests:rate1m)", "requests"), width=4,
        meaning="Answered requests for work (/extract, /redact, adapters) of the whole fleet, over a minute."),
    number("99 of 100 requests", "s", Query("gleaner:request_seconds:p99_5m", "at most"),
        Query("gleaner:request_seconds:slo", "limit"), width=4,
        meaning="Seconds, over five minutes, and the limit, once one was measured. Without batch work and OCR."),
    number("Failed requests", "percentunit", Query("gleaner:errors:ratio5m", "failed"), worry=0.001, alarm=0.01,
        width=4, meaning="Share that the service failed, over five minutes. Refusals for load are none."),
    number("Turned away", DOCUMENTS, Query("sum(gleaner:refusals:rate1m) or vector(0)", "documents"), worry=0.001,
        alarm=1.0, width=4, meaning="Documents a second that the engines refused, for whatever reason."),
    number("Oldest that waits", "s", Query("max(gleaner_queue_oldest_age_seconds)", "age"), worry=2.0, alarm=10.0,
        width=4, meaning="Age of the document that has waited longest, on the worst task."),
    number("Ready tasks", TASKS, Query("gleaner:tasks:ready", "ready"), least=LEAST_TASKS, width=4,
        meaning="Two are the least that may be ready, so that one may fail."),
    lines("Seconds of a request", "s", Query("gleaner:request_seconds:p50", "median"),
        Query("gleaner:request_seconds:p95", "95 of 100"), Query("gleaner:request_seconds:p99", "99 of 100"),
        Query("gleaner:request_seconds:slo", "limit for 99 of 100"), width=12,
        meaning="From the first byte to the answer, by the histogram's buckets. Without batch work and OCR."),
    stack("Answers by status", REQUESTS, Query("gleaner:requests:rate1m", "{{status}}"), width=12,
        meaning="429, 503, 504: overload, or tasks that come and go. Other 4xx are the callers', 500 and 507 ours."),
))  # fmt: skip

WHY = Row("Why? Where the seconds go", (
    stack("Seconds a document spends in each stage", "s", Query("gleaner:stage_seconds:mean1m", "{{stage}}"),
        width=9, meaning="Mean over a minute. The stage that has grown is the one to look at."),
    lines("The slow ones, by stage", "s", Query("gleaner:stage_seconds:p95", "{{stage}}"), width=5,
        meaning="95th percentile of each stage."),
    bars("Which stage now", "percentunit",
        Query("gleaner:stage_seconds:mean1m / scalar(sum(gleaner:stage_seconds:mean1m))", "{{stage}}"), width=5,
        meaning="Share of a document's seconds."),
    lines("Tokens per document", "si: tokens",
        Query("sum(rate(gleaner_tokens_total[1m])) / (sum(rate(gleaner_documents_total[1m])) > 0)", "tokens"),
        width=5, meaning="Longer documents compute for longer, and capacity in documents falls."),
))  # fmt: skip

SINCE_WHEN = Row("Since when?", (
    states("What the tasks are doing", "none",
        Query('max by (instance) (gleaner_phase{phase="ready"})', "{{instance}} ready"), least=1.0,
        width=12, meaning="1, green: ready. A gap: did not answer."),
    lines("Alerts", "suffix:alerts",
        Query('count by (alertname) (ALERTS{alertstate="firing"}) or vector(0)', "{{alertname}}"),
        width=6, meaning="Which alerts sound, since when."),
    lines("Deaths", "suffix:deaths",
        Query("sum by (instance) (gleaner_engine_starts_total - 1)", "engine of {{instance}}"),
        Query("sum by (instance) (gleaner_parser_deaths_total)", "parsers of {{instance}}"), width=6,
        meaning="Each step is a process that died and was replaced."),
    lines("Work ratio", "percentunit", Query("gleaner_work_ratio", "{{instance}}"), worry=0.8, alarm=1.0,
        meaning="Asked-for work over capacity, by task, of the stage that has most. Above 100 % its queue grows."),
    lines("Seconds of work that waits", "s", Query("gleaner_backlog_seconds", "{{instance}}"), worry=5.0, alarm=30.0,
        meaning="What waits and was recently turned away, over measured speed; or what waits for parsers, if more."),
    stack("Turned away, by reason", DOCUMENTS,
        Query("sum by (code) (gleaner:refusals:rate1m) or vector(0)", "{{code}}"),
        meaning="queue_full, deadline_exceeded: too little capacity. draining, not_ready: tasks come and go."),
))  # fmt: skip

WORKERS = Row("Do the API workers keep up?", (
    lines("Which stage is the bottleneck", "percentunit",
        Query("max by (stage) (gleaner_stage_work_ratio)", "{{stage}}"), worry=0.8, alarm=1.0, width=12,
        meaning="Asked-for work over capacity, on the worst task: of the device, the API workers, the parsers."),
    lines("Files wait for a parser", "s", Query("max by (instance) (gleaner_parser_wait_seconds)", "{{instance}}"),
        worry=2.0, alarm=10.0, width=12,
        meaning="What the parsers need for the files that have not begun. GLEANER_MAX_QUEUE_MS bounds it."),
    lines("Open connections", "suffix:connections",
        Query("sum by (instance) (gleaner_connections)", "{{instance}} open"),
        Query("sum by (instance) (gleaner_requests_in_flight)", "{{instance}} being answered"),
        meaning="Balancers keep idle connections open. Being answered and growing, with nothing in the engine's "
              "queue: requests wait for the API workers."),
    stack("Refused unread", REQUESTS,
        Query("sum by (code) (gleaner:connection_refusals:rate1m) or vector(0)", "{{code}}"),
        meaning="Requests and connections refused before a body was read. queue_full and deadline_exceeded: the "
              "API workers are full."),
    lines("Event loop late by", "s", Query("max by (instance) (gleaner_event_loop_lag_seconds)", "{{instance}}"),
        worry=0.1, alarm=0.5,
        meaning="Longest delay of a timer in the last second, in the worst worker. The cores are busy."),
    lines("Bytes held", "bytes", Query("sum by (instance) (gleaner_held_bytes)", "{{instance}}"), width=12,
        meaning="Unfinished bodies and unread answers. At its limit the largest is given up."),
    stack("Dropped without an answer", "suffix:connections/s",
        Query("sum by (reason) (rate(gleaner_connection_drops_total[1m])) or vector(0)", "{{reason}}"), width=12,
        meaning="Idle or slow connections that were closed, by reason."),
))  # fmt: skip

DEVICE = Row("Is the device well?", (
    lines("Busy", "percentunit", Query("gleaner:busy:ratio1m", "{{instance}} batches"),
        Query("gleaner_gpu_utilization_ratio", "{{instance}} NVML"),
        meaning="NVML says that a kernel ran, not that the GPU was full: 95 % at 40 % of capacity is normal."),
    lines("Memory", "bytes", Query("gleaner_memory_room_bytes", "{{instance}} room for a batch"),
        Query("gleaner_memory_rest_bytes", "{{instance}} weights, libraries, graphs"),
        Query("gleaner_gpu_memory_used_bytes", "{{instance}} used by anybody"),
        meaning="If used by anybody grows and ours does not, somebody else is on the GPU."),
    lines("Batches split for want of memory", "suffix:batches",
        Query("sum by (instance) (increase(gleaner_memory_splits_total[5m]))", "{{instance}}"), alarm=1.0,
        meaning="Should be zero. Answers were right, but late."),
    states("What runs each model", "none",
        Query("count by (path, attention, kernels, dtype, reason) (gleaner_model_path == 1)",
              "{{path}}, {{attention}}, {{kernels}}, {{dtype}}: {{reason}}"),
        width=12, meaning="How many revisions run so, and why no faster. On a GPU: fused; padded is slow."),
    states("What keeps the clocks down", "none",
        Query("max by (instance, reason) (gleaner_gpu_throttled)", "{{instance}} {{reason}}"), worry=1.0,
        width=12, meaning="1 while it does. power_cap under full load is normal; anything hardware or thermal is not."),
    lines("Temperature", "celsius", Query("gleaner_gpu_temperature_celsius", "{{instance}}"), worry=80.0, alarm=90.0,
        width=6, meaning="By GPU."),
    lines("Power", "watt", Query("gleaner_gpu_power_watts", "{{instance}}"),
        Query("gleaner_gpu_power_limit_watts", "{{instance}} limit"), width=6,
        meaning="Far below its limit under load: the GPU waits for us."),
))  # fmt: skip

ON_CALL = Page(
    uid="gleaner-on-call",
    title="Gleaner: on call",
    description="Is it slow, why, since when, what to do.",
    rows=(
        IS_IT_SLOW,
        WHY,
        Row("What to do", (Text(title="What to do", markdown=advice(), height=5 + len(ADVICE)),)),
        SINCE_WHEN,
        WORKERS,
        DEVICE,
    ),
)
