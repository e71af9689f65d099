"""Two tunings of the policy, chosen over a grid of simulated demands (`loadtest/simulator/evidence`). Pure data."""

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
