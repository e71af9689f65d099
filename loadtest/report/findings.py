"""Findings: the sentences at the top of a report, each with its figures, and the trends within phases. Pure.

Trends: recovery after a peak, latency of short and of long documents, growth of memory and open files.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import numpy as np

from loadtest.generator.records import TOO_LONG, Records
from loadtest.generator.sampler import MetricsSample
from loadtest.results.summary import Figures, Summary, by_rate
from loadtest.scenario.scenario import Phase, Scenario

UNANSWERED = 0.01
"""Largest share of refusals and failures in a phase that holds."""
COLLAPSE = 0.95
"""Ratio of the goodput in overload to the peak below which it has collapsed."""
OVERLOAD = 1.2
"""Ratio of the offered rate to the peak from which a phase is an overload."""
STAGES = ("parse", "tokenize", "queue", "compute", "decode")


def findings(summary: Summary, trends: Sequence[str] = ()) -> list[str]:
    """All findings, most important first; `trends` come last."""
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
        mildest = _why(min(phases, key=lambda phase: phase.offered_rps))
        least = min(phase.offered_rps for phase in phases)
        return (
            f"No phase held a p99 of {slo:g} ms: even at {least:.1f} documents a second {mildest}; "
            f"the best goodput was {peak:.1f}."
        )
    best = max(holding, key=lambda phase: phase.offered_rps)
    beyond = [phase for phase in phases if phase.offered_rps > best.offered_rps]
    ending = _no_longer(min(beyond, key=lambda phase: phase.offered_rps)) if beyond else ", the highest rate offered"
    return (
        f"A p99 of {slo:g} ms holds up to {best.offered_rps:.1f} documents a second{ending}; peak goodput {peak:.1f}."
    )


def _no_longer(phase: Figures) -> str:
    return f" and no longer at {phase.offered_rps:.1f}, where {_why(phase)}"


def _why(phase: Figures) -> str:
    """The reason why a phase did not hold: what was refused or failed, else its latency."""
    unanswered = 1 - phase.ok / phase.requests
    if unanswered <= UNANSWERED and phase.latency_ms:
        return f"it was {phase.latency_ms['p99']:.0f} ms"
    kinds = [f"{count} {word}" for count, word in ((phase.refused, "refused"), (phase.failed, "failed")) if count]
    return f"{unanswered:.0%} were not answered ({', '.join(kinds) or 'lost'})"


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
    kept = "goodput stays at" if share >= COLLAPSE else "goodput falls to"
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
    typed = "typed" if TOO_LONG in whole.outcomes else "typed and with Retry-After"
    quality = f"; {' and '.join(flaws)}" if flaws else f", every one {typed}"
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


PEAK_RATIO = 1.5
"""Ratio of a phase's rate to the next one's from which it is a peak."""
TOLERATED_SHARE = 0.05
"""Share of a second's requests that may miss the service level after a recovery."""
SHORT_TOKENS = 1_000
"""Tokens up to which a document counts as short: a few windows."""
MIN_ANSWERS = 30
"""Answers without which a 99th percentile is left to chance."""
MIN_GROWTH_SECONDS = 200.0
"""Seconds that a run must last for growth to be seen."""
MEBIBYTE = 2.0**20


def trends(scenario: Scenario, records: Records, samples: Sequence[MetricsSample]) -> list[str]:
    """Sentences on all trends that a run shows."""
    return [*_recoveries(scenario, records), *_by_length(records.due_in(scenario.windows)), *_growth(samples)]


def _recoveries(scenario: Scenario, records: Records) -> list[str]:
    """Sentences on the time after each peak in which the service level was missed."""
    starts = scenario.starts
    found = []
    for number, (peak, after) in enumerate(pairwise(scenario.phases)):
        if _is_peak(peak, after):
            begin = starts[number + 1]
            seconds = _last_bad_second(records.between(begin, starts[number + 2]), begin, scenario.slo_ms)
            level = f"the service level of {scenario.slo_ms:g} ms"
            if seconds == 0:
                found.append(f"After {peak.name!r} {level} held again at once.")
            elif seconds >= after.seconds - 1:
                found.append(f"After {peak.name!r} {level} was still MISSED {after.seconds:.0f} s later.")
            else:
                found.append(f"After {peak.name!r} it took {seconds} s until {level} held again.")
    return found


def _is_peak(peak: Phase, after: Phase) -> bool:
    constant = peak.shape == after.shape == "constant"
    return constant and not (peak.warm_up or after.warm_up) and peak.rate >= PEAK_RATIO * after.rate


def _last_bad_second(due: Records, begin: float, slo_ms: float) -> int:
    """Seconds from `begin` to the end of the last second in which requests missed the service level."""
    second = (due.intended - begin).astype(np.int64)
    good = due.ok & (due.latency_ms <= slo_ms)
    bad = [int(each) for each in np.unique(second) if (~good[second == each]).mean() > TOLERATED_SHARE]
    return bad[-1] + 1 if bad else 0


def _by_length(records: Records) -> list[str]:
    """Latencies of short and of long documents, where there are both: do short ones wait for long ones?"""
    short, long = (
        records.where(records.ok & chosen) for chosen in (records.tokens <= SHORT_TOKENS, records.tokens > SHORT_TOKENS)
    )
    if min(len(short), len(long)) < MIN_ANSWERS:
        return []
    cuts = (f"p50 {p50:,.0f} ms, p99 {p99:,.0f} ms" for p50, p99 in map(_cuts, (short, long)))
    return [f"Documents of up to {SHORT_TOKENS:,} tokens: {next(cuts)}; longer ones: {next(cuts)}."]


def _cuts(records: Records) -> tuple[float, float]:
    p50, p99 = np.quantile(records.latency_ms, (0.5, 0.99))
    return float(p50), float(p99)


def _growth(samples: Sequence[MetricsSample]) -> list[str]:
    """Sentences on growth from the second quarter's median to the last one's; in the first one parts still start."""
    known = [each for each in samples if each.at >= 0 and "memory_bytes" in each.values and "open_files" in each.values]
    if not known or known[-1].at - known[0].at < MIN_GROWTH_SECONDS:
        return []
    quarter = len(known) // 4
    early, late = known[quarter : 2 * quarter], known[-quarter:]
    memory = [median(each.values["memory_bytes"] for each in part) / MEBIBYTE for part in (early, late)]
    files = [median(each.values["open_files"] for each in part) for part in (early, late)]
    return [
        f"From the second quarter to the last: memory {memory[0]:,.0f} → {memory[1]:,.0f} MiB "
        f"({memory[1] / memory[0] - 1:+.1%}), open files {files[0]:,.0f} → {files[1]:,.0f}."
    ]
