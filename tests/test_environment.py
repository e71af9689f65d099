"""The environment of processes: what a child gets, and the address that the settings name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from service.environment import (
    ALLOCATOR_VARIABLE,
    GROWING_SEGMENTS,
    METRICS_VARIABLE,
    child_environment,
    keep_segments_fixed,
    probed_address,
)
from service.settings import Settings


def test_a_child_gets_its_parent_s_environment_folder_and_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GLEANER_PORT", "9000")
    environment = child_environment(tmp_path, LOG_LEVEL="ERROR", PORT="9001")
    assert environment["GLEANER_RUNTIME_DIR"] == str(tmp_path)
    assert environment[METRICS_VARIABLE] == str(tmp_path / "metrics")
    assert (environment["GLEANER_LOG_LEVEL"], environment["GLEANER_PORT"]) == ("ERROR", "9001")
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert environment["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, ("127.0.0.1", "8080")),
        ({"GLEANER_HOST": "", "GLEANER_PORT": ""}, ("127.0.0.1", "8080")),
        ({"GLEANER_HOST": "0.0.0.0", "GLEANER_PORT": "9000"}, ("0.0.0.0", "9000")),
    ],
)
def test_probes_ask_at_the_address_of_the_settings(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], address: tuple[str, str]
) -> None:
    for name in ("GLEANER_HOST", "GLEANER_PORT", "GLEANER_INTERNAL_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert probed_address() == address
    settings = Settings()
    assert (settings.host, str(settings.port)) == address


@pytest.mark.parametrize(("internal", "port"), [("9001", "9001"), ("0", "9000"), ("", "9000")])
def test_probes_ask_on_the_internal_port_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch, internal: str, port: str
) -> None:
    monkeypatch.setenv("GLEANER_PORT", "9000")
    monkeypatch.setenv("GLEANER_INTERNAL_PORT", internal)
    assert probed_address()[1] == port


def test_torch_grows_segments_and_compiles_nothing_unless_it_is_told_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in (ALLOCATOR_VARIABLE, "TORCH_DISABLE_NATIVE_JIT"):
        monkeypatch.delenv(name, raising=False)
    environment = child_environment(tmp_path)
    assert environment[ALLOCATOR_VARIABLE] == "expandable_segments:True"
    assert environment["TORCH_DISABLE_NATIVE_JIT"] == "1"
    monkeypatch.setenv("TORCH_DISABLE_NATIVE_JIT", "0")
    assert child_environment(tmp_path)["TORCH_DISABLE_NATIVE_JIT"] == "0"


@pytest.mark.parametrize(
    ("before", "after"),
    [(GROWING_SEGMENTS, None), ("backend:cudaMallocAsync", "backend:cudaMallocAsync"), (None, None)],
)
def test_segments_stay_fixed_unless_the_user_configured_the_allocator(
    before: str | None, after: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ALLOCATOR_VARIABLE, before or "")
    if before is None:
        monkeypatch.delenv(ALLOCATOR_VARIABLE)
    keep_segments_fixed()
    assert os.environ.get(ALLOCATOR_VARIABLE) == after
