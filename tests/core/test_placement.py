"""Whose weights are on the device, and what references stand for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from service.core.placement import SHORTEST_STAY_SECONDS, STAY_FACTOR, ModelAliases, Placement

MODELS = "abcdef"
COST_SECONDS = 0.5


def residency(budget_bytes: int | None, **weight_bytes: int) -> Placement:
    made = Placement(budget_bytes)
    for name, size in weight_bytes.items():
        made.add(name, size, 0.0)
    return made


def place(models: Placement, model: str, now: float, busy: str = "", cost: float = 0.0) -> tuple[str, ...] | None:
    leaving = models.place(model, now, busy)
    if leaving is not None:
        models.arrived(model, cost, now)
    return leaving


def test_without_a_budget_all_are_there() -> None:
    models = residency(None, a=10**12, b=10**12)
    assert [place(models, name, 0.0) for name in "ab"] == [(), ()]
    assert models.on_device() == ("a", "b")


def test_the_least_recently_used_leaves_and_no_more_than_needed() -> None:
    models = residency(30, a=10, b=10, c=10, d=10)
    assert [place(models, name, now) for now, name in enumerate("abc")] == [(), (), ()]
    models.use("a", 5.0)
    assert place(models, "d", 6.0) == ("b",)
    assert (models.bytes_on_device(), models.bytes_off_device()) == (30, 10)


def test_one_that_is_too_large_for_the_budget_is_there_alone() -> None:
    models = residency(30, a=10, b=10, large=100)
    for now, name in enumerate("ab"):
        place(models, name, now)
    assert place(models, "large", 2.0) == ("a", "b")
    assert models.on_device() == ("large",)


def test_one_that_has_work_leaves_only_after_its_stay() -> None:
    models = residency(10, a=10, b=10)
    place(models, "a", 0.0, cost=COST_SECONDS)
    stay = STAY_FACTOR * COST_SECONDS
    assert place(models, "b", stay - 0.01, busy="ab") is None
    assert place(models, "b", stay, busy="ab") == ("a",)


def test_the_idle_leave_before_the_busy_even_if_they_were_used_later() -> None:
    models = residency(20, busy=10, idle=10, new=10)
    place(models, "busy", 0.0)
    place(models, "idle", 1.0)
    assert place(models, "new", 100.0, busy=("busy", "new")) == ("idle",)  # type: ignore[arg-type]


def test_the_retired_leave_before_the_others() -> None:
    models = residency(20, old=10, new=10, other=10)
    place(models, "new", 0.0)
    place(models, "old", 1.0)
    models.retire("old")
    assert place(models, "other", 2.0) == ("old",)


def test_one_that_is_on_its_way_or_held_stays() -> None:
    models = residency(10, a=10, b=10)
    models.place("a", 0.0, "")
    assert models.place("b", 100.0, "b") is None
    models.arrived("a", 0.0, 100.0)
    models.pin("a")
    assert models.place("b", 200.0, "b") is None
    models.pin("a", pinned=False)
    assert models.place("b", 200.0, "b") == ("a",)


def test_one_that_is_forgotten_makes_room() -> None:
    models = residency(10, a=10, b=10)
    place(models, "a", 0.0)
    models.remove("a")
    models.arrived("a", 1.0, 1.0)
    assert place(models, "b", 1.0) == ()


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(MODELS),
        st.floats(0.0, 3.0),
        st.sets(st.sampled_from(MODELS)),
        st.floats(0.0, 1.0),
        st.sampled_from(["bring", "bring", "bring", "remove", "hold", "release"]),
    ),
    max_size=60,
)


@given(st.integers(1, 60), st.lists(st.integers(1, 40), min_size=6, max_size=6), ACTIONS)
@settings(deadline=None)
def test_whatever_happens_the_budget_holds(
    budget: int, sizes: list[int], actions: list[tuple[str, float, set[str], float, str]]
) -> None:
    models, now, pinned = Placement(budget), 0.0, set()
    sizes_of = dict(zip(MODELS, sizes, strict=True))
    for name, seconds, busy, cost, action in actions:
        now += seconds
        if name not in models:
            models.add(name, sizes_of[name], now)
        if action == "remove":
            models.remove(name)
            pinned.discard(name)
        elif action == "hold" or action == "release":
            models.pin(name, pinned=action == "hold")
            (pinned.add if action == "hold" else pinned.discard)(name)
        elif not models.is_on_device(name):
            before = set(models.on_device())
            leaving = models.place(name, now, busy | {name})
            assert set(leaving or ()).isdisjoint(pinned)
            assert set(models.on_device()) == before if leaving is None else before - set(leaving) | {name}
            if leaving is not None:
                models.arrived(name, cost, now)
        on_device = models.on_device()
        assert models.bytes_on_device() == sum(sizes_of[each] for each in on_device)
        assert models.bytes_on_device() <= budget or len(on_device) == 1


@given(st.integers(1, 3), st.integers(2, 6), st.floats(0.01, 2.0))
@settings(deadline=None)
def test_all_models_with_work_get_turns_and_moving_takes_its_part_only(
    room: int, count: int, cost_seconds: float
) -> None:
    """Every model always has work; a device serves whichever are there and fetches the longest absent when it may."""
    names = MODELS[:count]
    models = residency(room, **dict.fromkeys(names, 1))
    served = dict.fromkeys(names, 0.0)
    now = moving = 0.0
    step = cost_seconds / 4
    while now < 400 * cost_seconds:
        for name in sorted(names, key=lambda each: served[each]):
            if not models.is_on_device(name) and models.place(name, now, names) is not None:
                now += cost_seconds
                moving += cost_seconds
                models.arrived(name, cost_seconds, now)
        for name in models.on_device():
            models.use(name, now)
            served[name] += step / len(models.on_device())
        now += step
    assert all(served.values())
    stay = max(STAY_FACTOR * cost_seconds, SHORTEST_STAY_SECONDS)
    assert moving <= room * now * cost_seconds / (stay + cost_seconds) + 2 * room * cost_seconds


def test_a_switch_returns_the_revisions_that_serve_no_more() -> None:
    references = ModelAliases({"a": "a0", "b": "b0"})
    assert references.switch("a", "a1") == {"a0"}
    assert (references.serving(), references.previous()) == ({"a": "a1", "b": "b0"}, {"a": "a0"})
    assert references.switch("a", "a2") == {"a0", "a1"}
    assert "a0" not in references
    assert "a1" in references


def test_a_tag_that_moves_back_leads_to_what_was_kept() -> None:
    references = ModelAliases({"a": "a0"})
    references.switch("a", "a1")
    assert references.switch("a", "a0") == {"a1"}
    assert (references.resolve("a"), references.previous()) == ("a0", {"a": "a1"})


def test_a_revision_that_another_reference_leads_to_still_serves() -> None:
    references = ModelAliases({"a": "same", "a@candidate": "same"})
    assert references.switch("a", "new") == set()


def test_a_problem_of_a_reference_stays_until_it_is_cleared() -> None:
    references = ModelAliases({"a": "a0"})
    references.note_problem("a", "a golden example failed")
    assert references.problem("a") == "a golden example failed"
    references.clear_problem("a")
    assert references.problem("a") == ""


def test_a_reference_that_stands_for_nothing_keeps_its_place() -> None:
    references = ModelAliases({"a": None, "b": "b0"})
    assert (references.serving(), references.resolve("a")) == ({"b": "b0"}, None)
    assert references.switch("a", "a1") == set()
    assert list(references.revisions()) == ["a", "b"]
    assert (references.resolve("a"), references.previous()) == ("a1", {})


def test_a_model_is_known_once_it_was_added() -> None:
    models = residency(None, a=1)
    assert ("a" in models, "b" in models) == (True, False)
