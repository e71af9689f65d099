"""Listed revisions: compared with each other, and listed with their problem if they are damaged."""

from __future__ import annotations

from model_store.listing import RevisionEntry, compare, damaged_tag, find_revision, group_tags
from model_store.manifest import File, Manifest


def manifest(name: str, *digests: str) -> Manifest:
    files = tuple(File(f"{number}", 10, digest) for number, digest in enumerate(digests))
    return Manifest(name=name, files=files, labels=("O",), architecture="A", model_type="a", max_tokens=1)


def found(name: str, revision: str, *digests: str, tags: tuple[str, ...] = ()) -> RevisionEntry:
    return RevisionEntry(name, tags, revision, manifest(name, *digests))


def test_bytes_are_shared_if_another_revision_has_the_same_file() -> None:
    listed = compare([found("a", "1", "x", "y", "y"), found("b", "2", "x", "z")])
    assert [(model.size_bytes, model.shared_bytes) for model in listed] == [(30, 10), (20, 10)]


def test_a_problem_is_listed_without_sizes() -> None:
    (listed,) = compare([damaged_tag("a", "stable", "It is damaged.")])
    assert (listed.tags, listed.size_bytes, listed.shared_bytes, listed.problem) == (
        ("stable",),
        0,
        0,
        "It is damaged.",
    )


def test_tags_are_grouped_by_revision_and_name() -> None:
    grouped = group_tags([("a", "stable", "1"), ("b", "stable", "1"), ("a", "next", "1"), ("a", "old", "2")])
    assert grouped == {"1": {"a": ["stable", "next"], "b": ["stable"]}, "2": {"a": ["old"]}}


def test_a_revision_is_found_with_the_tags_of_its_own_name() -> None:
    (item,) = find_revision("1", {"a": ["stable", "next"], "b": ["stable"]}, lambda _: manifest("a", "x"))
    assert (item.name, item.tags, item.problem) == ("a", ("next", "stable"), None)
