"""Whatever happens in whatever order, the loop answers every document exactly once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from service.wire import Refused, Scored
from tests.support.engine_scenes import BUDGET, FAR, A, B, Turn, World, cancelled, document, hello, play

KEYS = st.sampled_from([f"k{n}" for n in range(12)])
LENGTHS = st.lists(st.integers(1, BUDGET + 1), min_size=1, max_size=4)
ACTIONS = st.one_of(
    st.tuples(st.just("submit"), KEYS, LENGTHS, st.sampled_from([A, B]), st.sampled_from([FAR, FAR, 1_005.0, 900.0])),
    st.tuples(st.just("submit broken"), KEYS, LENGTHS, st.sampled_from([A, B]), st.just(FAR)),
    st.tuples(st.just("cancel"), KEYS),
    st.tuples(st.just("compute")),
    st.tuples(st.just("wait"), st.floats(0.1, 3.0)),
    st.tuples(st.just("turn")),
)


@given(st.lists(ACTIONS, max_size=40))
@settings(max_examples=150, deadline=None)
def test_whatever_happens_every_document_is_answered_exactly_once(actions: list[Any]) -> None:
    submitted: dict[str, int] = {}
    owners: dict[str, bytes] = {}
    gone: dict[str, int] = {}

    def scene(world: World) -> Iterator[Turn]:
        turn: Turn = []
        yield [hello(A), hello(B)]
        for action in actions:
            match action:
                case (str(kind), key, lengths, worker, deadline) if key not in submitted:
                    submitted[key], owners[key] = len(lengths), worker
                    broken = 0 if kind == "submit broken" else None
                    turn.append(document(key, *lengths, worker=worker, deadline=deadline, broken=broken))
                case ("cancel", key) if key in submitted and key not in gone:
                    yield turn
                    gone[key] = len(world.answers(key))
                    turn = [cancelled(key, owners[key])]
                case ("compute",) if world.device.waiting:
                    world.device.step()
                case ("wait", seconds):
                    world.now += seconds
                    turn += [hello(A), hello(B)]
                case ("turn",):
                    yield turn
                    turn = []
        yield turn

    world = play(scene)
    for key, sequences in submitted.items():
        answers = world.answers(key)
        refusals = [answer for answer in answers if isinstance(answer, Refused)]
        scored = Counter(answer.index for answer in answers if isinstance(answer, Scored))
        assert all(count == 1 for count in scored.values()), f"{key}: a sequence was answered twice"
        if key in gone:
            assert len(answers) == gone[key], f"{key}: answered after it was cancelled"
        elif refusals:
            assert answers[-1:] == refusals, f"{key}: refused more than once, or answered after it was refused"
        else:
            assert set(scored) == set(range(sequences)), f"{key}: sequences without an answer"
