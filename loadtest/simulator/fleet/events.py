"""What happens to a fleet beside its demand: releases, Spot interruptions, the loss of a zone. Pure data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneLoss:
    """From `at_seconds` on, for `seconds`, the first zone has no instance and gets none."""

    at_seconds: float
    seconds: float = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """What happens beside the demand.

    Attributes:
        releases: times at which a release begins.
        retry_share: of the refused documents that come again after a few seconds.
        interruptions_an_hour: of each Spot instance.
    """

    releases: tuple[float, ...] = ()
    retry_share: float = 0.0
    interruptions_an_hour: float = 0.0
    zone_losses: tuple[ZoneLoss, ...] = ()
