from __future__ import annotations

from loadtest.telemetry.exposition import read

TEXT = """# HELP gleaner_refusals_total Refusals.
# TYPE gleaner_refusals_total counter
gleaner_refusals_total{code="queue_full"} 3.0
gleaner_refusals_total{code="deadline_exceeded",pid="7"} 2
gleaner_refusals_total{code="deadline_exceeded",pid="8"} 1.5e1 1700000000
gleaner_queue_documents 4.0
odd{label="a \\"quoted\\" one, with } and ,"} 1
nonsense
broken{a="b"} x
"""


def test_sums_and_labels() -> None:
    found = read(TEXT)
    assert found.total("gleaner_queue_documents") == 4
    assert found.total("gleaner_refusals_total") == 20
    assert found.by("gleaner_refusals_total", "code") == {"queue_full": 3, "deadline_exceeded": 17}
    assert found.total("odd") == 1
    assert found.total("none") is None
    assert found.total("broken") is None
