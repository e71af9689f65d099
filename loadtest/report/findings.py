"""Findings: the sentences at the top of a report, each with its figures. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from loadtest.results.result import Summary
from loadtest.results.summary import Figures, by_rate

UNANSWERED = 0.01
"""The largest share of refusals and failures of a phase that holds."""
COLLAPSE = 0.95
"""The ratio of goodput in overload to the peak below which it has collapsed."""
OVERLOAD = 1.2
"""The ratio of the offered rate to the peak from which a phase is an overload."""
STAGES = ("parse", "tokenize", "queue", "compute", "decode")


def findings(summary: Summary, trends: Sequence[str] = ()) -> list[str]:
    """All findings, most important first; `trends`: those of `report/trends`."""
    return [
        sentence
        for sentence in (
            _knee(summary),
            _latency(summary),
            _overload(summary),
            *trends,
            _refusals(summary.whole),
            _failures(summary.whole),
            _deadlines(summary),
            _stage(summary.whole),
            _revisions(summary),
            _generator(summary),
        )
        if sentence
    ]


def _knee(summary: Summary) -> str:
    phases = by_rate(summary.phases, summary.scenario)
    if not phases:
        return ""
    slo = summary.scenario.slo_ms
    holding = [phase for phase in phases if holds(phase, slo)]
    peak = max(phase.goodput_rps for phase in phases)
    if not holding:
        return f"No phase held a p99 of {slo:g} ms; the best goodput was {peak:.1f} documents a second."
    best = max(holding, key=lambda phase: phase.offered_rps)
    beyond = [phase for phase in phases if phase.offered_rps > best.offered_rps]
    ending = _no_longer(min(beyond, key=lambda phase: phase.offered_rps)) if beyond else ", the highest rate offered"
    return (
        f"A p99 of {slo:g} ms holds up to {best.offered_rps:.1f} documents a second{ending}; peak goodput {peak:.1f}."
    )


def _no_longer(phase: Figures) -> str:
    """The rate and the reason of a phase that did not hold."""
    unanswered = 1 - phase.ok / phase.requests
    why = (
        f"{unanswered:.0%} were not answered" if unanswered > UNANSWERED else f"it was {phase.latency_ms['p99']:.0f} ms"
    )
    return f" and no longer at {phase.offered_rps:.1f}, where {why}"


def holds(phase: Figures, slo_ms: float) -> bool:
    """True when 99 % of the phase's requests were answered within the service level."""
    return (
        bool(phase.latency_ms) and phase.latency_ms["p99"] <= slo_ms and phase.ok >= (1 - UNANSWERED) * phase.requests
    )


def _latency(summary: Summary) -> str:
    latency, whole = summary.whole.latency_ms, summary.whole
    if not latency:
        return f"Not one of {whole.requests} requests was answered."
    shares = f"{whole.ok} of {whole.requests} requests were answered"
    cuts = (
        f"half within {latency['p50']:.0f} ms, 99 % within {latency['p99']:.0f} ms, all within {latency['max']:.0f} ms"
    )
    return f"{shares}: {cuts}."


def _overload(summary: Summary) -> str:
    peak = max((phase.throughput_rps for phase in summary.phases), default=0.0)
    loaded = [phase for phase in summary.phases if peak and phase.offered_rps > OVERLOAD * peak]
    if not loaded or len(summary.phases) < 2:
        return ""
    worst = max(loaded, key=lambda phase: phase.offered_rps)
    share = worst.goodput_rps / peak
    offered = f"Offered {worst.offered_rps / peak:.1f} times the peak throughput"
    slo, deadline = summary.scenario.slo_ms, summary.scenario.mix.deadline_ms
    if share < COLLAPSE and deadline > slo and worst.throughput_rps >= COLLAPSE * peak:
        return (
            f"{offered}, {worst.throughput_rps:.1f} a second are answered, but only {worst.goodput_rps:.1f} of them "
            f"within {slo:g} ms: requests with a deadline of {deadline} ms let a queue stand for that long."
        )
    kept = "goodput stays at" if share >= COLLAPSE else "goodput FALLS to"
    return f"{offered}, {kept} {share:.0%} of it ({worst.goodput_rps:.1f} a second)."


def _refusals(whole: Figures) -> str:
    if not whole.refused:
        return "Nothing was refused."
    reasons = ", ".join(f"{count} {code}" for code, count in whole.outcomes.items() if code != "ok")
    flaws = [
        f"{count} {what}"
        for count, what in (
            (whole.untyped_refusals, "without a typed reason"),
            (whole.refusals_without_retry_after, "without Retry-After"),
        )
        if count
    ]
    quality = f"; {' and '.join(flaws)}" if flaws else ", every one typed and with Retry-After"
    return f"{whole.refused} requests ({whole.refusal_rate:.1%}) were refused ({reasons}){quality}."


def _failures(whole: Figures) -> str:
    return f"{whole.failed} requests FAILED ({whole.error_rate:.2%})." if whole.failed else "No request failed."


def _deadlines(summary: Summary) -> str:
    deadline = summary.scenario.mix.deadline_ms
    if not deadline:
        return ""
    late = summary.whole.late_accepted
    if late:
        by = summary.whole.latency_ms["max"] - deadline
        return f"{late} of {summary.whole.ok} answers came after the deadline of {deadline} ms, up to {by:.0f} ms late."
    return f"Every answer came within its deadline of {deadline} ms."


def _stage(whole: Figures) -> str:
    means = {stage: whole.stages_ms.get(stage, {}).get("mean", 0.0) for stage in STAGES}
    longest = max(means, key=lambda stage: means[stage])
    if not means[longest]:
        return ""
    whole_ms = whole.latency_ms["mean"]
    return f"The longest stage is {longest}: {means[longest]:.1f} ms on average, of {whole_ms:.1f} ms in all."


def _revisions(summary: Summary) -> str:
    if len(summary.revisions) < 2:
        return ""
    shown = ", ".join(f"{count} by {revision[:15]}…" for revision, count in summary.revisions.items())
    return f"{len(summary.revisions)} revisions of models answered: {shown}."


def _generator(summary: Summary) -> str:
    own = summary.generator
    processes = "one process" if own.processes == 1 else f"{own.processes} processes"
    lag = f"p99 of its lag {own.lag_p99_ms:.1f} ms, {own.cpu_share:.0%} of a core"
    if own.problems:
        return f"DO NOT TRUST these figures, the generator ({processes}) was the bottleneck: {'; '.join(own.problems)}."
    return f"The generator ({processes}) kept its schedule: {lag}."
