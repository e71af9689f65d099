"""The work ratios at which a fleet is scaled, as they are by default. A measured capacity may set lower ones."""

from __future__ import annotations

TARGET_WORK_RATIO = 0.7
"""What target tracking keeps: a fleet of three then survives the loss of one."""
STEP_WORK_RATIO = 0.85
"""Above it a step is taken; below 1, since at 1 the queue already grows."""
SCALE_IN_WORK_RATIO = 0.4
"""Below it a task is removed: a fleet of two thirds its size is then still under the target."""
