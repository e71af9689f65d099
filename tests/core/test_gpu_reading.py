"""GPU reading: which driver errors are the end of a GPU."""

from __future__ import annotations

import pytest

from service.core.gpu_reading import GpuReading


@pytest.mark.parametrize(("xids", "words"), [((), None), ((13, 43), None), ((13, 79), "fallen off the bus (XID 79)")])
def test_a_fatal_driver_error_is_named(xids: tuple[int, ...], words: str | None) -> None:
    fatal = GpuReading(xids=xids).fatal
    assert fatal is None if words is None else words in str(fatal)
