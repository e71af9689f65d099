"""What model names may take."""

from __future__ import annotations

from service.core.admission.rates import BURST_SECONDS, ModelQuotas
from service.core.types import Priority, Submission


def submission(tokens: int) -> Submission:
    return Submission(
        key="k",
        model="sha256:a",
        lengths=(tokens,),
        client="c",
        priority=Priority.INTERACTIVE,
        deadline_seconds=1e9,
        attempt=0,
    )


def test_a_name_that_is_not_told_of_weighs_one_and_has_no_limit() -> None:
    shares = ModelQuotas({"a": 3.0}, {"a": 10.0})
    assert (shares.weight("a"), shares.weight("b")) == (3.0, 1.0)
    assert all(shares.refusal_for(submission(10_000), "b", 1_000.0) is None for _ in range(3))


def test_a_bucket_is_full_at_first_and_then_refuses_with_retry_after() -> None:
    shares = ModelQuotas({}, {"a": 10.0})
    assert shares.refusal_for(submission(int(10 * BURST_SECONDS)), "a", 123_456.0) is None
    refusal = shares.refusal_for(submission(20), "a", 123_456.0)
    assert refusal is not None
    assert (refusal.code, refusal.retry_after_seconds) == ("rate_limited", 2.0)
    assert shares.refusal_for(submission(20), "a", 123_458.0) is None
