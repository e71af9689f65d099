"""Bringing a revision up: the order of its steps, and where it ends when one of them fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from model_store.local.store import Store
from model_store.manifest import GoldenEntity, GoldenExample
from model_store.transfer.publish import publish
from service.core.arrays import Logits, TokenIds
from service.core.errors import GleanerError, InsufficientMemory
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.factory import ModelFactory
from service.engine.models.loaded_model import LoadedModel, ProfiledModel
from service.engine.models.profiling import ModelProfiler
from service.engine.models.repository import ModelRepository
from service.engine.models.rollout.bring_up import GoldenFailed, Rollout
from service.settings import Settings
from tests.support.tiny_models import make_model


class Target:
    """Records what it is asked, in order; infers directly."""

    def __init__(self, *, has_room: bool = True) -> None:
        self.has_room = has_room
        self.steps: list[str] = []

    def make_room(self, revision: str, weight_bytes: int) -> None:
        assert weight_bytes > 0
        self.steps.append("room")
        if not self.has_room:
            raise InsufficientMemory("no room")

    def admit(self, candidate: ProfiledModel) -> None:
        assert candidate.memory.budget_tokens(1 << 40) > 0
        self.steps.append("admit")

    def infer(self, model: LoadedModel, sequences: list[TokenIds]) -> list[Logits]:
        self.steps.append("infer")
        outcomes = model.runner.launch(sequences).result()
        return [outcome for outcome in outcomes if not isinstance(outcome, GleanerError)]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(model_store=tmp_path / "store", device="cpu", dtype="float32", threads=1)


@pytest.fixture
def rollout(settings: Settings) -> Iterator[Rollout]:
    with DeviceExecutor() as executor:
        factory = ModelFactory(settings, executor, lambda: None)
        profiler = ModelProfiler(settings, factory.device, executor)
        yield Rollout(ModelRepository(settings), factory, profiler, settings)


def put(settings: Settings, tmp_path: Path, *golden: GoldenExample) -> None:
    publish(make_model(tmp_path / "m"), "m", Store(settings.model_store), golden=golden)


def test_a_candidate_is_admitted_before_its_golden_examples_are_inferred(
    rollout: Rollout, settings: Settings, tmp_path: Path
) -> None:
    put(settings, tmp_path, GoldenExample("a text", (GoldenEntity("NO_LABEL_OF_IT", 0, 6),)))
    target = Target()
    with pytest.raises(GoldenFailed):
        rollout.bring_up(rollout.repository.obtain("m"), target)
    assert target.steps == ["room", "admit", "infer"]


def test_a_revision_without_examples_passes_profiled_and_timed(
    rollout: Rollout, settings: Settings, tmp_path: Path
) -> None:
    put(settings, tmp_path)
    revision = rollout.repository.obtain("m")
    candidate = rollout.bring_up(revision, Target())
    assert candidate.model.revision == revision.revision
    assert candidate.timed is not None


def test_without_room_a_model_is_not_built(rollout: Rollout, settings: Settings, tmp_path: Path) -> None:
    put(settings, tmp_path)
    target = Target(has_room=False)
    with pytest.raises(InsufficientMemory):
        rollout.bring_up(rollout.repository.obtain("m"), target)
    assert target.steps == ["room"]


def test_a_missing_entity_is_named_by_its_place_only(rollout: Rollout, settings: Settings, tmp_path: Path) -> None:
    put(settings, tmp_path, GoldenExample("secret words", (GoldenEntity("PERSON", 0, 6),)))
    with pytest.raises(GoldenFailed) as failed:
        rollout.bring_up(rollout.repository.obtain("m"), Target())
    assert "PERSON 0:6" in failed.value.detail
    assert "secret" not in failed.value.detail
