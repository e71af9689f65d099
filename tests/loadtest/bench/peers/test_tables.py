"""Tables of contest results."""

from __future__ import annotations

from loadtest.bench.peers.__main__ import full_load, latency
from loadtest.bench.peers.client import ContestResult, LatencyFigures, LatencyRun, PeerResult, ThroughputRun

FOUND = [[{"label": "A", "start": 0, "end": 3, "score": 0.5}]] * 2
OTHER = [FOUND[0], [{"label": "B", "start": 0, "end": 3, "score": 0.5}]]


def at_rate(per_second: float, entities: list[list[dict[str, object]]] = FOUND) -> ThroughputRun:
    return ThroughputRun(len(entities) / per_second, entities)


def latency_run(name: str, share: str, p99_ms: float, sustained: float = 28.0) -> LatencyRun:
    return LatencyRun(name, share, LatencyFigures(28.0, sustained, 560, 20.0, p99_ms, 0, 0.4))


RESULT = ContestResult(
    "six-layer",
    (
        PeerResult("the pipeline", "batches of 1", False, at_rate(20.0), {"ours": at_rate(50.0, OTHER)}),
        PeerResult("mosec", "2 × 1 thread, batches of 4", True, at_rate(16.0), {"ours": at_rate(40.0, OTHER)}),
        PeerResult("LitServe", "1 × 2 threads, batches of 1", True, at_rate(10.0), {"ours": at_rate(44.0, OTHER)}),
    ),
    {"ours": at_rate(48.0, OTHER)},
    (
        latency_run("ours", "70% of ours", 90.0),
        latency_run("mosec", "70% of ours", 9_000.0, sustained=16.1),
        latency_run("ours", "70% of mosec", 60.0),
        latency_run("mosec", "70% of mosec", 55.0),
    ),
)


def test_each_peer_stands_beside_the_run_of_ours_between_its_own_two() -> None:
    rows = list(full_load([RESULT], ["ours"]))
    assert rows[0].startswith("| model | software | set-up | documents per second | ours ÷ it |")
    assert rows[2] == "| six-layer | the pipeline | batches of 1 | 20.0 | 2.50 | 0.0000 | 0.00% |"
    assert rows[4] == "| six-layer | LitServe | 1 × 2 threads, batches of 1 | 10.0 | 4.40 | 0.0000 | 0.00% |"


def test_ours_is_its_median_run_and_says_what_it_finds_otherwise() -> None:
    rows = list(full_load([RESULT], ["ours"]))
    assert rows[5] == "| six-layer | ours | one document a request | 40.0 |  | 0.0000 | 66.67% |"
    assert rows[6] == "| six-layer | ours | 8 documents a request | 48.0 |  | 0.0000 | 66.67% |"


def test_all_rows_of_a_table_have_as_many_cells_as_its_head() -> None:
    for table in (list(full_load([RESULT], ["ours"])), list(latency([RESULT]))):
        assert len({row.count("|") for row in table}) == 1
