"""Settings: read from the environment, listed in the documents, refused with their names when they are bad."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.environment import PREFIX
from service.settings import BadSettings, Settings, read_settings, unknown_settings

ROOT = Path(__file__).parent.parent
DOCUMENTS = ("service/SETTINGS.md",)
ROW = re.compile(rf"^\| `({PREFIX}[A-Z_]+)` \|(.*?)\|(.*)\|$", re.M)


@pytest.fixture(autouse=True)
def _no_settings_of_whoever_runs_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)


def plainly(value: object) -> str:
    """A default as the documents show it."""
    if value is None or value == {}:
        return ""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).removeprefix(f"{ROOT}/")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_s_table_has_every_setting_with_its_default(document: str) -> None:
    rows = ROW.findall((ROOT / document).read_text())
    table = {name: default.strip().strip("`") for name, default, _ in rows}
    settings = {PREFIX + name.upper(): plainly(field.default) for name, field in Settings.model_fields.items()}
    assert table == settings


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_s_table_describes_each_setting(document: str) -> None:
    table = {name: text.strip() for name, _, text in ROW.findall((ROOT / document).read_text())}
    assert table == {PREFIX + name.upper(): field.description for name, field in Settings.model_fields.items()}


def test_values_come_from_the_environment_and_flags_go_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLEANER_PORT", "9000")
    monkeypatch.setenv("GLEANER_MODELS", " cv@candidate, invoices ,")
    monkeypatch.setenv("GLEANER_NOBODY_KNOWS_THIS", "1")
    assert (read_settings().port, read_settings().models) == (9000, ("cv@candidate", "invoices"))
    assert read_settings(port="9001").port == 9001
    assert list(unknown_settings()) == ["GLEANER_NOBODY_KNOWS_THIS"], "named in the log when the service starts"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("GLEANER_MODLES", "did you mean GLEANER_MODELS?"),
        ("GLEANER_MODEL_STOR", "did you mean GLEANER_MODEL_STORE?"),
        ("GLEANER_DOCUMENT_PAGES", "did you mean GLEANER_MAX_DOCUMENT_PAGES?"),
        ("GLEANER_ZZZ", "GLEANER_ZZZ is no setting and is ignored"),
    ],
)
def test_an_unknown_setting_is_named_with_the_nearest(monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    monkeypatch.setenv(name, "1")
    monkeypatch.setenv("GLEANER_PORT", "9000")
    (said,) = unknown_settings().values()
    assert said.endswith(words)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eighty"),
        ("PORT", "65536"),
        ("PORT", "-1"),
        ("WORKERS", "65"),
        ("PARSERS", "0"),
        ("DEVICE", "tpu"),
        ("DTYPE", "int4"),
        ("MODELS", " , "),
        ("WINDOW_TOKENS", "15"),
        ("QUEUE_LIMIT_TOKENS", "0"),
        ("BULK_QUEUE", "jobs"),
        ("BULK_TASKS", "-1"),
        ("MODEL_REMOTE", "models"),
        ("PARSE_SECONDS", "0"),
        ("PARSE_MEMORY_BYTES", "1000"),
        ("DEADLINE_MS", "0"),
        ("DRAIN_SECONDS", "-1"),
        ("DRAIN_SECONDS", "soon"),
        ("LOG_LEVEL", "loud"),
    ],
)
def test_a_bad_value_names_its_variable_and_itself(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(PREFIX + name, value)
    with pytest.raises(BadSettings, match=f"{PREFIX}{name}='?{re.escape(value)}"):
        read_settings()


def test_all_bad_values_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLEANER_PORT", "x")
    monkeypatch.setenv("GLEANER_DEVICE", "y")
    with pytest.raises(BadSettings, match=r"GLEANER_PORT.*; GLEANER_DEVICE"):
        read_settings()


@pytest.mark.parametrize("name", [name for name, field in Settings.model_fields.items() if field.annotation is float])
def test_nan_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(PREFIX + name.upper(), "nan")
    with pytest.raises(BadSettings, match=name.upper()):
        read_settings()


@given(workers=st.integers(0, 64))
def test_workers_are_as_set_or_one_for_each_two_cores(workers: int) -> None:
    found = Settings(workers=workers).front_workers
    assert found == workers or (workers == 0 and found == max(1, min(8, (os.cpu_count() or 1) // 2)))


@pytest.mark.parametrize(("window", "overlap"), [(64, 16), (512, 128), (4_096, 128)])
def test_windows_overlap_by_a_quarter_and_at_most_128_tokens(window: int, overlap: int) -> None:
    assert read_settings(window_tokens=window).overlap_tokens == overlap


def test_limits_of_a_request_follow_those_of_a_document() -> None:
    settings = read_settings(max_document_bytes=1_000, max_document_tokens=500)
    assert (settings.max_request_bytes, settings.max_held_bytes) == (4_000, 6_000)
    assert settings.max_document_characters == 2_000


def test_the_processes_meet_in_one_folder(tmp_path: Path) -> None:
    settings = read_settings(runtime_dir=tmp_path)
    assert settings.engine_address == f"ipc://{tmp_path}/engine"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"internal_port": 8080}, "GLEANER_INTERNAL_PORT=8080"),
        ({"tls_key": "/k.pem"}, "certificate and key are given together"),
        ({"tls_certificate": "/c.pem"}, "GLEANER_TLS_KEY=None"),
        ({"trusted_proxies": "*"}, "GLEANER_TRUSTED_PROXIES"),
        ({"trusted_proxies": "10.0.0.1/8"}, "GLEANER_TRUSTED_PROXIES"),
    ],
)
def test_bad_settings_of_access_are_named(settings: dict[str, object], words: str) -> None:
    with pytest.raises(BadSettings, match=re.escape(words)):
        read_settings(**settings)


def test_proxies_are_addresses_and_networks() -> None:
    assert read_settings(trusted_proxies="10.0.0.0/8, ::1").trusted_proxies == ("10.0.0.0/8", "::1")


@pytest.mark.parametrize(
    ("device", "cores", "workers"),
    [
        ("auto", 4, 2),
        ("cpu", 32, 8),
        ("cpu", 1, 1),
        ("cuda", 4, 3),
        ("cuda", 1, 1),
        ("cuda", 16, 15),
        ("cuda", 192, 16),
    ],
)
def test_front_workers_leave_the_engine_the_cores_that_it_needs(
    device: str, cores: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert read_settings(device=device).front_workers == workers
    assert read_settings(device=device, workers=5).front_workers == 5
