"""The ledger tells a loss that a fault explains from one that nothing explains."""

from __future__ import annotations

from loadtest.chaos.ledger import SLACK_SECONDS, Exchange, Happened, Ledger
from loadtest.chaos.oracle import Verdict

KILLED = Happened("worker killed", 10.0, 10.1, loses=True)
STOPPED = Happened("engine stopped", 20.0, 21.0, loses=False)


def ledger(*exchanges: Exchange) -> Ledger:
    return Ledger([Exchange("a", Verdict.RIGHT, 0.0, 0.1), *exchanges], [KILLED, STOPPED])


def test_a_good_run_has_no_findings() -> None:
    met = Exchange("a", Verdict.LOST, 9.0, 10.05)
    after = Exchange("a", Verdict.LOST, 10.1 + SLACK_SECONDS - 0.1, 13.2)
    refused = Exchange("a", Verdict.REFUSED, 20.0, 20.1)
    assert ledger(met, after, refused).findings() == []


def test_a_loss_that_no_fault_explains_is_a_finding() -> None:
    early, late, while_stopped = (Exchange("a", Verdict.LOST, begun, begun + 0.5) for begun in (9.0, 13.2, 20.2))
    assert ledger(early, late, while_stopped).unexplained() == [early, late, while_stopped]
    assert len(ledger(early, late, while_stopped).findings()) == 3


def test_wrong_and_untyped_answers_and_ill_health_are_findings() -> None:
    run = ledger(Exchange("a", Verdict.WRONG, 10.0, 10.1, "x"), Exchange("a", Verdict.UNTYPED, 10.0, 10.1))
    run.unhealthy.append("the service ended")
    assert len(run.findings()) == 3


def test_a_run_without_a_right_answer_shows_nothing() -> None:
    assert Ledger().findings() == ["no request was answered"]


def test_the_table_counts_what_each_fault_met() -> None:
    rows = ledger(Exchange("a", Verdict.LOST, 9.0, 10.05), Exchange("a", Verdict.REFUSED, 20.0, 22.5)).table()
    assert rows[2:] == [
        "| worker killed | 1 | 0 | 0 | 1 | 0 | 0 | 1.1 |",
        "| engine stopped | 1 | 0 | 1 | 0 | 0 | 0 | 2.5 |",
        "| whole run |  | 1 | 1 | 1 | 0 | 0 | 2.5 |",
    ]
