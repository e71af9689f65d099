"""The best value of a role, and the others in order."""

from __future__ import annotations

from service.core.fields.choice import MOST_ALTERNATIVES, Reason, choose, ranked
from service.core.fields.mention import Mention
from tests.support.mentions import mention


def named(*found: tuple[str, float]) -> list[Mention]:
    return [mention(i, "SKILL", text, 10 * i, score) for i, (text, score) in enumerate(found)]


def weight(mention: Mention) -> float:
    return mention.score


def test_values_are_ranked_by_their_best_mention_then_by_place() -> None:
    mentions = named(("b", 0.5), ("a", 0.7), ("B", 0.8), ("c", 0.7), ("d", 0.0))
    assert [each.text for each, _ in ranked(mentions, weight)] == ["B", "a", "c"]


def test_a_value_that_is_repeated_wins_a_close_race() -> None:
    assert [each.text for each, _ in ranked(named(("a", 0.7), ("b", 0.68), ("b", 0.6)), weight)] == ["b", "a"]
    assert [each.text for each, _ in ranked(named(("a", 0.9), ("b", 0.6), ("b", 0.6)), weight)] == ["a", "b"]


def test_a_choice_has_the_next_ones_as_alternatives() -> None:
    mentions = named(*((f"v{i}", 0.9 - i / 10) for i in range(9)))
    choice = choose(ranked(mentions, weight))
    assert choice is not None
    assert (choice.best, choice.reason) == (mentions[0], Reason.LABEL)
    assert choice.alternatives == tuple(mentions[1 : MOST_ALTERNATIVES + 1])


def test_nothing_is_no_choice() -> None:
    assert choose([]) is None
