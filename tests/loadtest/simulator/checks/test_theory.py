"""The simulator beside queueing theory; all rows, with more documents: `python -m loadtest.simulator.checks.theory`."""

from __future__ import annotations

import pytest

from loadtest.errors import BadInput
from loadtest.simulator.checks.queueing import batch_server, erlang_c, m_d_c, m_m_c, recovery_seconds
from loadtest.simulator.checks.theory import Case, compare_reference, device, parsers, recovery, simulate, workers

REFERENCE = {
    "mmc": {"lam8_mu1_c10": {"Wq": 0.20459007539822177, "L": 9.636720603185774}},
    "mdc": {
        "lam0.8_D1_c1": {"Wq": 1.9999999994819473, "L": 2.3999999995854573},
        "lam9_D1_c10": {"Wq": 0.34458205036294215, "L": 12.10123845326639},
    },
    "batch_server": {
        "rows": [
            {"lam": 88.88888888888889, "W": 0.0062502575267568946, "gpu_busy": 0.4154648577126105},
            {"lam": 711.1111111111111, "W": 0.023510562319827868, "gpu_busy": 0.9999013750413819},
        ]
    },
}
"""Computed elsewhere, with other code."""


def test_the_formulas_have_the_values_that_other_code_gives() -> None:
    rows = compare_reference(REFERENCE)
    assert len(rows) == 10
    for row in rows:
        assert row.simulated == pytest.approx(row.exact, rel=1e-8), row.name


def test_what_is_known_by_heart() -> None:
    assert erlang_c(0.8, 1.0, 1) == pytest.approx(0.8)
    assert m_m_c(0.8, 1.0, 1).seconds == pytest.approx(5.0)
    assert m_d_c(0.5, 1.0, 1).wait_seconds == pytest.approx(0.5), "Pollaczek and Khinchine"
    alone = batch_server(0.001, 0.004, 0.001, 32)
    assert alone.seconds == pytest.approx(0.005, rel=1e-3)
    assert recovery_seconds(0.7, 5.0, 709, 5.0) == pytest.approx(1890.6667)
    assert recovery_seconds(0.1, 5.0, 709, 5.0) == 0.0


@pytest.mark.parametrize(
    "case", [parsers(0.5, 2), workers(0.5, 1), workers(0.8, 10), device(0.2), device(0.5)], ids=lambda case: case.name
)
def test_simulated_means_are_those_of_theory(case: Case) -> None:
    """In the interval of 12 means together, and that interval is narrow. `number` is Little's law's other side."""
    for row in simulate(case, documents=2_000, replications=8):
        assert row.is_inside(rows=12), row
        assert row.error < 0.06 * row.exact, row


@pytest.mark.parametrize(("load", "capacity"), [(0.7, 5.0), (0.5, 5.0), (0.7, 7.5)])
def test_a_queue_after_a_step_is_gone_when_arithmetic_says(load: float, capacity: float) -> None:
    row = recovery(load, 5.0, 100, capacity)
    assert row.simulated == pytest.approx(row.exact, rel=0.005)


@pytest.mark.parametrize("spoilt", [{}, {**REFERENCE, "mmc": {"lam8": {}}}, {**REFERENCE, "batch_server": []}])
def test_another_file_is_refused(spoilt: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        compare_reference(spoilt)
