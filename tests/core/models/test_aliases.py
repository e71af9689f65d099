"""What references lead to, over switches and back."""

from __future__ import annotations

from service.core.models.aliases import ModelAliases


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


def test_a_problem_is_known_until_it_is_cleared() -> None:
    references = ModelAliases({"a": "a0"})
    references.note_problem("a", "it fails its examples")
    assert references.problem("a") == "it fails its examples"
    references.clear_problem("a")
    references.clear_problem("a")
    assert references.problem("a") == ""
