"""The dashboard of capacity and cost: what is there, used and paid for, and what could be removed."""

from __future__ import annotations

from infra.dashboards.page import (
    DOCUMENTS,
    RUNBOOK,
    TASKS,
    TOKENS,
    Page,
    Query,
    Row,
    Text,
    Variable,
    bars,
    lines,
    number,
    stack,
)

PRICE = Variable(name="price", label="Dollars per task and hour", default="1.006")
"""Dollars an hour of a g5.xlarge in us-east-1, on demand; without load balancer and traffic."""

BY_REVISION = 'label_replace({}, "revision", "$1", "revision", "sha256:(.{{12}}).*")'
"""Letters of a revision's digest that are enough to tell it by."""

HOW_TO_READ = """
**Work ratio** is what to size by: 70 % leaves room for one task to fail. **GPU utilization** is not: a batching server
shows 95 % at 40 % of its capacity. Below 30 % for days: lower the minimum, or take a smaller instance. Batches that are
never full have room for more work at the same cost; batches that are always full while the GPU idles in between mean
that the host is the limit. [Runbook]($runbook)
"""

COST = Row("What does it cost?", (
    number("Dollars per hour", "currencyUSD", Query("gleaner:tasks:up * $price", "fleet"), width=6,
        meaning="Answering tasks by the price above."),
    number("Dollars per million documents, now", "currencyUSD",
        Query("gleaner:tasks:up * $price / 3600 / (gleaner:documents:rate1m > 0) * 1e6", "at this load"), width=6,
        meaning="At this load; nights are dear."),
    number("… at 70 % work ratio", "currencyUSD",
        Query("gleaner:tasks:up * $price / 3600 / (gleaner:documents:rate1m > 0) * 1e6"
              " * gleaner:work_ratio:mean / 0.7", "at the target"),
        width=6, meaning="What the same documents would cost on a fleet of the right size."),
    number("Dollars per hour that idle", "currencyUSD",
        Query("gleaner:tasks:up * $price * clamp_min(1 - gleaner:work_ratio:mean, 0)", "idle"), width=6,
        meaning="Price of the capacity that nobody asks for."),
    lines("Tasks", TASKS, Query("gleaner:tasks:up", "answering"), Query("gleaner:tasks:ready", "ready"),
        Query("sum(gleaner_work_ratio) / 0.7", "needed for 70 %"), width=12,
        meaning="Needed: the tasks that would bring the work ratio to 70 %."),
    stack("Documents", DOCUMENTS, Query("sum by (outcome) (rate(gleaner_documents_total[1m]))", "{{outcome}}"),
        width=12, meaning="By outcome."),
))  # fmt: skip

ROOM = Row("How much room is there?", (
    lines("Tokens", TOKENS, Query("gleaner:tokens:rate1m", "computed"),
        Query('sum(sum by (instance) (gleaner_stage_work_ratio{stage="compute"})'
              " * on (instance) sum by (instance) (gleaner_capacity_tokens_per_second))", "asked for"),
        Query("gleaner:capacity_tokens:sum", "capacity"), meaning="Asked for above capacity: the queue grows."),
    lines("Work ratio by stage", "percentunit", Query("gleaner:stage_work_ratio:mean", "{{stage}}"),
        meaning="The highest is the bottleneck. Tokenize or parse: more vCPUs for a GPU cost less than more GPUs."),
    lines("Work ratio, busy, GPU", "percentunit", Query("gleaner:work_ratio:mean", "work ratio"),
        Query("avg(gleaner:busy:ratio1m)", "busy"), Query("avg(gleaner_gpu_utilization_ratio)", "GPU utilization"),
        meaning="Work ratio is linear in load; the other two saturate."),
    lines("How full batches are", "percentunit",
        Query("sum by (instance) (rate(gleaner_batch_fill_sum[1m]))"
              " / sum by (instance) (rate(gleaner_batch_fill_count[1m]))", "{{instance}}"),
        width=6, meaning="Tokens of a batch over the most that it may hold."),
    lines("Tokens per document", "si: tokens",
        Query("gleaner:tokens:rate1m / (gleaner:documents:rate1m > 0)", "tokens"),
        width=6, meaning="Costs follow tokens: if this doubles, capacity in documents halves."),
    stack("Tokens that wait", "si: tokens", Query("sum by (instance) (gleaner_queue_tokens)", "{{instance}}"), width=6,
        meaning="By task."),
    bars("Seconds from start to ready", "s", Query("max by (part) (gleaner_start_seconds)", "{{part}}"), width=6,
        meaning="The slowest task, by part. What scaling out has to wait for, in addition to the instance itself."),
))  # fmt: skip

BULK = Row("What do bulk jobs do?", (
    lines("Bulk work that waits", "s", Query("max(gleaner_bulk_backlog_seconds)", "of one task"),
        meaning="What one task would need for all files in the queue."),
    lines("Tasks for a bulk deadline", TASKS, Query("max(gleaner_bulk_tasks_wanted)", "wanted"),
        Query("gleaner:tasks:ready", "ready"), meaning="Without a deadline one is wanted while anything waits."),
    lines("Bulk's part of the work ratio", "percentunit",
        Query("avg by (stage) (gleaner_bulk_stage_work_ratio)", "{{stage}}"),
        meaning="Scaling leaves it out: it is what nobody else has asked for."),
    lines("Until the bulk deadline", "s", Query("min(gleaner_bulk_deadline_left_seconds)", "left"),
        Query("avg(gleaner_bulk_backlog_seconds) / count(gleaner_bulk_backlog_seconds)", "needed by these tasks"),
        width=12, meaning="Needed above left: a job misses its deadline, unless tasks are added."),
    lines("Dead letters of bulk jobs", "suffix:chunks", Query("max(gleaner_bulk_dead_letters)", "chunks"), alarm=1.0,
        width=12, meaning="Chunks that failed again and again. `gleaner bulk status` names their files."),
))  # fmt: skip

MODELS = Row("Which models use it?", (
    stack("Tokens, by model", TOKENS,
        Query("sum by (model) (rate(gleaner_model_tokens_total[1m]))", "{{model}}"),
        meaning="What each model takes of the fleet."),
    stack("Weights", "bytes", Query("sum by (place) (gleaner_weight_bytes)", "{{place}}"),
        meaning="On devices, and in host memory."),
    lines("Largest batch", "si: tokens",
        Query(BY_REVISION.format("min by (model, revision) (gleaner_budget_tokens)"), "{{model}} {{revision}}"),
        meaning="Most tokens that a batch may hold now, on the tightest task."),
))  # fmt: skip

CAPACITY = Page(
    uid="gleaner-capacity",
    title="Gleaner: capacity and cost",
    description="How much there is, how much is used, what it costs, what could go.",
    rows=(
        COST,
        ROOM,
        BULK,
        MODELS,
        Row("How to read this", (Text(title="How to read this", markdown=HOW_TO_READ.strip()),)),
    ),
    variables=(PRICE, RUNBOOK),
)
