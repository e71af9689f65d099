"""Generator health: decides whether the generator was the bottleneck, in which case a run's figures are not reported.

Latency is counted from the intended time, so lag makes a server look slower, never faster. The problems that a run can
have, among the requests that are reported:
- connections: a request could not be sent because the limit was reached;
- CPU: a process used more than 90 % of a core, so that it may have sent late and read late;
- lag: more than 1 % of the requests, and more than two, left over 20 ms late *and* later than a tenth of the 99th
  percentile of the latency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from loadtest.records.records import Records

MOST_CPU_SHARE = 0.9
LAG_MS = 20.0
LAG_SHARE = 0.1
LATE_SHARE = 0.01
FEW = 2


@dataclass(frozen=True, slots=True)
class GeneratorHealth:
    """The generator's own measurements. `problems` is empty when the run's figures can be trusted."""

    processes: int
    lag_p50_ms: float
    lag_p99_ms: float
    lag_max_ms: float
    cpu_share: float
    most_connections: int
    resent: int
    problems: tuple[str, ...]


def assess_generator(
    records: Records, *, processes: int, cpu_share: float, most_connections: int, exhausted: int, resent: int
) -> GeneratorHealth:
    """The health of a run's generator; `cpu_share` is that of its busiest process."""
    lag = np.quantile(records.lag_ms, (0.5, 0.99, 1.0)) if len(records) else np.zeros(3)
    latency = float(np.quantile(records.latency_ms, 0.99)) if len(records) else 0.0
    problems = []
    if exhausted:
        problems.append(f"{exhausted} requests found no free connection (limit of open files)")
    if cpu_share > MOST_CPU_SHARE:
        problems.append(f"a generator process used {cpu_share:.0%} of a core; use more processes or a faster machine")
    limit = max(LAG_MS, LAG_SHARE * latency)
    late = int((records.lag_ms > limit).sum())
    if late > max(LATE_SHARE * len(records), FEW):
        problems.append(f"{late} requests left more than {limit:.0f} ms late (p99 of the latency: {latency:.0f} ms)")
    shown = (float(lag[0]), float(lag[1]), float(lag[2]))
    return GeneratorHealth(processes, *shown, cpu_share, most_connections, resent, tuple(problems))
