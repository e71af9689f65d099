"""Which readings mean that a GPU is lost."""

from __future__ import annotations

import pytest

from service.core.gpu_reading import GpuReading


@pytest.mark.parametrize("xid", [46, 62, 79, 95, 109, 119, 120, 136, 140, 143])
def test_after_some_driver_errors_only_a_reset_helps(xid: int) -> None:
    for action in (None, 0):
        fatal = GpuReading(xids=(13, xid), recovery_action=action).fatal
        assert fatal is not None
        assert f"(XID {xid})" in fatal


@pytest.mark.parametrize("xid", [13, 31, 43, 45, 63, 64, 74, 92, 94, 154])
def test_others_are_of_a_process_or_repaired(xid: int) -> None:
    assert GpuReading(xids=(xid,)).fatal is None


@pytest.mark.parametrize(
    ("reading", "fatal"),
    [
        (GpuReading(xids=(48,)), "an uncorrectable memory error (XID 48)"),
        (GpuReading(xids=(48, 94)), None),
        (GpuReading(xids=(48,), recovery_action=0), None),
        (GpuReading(xids=(48, 95), recovery_action=0), "an uncontained memory error (XID 95)"),
        (GpuReading(xids=(48, 154), recovery_action=1), "an uncorrectable memory error (XID 48)"),
    ],
)
def test_a_memory_error_that_the_gpu_contained_costs_a_process_only(reading: GpuReading, fatal: str | None) -> None:
    assert reading.fatal == fatal


@pytest.mark.parametrize("action", [0, 3, 4, 5, None])
def test_what_is_to_be_done_later_does_not_take_the_gpu_away(action: int | None) -> None:
    assert GpuReading(recovery_action=action).fatal is None


@pytest.mark.parametrize("action", [1, 2, 6, 7])
def test_what_is_to_be_done_first_does(action: int) -> None:
    assert "the driver asks for a re" in (GpuReading(recovery_action=action).fatal or "")
