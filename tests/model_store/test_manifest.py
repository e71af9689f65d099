"""Manifests: equal content gives equal bytes and one revision; invalid ones are refused."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_store.errors import InvalidManifest
from model_store.manifest import (
    File,
    GoldenEntity,
    GoldenExample,
    GoldenPage,
    GoldenWord,
    Manifest,
    Provenance,
    decode_manifest,
    encode_manifest,
    path_problem,
    revision_of,
)

WORDS = st.text(min_size=1, max_size=20)
PARTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,10}", fullmatch=True)
DIGESTS = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)


@st.composite
def files(draw: st.DrawFn) -> tuple[File, ...]:
    """Files in folders whose names no file has."""
    names = draw(st.lists(PARTS, min_size=1, max_size=5, unique_by=str.lower))
    folders = ["", "folder.of-its-own/"]
    return tuple(
        File(draw(st.sampled_from(folders)) + name, draw(st.integers(0, 2**50)), draw(DIGESTS)) for name in names
    )


@st.composite
def examples(draw: st.DrawFn) -> GoldenExample:
    text = draw(WORDS)
    start = draw(st.integers(0, len(text) - 1))
    sides = st.floats(0, 1e6)
    words = st.builds(GoldenWord, WORDS, st.tuples(sides, sides, sides, sides))
    pages = st.builds(GoldenPage, sides, sides, st.lists(words, max_size=2).map(tuple))
    entity = GoldenEntity(draw(WORDS), start, draw(st.integers(start + 1, len(text))))
    return GoldenExample(text, (entity,), pages=draw(st.lists(pages, max_size=2).map(tuple)))


MANIFESTS = st.builds(
    Manifest,
    name=st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True),
    files=files(),
    labels=st.lists(WORDS, min_size=1, max_size=5, unique=True).map(tuple),
    architecture=WORDS,
    model_type=WORDS,
    max_tokens=st.integers(1, 10**6),
    provenance=st.builds(Provenance, base_model=st.none() | st.text(), data=st.none() | st.text()),
    golden=st.lists(examples(), max_size=3).map(tuple),
)

SMALL = Manifest(
    name="documents",
    files=(File("config.json", 2, "a" * 64), File("model.safetensors", 10, "b" * 64)),
    labels=("O", "B-NAME"),
    architecture="BertForTokenClassification",
    model_type="bert",
    max_tokens=512,
)


@given(MANIFESTS)
def test_an_encoded_manifest_decodes_and_encodes_to_the_same_bytes(manifest: Manifest) -> None:
    data = encode_manifest(manifest)
    again = decode_manifest(data)
    assert set(again.files) == set(manifest.files)
    assert (again.name, again.labels, again.golden, again.provenance) == (
        manifest.name,
        manifest.labels,
        manifest.golden,
        manifest.provenance,
    )
    assert encode_manifest(again) == data


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_an_invalid_manifest(data: bytes) -> None:
    with pytest.raises(InvalidManifest):
        decode_manifest(data)


def test_the_order_of_the_files_does_not_change_the_revision() -> None:
    backwards = Manifest(
        **{field: getattr(SMALL, field) for field in SMALL.__struct_fields__} | {"files": SMALL.files[::-1]}
    )
    assert revision_of(encode_manifest(backwards)) == revision_of(encode_manifest(SMALL))


def test_the_revision_of_a_known_manifest_never_changes() -> None:
    """A change here orphans every model that was ever published."""
    assert revision_of(encode_manifest(SMALL)) == REVISION_OF_SMALL


REVISION_OF_SMALL = "sha256:1bc872b8535b3a34c374ce735e00254ea4f621066c83f1d8cbcf185db567225c"


def changed(**fields: object) -> bytes:
    content: dict[str, Any] = {**json.loads(encode_manifest(SMALL)), **fields}
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def file(**fields: object) -> list[dict[str, object]]:
    return [{"path": "config.json", "sha256": "a" * 64, "size_bytes": 2, **fields}]


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (changed(files=file(path="../config.json")), "../config.json"),
        (changed(files=file(path="/etc/passwd")), "/etc/passwd"),
        (changed(files=file(path="a/../b")), "a/../b"),
        (changed(files=file(path=".hidden")), ".hidden"),
        (changed(files=file(path="a\nb")), "a\nb"),
        (changed(files=file(path="config.json\n")), "config.json\n"),
        (changed(files=file(path="a" * 201)), "200"),
        (changed(files=file(size_bytes=-1)), "size_bytes"),
        (changed(files=file(size_bytes=True)), "size_bytes"),
        (changed(files=file(size_bytes=1.5)), "size_bytes"),
        (changed(files=file(sha256="A" * 64)), "sha256"),
        (changed(files=file(sha256="a" * 63)), "sha256"),
        (changed(files=file(sha256="a" * 64 + "\n")), "sha256"),
        (changed(files=file() + file()), "config.json"),
        (changed(files=file() + file(path="CONFIG.json")), "config.json"),
        (changed(files=file(path="a") + file(path="a/b")), "'a'"),
        (changed(files=[]), "files"),
        (changed(labels=["O", "O"]), "'O'"),
        (changed(labels=[]), "labels"),
        (changed(max_tokens=0), "max_tokens"),
        (changed(name="../up"), "name"),
        (changed(task="text-generation"), "task"),
        (changed(format=2), "format"),
        (changed(created="2026-01-01"), "created"),
        (changed(golden=[{"text": "Ada", "entities": [{"label": "NAME", "start": 1, "end": 4}]}]), "1:4"),
        (encode_manifest(SMALL) + b"\n", "canonical"),
        (json.dumps(json.loads(encode_manifest(SMALL))).encode(), "canonical"),
        (encode_manifest(SMALL).replace(b"{", b'{"name":"x",', 1), "canonical"),
        (b"", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b'{"name":"\xff"}', "cannot be read"),
    ],
)
def test_an_invalid_manifest_is_refused_and_names_what_is_wrong(data: bytes, named: str) -> None:
    with pytest.raises(InvalidManifest, match=re.escape(named)):
        decode_manifest(data)


def test_a_manifest_that_could_not_be_decoded_is_not_encoded() -> None:
    fields = {field: getattr(SMALL, field) for field in SMALL.__struct_fields__}
    with pytest.raises(InvalidManifest, match=r"\.\./x"):
        encode_manifest(Manifest(**fields | {"files": (File("../x", 1, "a" * 64),)}))
    with pytest.raises(InvalidManifest, match="Unicode"):
        encode_manifest(Manifest(**fields | {"labels": ("\ud800",)}))


@given(st.text(max_size=30))
def test_an_allowed_path_stays_in_its_folder(path: str) -> None:
    if path_problem(path) is None:
        assert all(part not in ("", ".", "..") for part in path.split("/"))
        assert path.isascii()
        assert path.isprintable()
