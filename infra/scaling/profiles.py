"""Two tunings of the scaling policy. Pure data.

Their values were chosen by simulating a grid of policies over synthetic and recorded demands: of those that keep 99.9 %
of the documents within the limit on latency, the cheapest. `gleaner simulate --tune FILE` searches the same values for
one demand.
"""

from __future__ import annotations

from infra.scaling.policy_values import Tuning

BURSTY = Tuning()
"""For demands that may jump; the default."""
STEADY = Tuning(
    work_ratio=0.8,
    before_a_step=0.9,
    scale_in_share=0.8125,
    quiet_seconds=600,
    gpu_veto=False,
)
"""For demands that instances can follow: a daily wave, a slow trend."""
