"""Which requests a candidate answers."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from service.api.engine.routing import CANDIDATE_TAG, CanaryRouter
from service.core.errors import UnknownModel
from service.wire import PREVIOUS, ModelStatus


def model(name: str, tag: str, revision: str) -> ModelStatus:
    return ModelStatus(name, tag, revision, "/models", ("O",), 512, True, 1)


STABLE, CANDIDATE = model("cv", "stable", "sha256:a"), model("cv", CANDIDATE_TAG, "sha256:b")
OTHER = model("invoices", "stable", "sha256:c")
SERVED = (STABLE, CANDIDATE, OTHER)


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
