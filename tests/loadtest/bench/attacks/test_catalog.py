"""The attacks together: every finding has one, or a test elsewhere that is there."""

from __future__ import annotations

from collections import Counter

from loadtest.bench.attacks.catalog import ATTACKS, ELSEWHERE, QUIET, chosen_attacks
from tests.support.source_tree import ROOT

FINDINGS = {*(f"C{number}" for number in range(1, 5)), *(f"H{number}" for number in range(1, 9))}
FINDINGS |= {f"M{number}" for number in range(1, 8)}


def test_each_finding_is_repeated_or_has_its_test_elsewhere() -> None:
    here = {attack.finding for attack in ATTACKS} - {QUIET.finding}
    assert here | set(ELSEWHERE) == FINDINGS
    assert not here & set(ELSEWHERE)
    assert [place for words in ELSEWHERE.values() if not (ROOT / (place := words.rpartition(" ")[2])).is_file()] == []


def test_names_are_unique() -> None:
    assert [name for name, count in Counter(attack.name for attack in ATTACKS).items() if count > 1] == []


def test_the_quiet_row_comes_first_whatever_is_chosen() -> None:
    assert chosen_attacks(None) == list(ATTACKS)
    assert [attack.finding for attack in chosen_attacks(["C2"])] == ["–", "C2", "C2"]
    assert chosen_attacks(["half-closed"])[0] is QUIET
    assert len(chosen_attacks(["half-closed"])) == 3
    assert chosen_attacks(["no such attack"]) == [QUIET]
