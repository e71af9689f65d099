"""Comparing revisions; what is listed of a real store is in test_catalog."""

from __future__ import annotations

from model_store.local.listing import Found, compare
from model_store.manifest import File, Manifest


def found(name: str, revision: str, *digests: str, tags: tuple[str, ...] = ()) -> Found:
    files = tuple(File(f"{number}", 10, digest) for number, digest in enumerate(digests))
    manifest = Manifest(name=name, files=files, labels=("O",), architecture="A", model_type="a", max_tokens=1)
    return Found(name, tags, revision, manifest)


def test_bytes_are_shared_if_another_revision_has_the_same_file() -> None:
    listed = compare([found("a", "1", "x", "y", "y"), found("b", "2", "x", "z")])
    assert [(model.size_bytes, model.shared_bytes) for model in listed] == [(30, 10), (20, 10)]


def test_tagged_revisions_stand_before_untagged_ones_of_their_name() -> None:
    listed = compare([found("b", "3"), found("a", "1"), found("a", "2", tags=("stable",))])
    assert [model.revision for model in listed] == ["2", "1", "3"]


def test_a_problem_is_listed_without_sizes() -> None:
    (listed,) = compare([Found("a", ("stable",), "1", problem="It is damaged.")])
    assert (listed.size_bytes, listed.shared_bytes, listed.problem) == (0, 0, "It is damaged.")
