"""Model routing: which requests are admitted, which model a name leads to, and which requests a candidate answers."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from model_store import reference
from service.api.engine import routing
from service.api.engine.routing import CANDIDATE_TAG, CanaryRouter, find_model, is_serving, refuse_unless_serving
from service.core.errors import Draining, EngineRestarting, GleanerError, ModelError, NotReady, UnknownModel
from service.core.types import Phase
from service.wire import FAILED, PREVIOUS, ModelStatus, Status


def model(name: str, tag: str = "stable", revision: str = "sha256:0") -> ModelStatus:
    return ModelStatus(name, tag, revision, "/models", ("O",), 512, True, 1)


SERVED = (
    model("cv", revision="sha256:a"),
    model("cv", "candidate", "sha256:b"),
    model("invoices", revision="sha256:c"),
)
NEVER_HEARD = Status("", Phase.SYNCING)


def status(phase: Phase, *, admitting: bool = True, models: tuple[ModelStatus, ...] = SERVED) -> Status:
    return Status("77", phase, 40, admitting=admitting, models=models)


def refusal(status: Status, connected: bool) -> type[GleanerError] | None:
    """The kind of error that a new request gets, if any."""
    try:
        refuse_unless_serving(status, connected)
    except GleanerError as error:
        refused = error
    else:
        return None
    assert refused.retry_after_seconds
    return type(refused)


@pytest.mark.parametrize(
    ("said", "connected", "expected"),
    [
        (NEVER_HEARD, False, NotReady),
        (status(Phase.LOADING, models=()), True, NotReady),
        (status(Phase.WARMING, models=()), True, NotReady),
        (status(Phase.READY), True, None),
        (status(Phase.READY), False, EngineRestarting),
        (status(Phase.LOADING, models=()), False, EngineRestarting),
        (status(Phase.DRAINING, admitting=True), True, None),
        (status(Phase.DRAINING, admitting=False), True, Draining),
        (status(Phase.DRAINING, admitting=False, models=()), True, Draining),
        (status(Phase.FAILED, models=()), True, NotReady),
    ],
)
def test_a_new_request_is_let_in_by_the_engine_s_last_status(
    said: Status, connected: bool, expected: type[GleanerError] | None
) -> None:
    assert refusal(said, connected) is expected


def test_a_refusal_at_the_start_has_phase_and_percent() -> None:
    with pytest.raises(NotReady, match=r"warming \(40 %\)"):
        refuse_unless_serving(status(Phase.WARMING, models=()), connected=True)


def test_submissions_are_answered_until_the_engine_has_drained() -> None:
    assert is_serving(status(Phase.READY), connected=True)
    assert is_serving(status(Phase.DRAINING, admitting=False), connected=True)
    assert not is_serving(status(Phase.READY), connected=False)
    assert not is_serving(status(Phase.READY, models=()), connected=True)


@pytest.mark.parametrize(
    ("wanted", "revision"),
    [
        (None, "sha256:a"),
        ("cv", "sha256:a"),
        ("cv@stable", "sha256:a"),
        ("cv@candidate", "sha256:b"),
        ("cv@sha256:b", "sha256:b"),
        ("invoices", "sha256:c"),
    ],
)
def test_a_model_is_found_by_name_tag_or_revision(wanted: str | None, revision: str) -> None:
    assert find_model(SERVED, wanted).revision == revision


@pytest.mark.parametrize("wanted", ["", "nobody", "cv@beta", "cv@sha256:c", "invoices@candidate", "CV"])
def test_an_unknown_model_is_refused_with_those_that_are_there(wanted: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        find_model(SERVED, wanted)
    assert all(f"{each.name}@{each.tag} ({each.revision})" in caught.value.detail for each in SERVED)


def test_a_long_name_is_cut_and_many_models_are_listed_by_name() -> None:
    served = tuple(model(f"model{i}", revision=f"sha256:{i:064}") for i in range(6))
    with pytest.raises(UnknownModel) as caught:
        find_model(served, "x" * 1_000_000)
    assert all(f"model{i}@stable" in caught.value.detail for i in range(6))
    assert len(caught.value.detail) < 300


def test_a_name_alone_is_its_stable_tag_or_else_the_first_of_that_name() -> None:
    stable, candidate, _ = SERVED
    beta = model("cv", "beta", "sha256:d")
    assert find_model((candidate, stable), "cv") == stable
    assert find_model((candidate, beta), "cv") == candidate
    assert find_model((candidate, stable), None) == candidate
    assert reference.DEFAULT_TAG == routing.DEFAULT_TAG


@pytest.mark.parametrize("wanted", [None, "cv", "cv@stable", "cv@sha256:a"])
def test_a_model_that_failed_is_answered_by_no_other(wanted: str | None) -> None:
    failed = msgspec.structs.replace(SERVED[0], state=FAILED, problem="its scores are no numbers")
    with pytest.raises(ModelError, match="its scores are no numbers"):
        find_model((failed, *SERVED[1:]), wanted)
    assert find_model((failed, *SERVED[1:]), "cv@candidate") == SERVED[1]


def test_a_revision_that_was_served_before_is_found_by_its_digest_alone() -> None:
    served = (*SERVED, ModelStatus("cv", "", "sha256:old", "/models", ("O",), 512, True, 1, state=PREVIOUS))
    assert find_model(served, "cv@sha256:old").revision == "sha256:old"
    assert find_model(served, "cv").revision == "sha256:a"
    with pytest.raises(UnknownModel):
        find_model(served[-1:], "cv")


STABLE, CANDIDATE, OTHER = SERVED


def tags(router: CanaryRouter, wanted: str | None, served: tuple[ModelStatus, ...] = SERVED) -> dict[str, int]:
    return dict(Counter(router.find(served, wanted).revision for _ in range(100)))


@pytest.mark.parametrize("wanted", [None, "cv"])
def test_a_share_of_those_who_name_no_tag_get_the_candidate(wanted: str | None) -> None:
    assert tags(CanaryRouter(10.0), wanted) == {"sha256:a": 90, "sha256:b": 10}


@pytest.mark.parametrize(
    ("wanted", "revision"),
    [("cv@stable", "sha256:a"), ("cv@candidate", "sha256:b"), ("cv@sha256:a", "sha256:a"), ("invoices", "sha256:c")],
)
def test_who_names_a_tag_or_another_model_gets_it(wanted: str, revision: str) -> None:
    assert tags(CanaryRouter(50.0), wanted) == {revision: 100}


def test_without_a_share_or_a_candidate_all_is_stable() -> None:
    same = msgspec.structs.replace(CANDIDATE, revision="sha256:a")
    gone = msgspec.structs.replace(CANDIDATE, state=PREVIOUS)
    assert tags(CanaryRouter(0.0), None) == {"sha256:a": 100}
    for served in ((STABLE, OTHER), (STABLE, same), (STABLE, gone)):
        assert tags(CanaryRouter(50.0), None, served) == {"sha256:a": 100}


def test_models_are_counted_apart() -> None:
    router, invoices = CanaryRouter(50.0), model("invoices", CANDIDATE_TAG, "sha256:d")
    found = [router.find((*SERVED, invoices), name).revision for name in ("cv", "invoices", "cv", "invoices")]
    assert found == ["sha256:a", "sha256:c", "sha256:b", "sha256:d"]


def test_an_unknown_model_is_refused_as_ever() -> None:
    with pytest.raises(UnknownModel):
        CanaryRouter(50.0).find(SERVED, "letters")
