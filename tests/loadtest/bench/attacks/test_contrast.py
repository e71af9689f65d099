"""What one client may notice of another: the goal's arithmetic."""

from __future__ import annotations

import pytest

from loadtest.bench.attacks.contrast import HEAD, Contrast
from loadtest.bench.attacks.figures import Observation


def seen(milliseconds: float, lost: int = 0) -> Observation:
    return Observation([milliseconds / 1000] * 50, 0, {"timeout": lost} if lost else {}, [], 0, 0)


@pytest.mark.parametrize(
    ("beside", "batch_seconds", "lost", "verdict"),
    [(109.0, 0.0, 0, "yes"), (111.0, 0.0, 0, "no"), (111.0, 0.002, 0, "yes"), (109.0, 0.0, 1, "no")],
)
def test_the_p99_beside_another_may_rise_by_a_share_and_a_batch(
    beside: float, batch_seconds: float, lost: int, verdict: str
) -> None:
    contrast = Contrast("others", 0.10, waits=True)
    contrast.without, contrast.beside = [seen(100.0), seen(50.0)], [seen(40.0), seen(beside, lost)]
    contrast.batches = [(batch_seconds * 10, 10.0), (batch_seconds * 30, 30.0)]
    row = contrast.row()
    allowed = 110 + 1000 * batch_seconds
    assert row == (
        f"| others | 100, 100 | 100 | {beside:.0f} | {1000 * batch_seconds:.0f} | {allowed:.0f} | {lost} | {verdict} |"
    )
    assert row.count("|") == len(HEAD) + 1


def test_the_other_s_batches_count_only_where_its_client_may_wait_for_one() -> None:
    contrast = Contrast("others", 0.10, waits=False, without=[seen(100.0)], batches=[(4.0, 20.0)])
    assert contrast.batch_seconds == pytest.approx(0.2)
    assert contrast.allowed_seconds == pytest.approx(0.11)
    assert Contrast("others", 0.10, waits=True, without=[seen(100.0)]).allowed_seconds == pytest.approx(0.11)
