"""What holds for all tests: property tests judge answers, not how quickly a busy machine comes up with examples."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("gleaner", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gleaner")
