"""The store of kept answers: one request under a key at a time, bounded, and open again after a death."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from service.api.idempotency import store as module
from service.api.idempotency.store import AnswerStore, Claim, KeptAnswer, KeyReused

ANSWER = KeptAnswer(200, "application/json", b'{"documents":[]}\n\n more')
KEEP_SECONDS, CLIENT_BYTES = 600.0, 10_000


@pytest.fixture
def store(tmp_path: Path) -> AnswerStore:
    return AnswerStore(tmp_path / "answers", KEEP_SECONDS, CLIENT_BYTES)


def claimed(store: AnswerStore, client: str = "c", key: str = "k", fingerprint: str = "f") -> Claim:
    found = store.claim(client, key, fingerprint, time.time())
    assert isinstance(found, Claim)
    return found


def answered(store: AnswerStore, key: str, body: bytes) -> bool:
    """Whether an answer under this key was kept."""
    claim = claimed(store, key=key)
    kept = store.make_room("c", len(body), time.time())
    if kept:
        claim.keep(KeptAnswer(200, "application/json", body))
    claim.release()
    return kept


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_first_answers_others_wait_and_then_have_the_same_answer(store: AnswerStore) -> None:
    first = claimed(store)
    assert store.claim("c", "k", "f", time.time()) is None
    first.keep(ANSWER)
    assert [store.claim("c", "k", "f", time.time()) for _ in range(2)] == [ANSWER, ANSWER]


def test_another_request_under_a_key_is_refused_while_and_after_the_first_is_answered(store: AnswerStore) -> None:
    first = claimed(store)
    with pytest.raises(KeyReused):
        store.claim("c", "k", "another", time.time())
    first.keep(ANSWER)
    with pytest.raises(KeyReused):
        store.claim("c", "k", "another", time.time())


def test_clients_do_not_share_keys(store: AnswerStore) -> None:
    claimed(store, "one").keep(ANSWER)
    claimed(store, "two", fingerprint="another").release()


@pytest.mark.parametrize("give_up", [Claim.release, Claim.__del__], ids=["released", "forgotten"])
def test_a_request_without_an_answer_leaves_its_key_free(store: AnswerStore, tmp_path: Path, give_up: object) -> None:
    claim = claimed(store)
    give_up(claim)  # type: ignore[operator]
    assert files(tmp_path) == []
    claimed(store, fingerprint="another").release()


OWNER = """
import sys, time
from pathlib import Path
from service.api.idempotency.store import AnswerStore
claim = AnswerStore(Path(sys.argv[1]), 600.0, 10_000).claim("c", "k", "f", time.time())
print("claimed", flush=True)
time.sleep(600)
"""


def test_a_worker_that_is_killed_leaves_the_key_to_the_next_try(store: AnswerStore, tmp_path: Path) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path / "answers")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "claimed\n"
        assert store.claim("c", "k", "f", time.time()) is None
        owner.kill()
        owner.wait()
    claimed(store).keep(ANSWER)
    assert store.claim("c", "k", "f", time.time()) == ANSWER


def test_an_answer_is_forgotten_after_its_time(store: AnswerStore, tmp_path: Path) -> None:
    claimed(store).keep(ANSWER)
    later = time.time() + KEEP_SECONDS + 5
    found = store.claim("c", "k", "another", later)
    assert isinstance(found, Claim)
    found.keep(ANSWER)
    store.sweep(time.time())
    assert len(files(tmp_path)) == 1
    store.sweep(later)
    assert files(tmp_path) == []


def test_a_client_s_answers_are_bounded_in_bytes_and_the_oldest_go_first(store: AnswerStore, tmp_path: Path) -> None:
    body = bytes(CLIENT_BYTES // 4)
    for number in range(20):
        assert answered(store, f"k{number}", body)
        for path in files(tmp_path):
            age = time.time() - path.stat().st_mtime + 1
            os.utime(path, (time.time() - age, time.time() - age))
        assert sum(path.stat().st_size for path in files(tmp_path)) <= CLIENT_BYTES + 200
    assert store.claim("c", "k19", "f", time.time()) == KeptAnswer(200, "application/json", body)
    claimed(store, key="k0").release()


def test_a_client_s_answers_are_bounded_in_number(
    store: AnswerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 5)
    for number in range(20):
        assert answered(store, f"k{number}", b"")
    assert len(files(tmp_path)) <= 5


def test_an_answer_too_large_or_a_disk_nearly_full_keeps_nothing(
    store: AnswerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not answered(store, "k", bytes(CLIENT_BYTES + 1))
    monkeypatch.setattr(module, "SPARE_BYTES", 1 << 80)
    assert not answered(store, "k", b"")
    assert files(tmp_path) == []


def test_requests_that_are_being_answered_are_not_forgotten(store: AnswerStore) -> None:
    claim = claimed(store, key="running")
    store.sweep(time.time() + 10 * KEEP_SECONDS)
    store.make_room("c", CLIENT_BYTES, time.time() + 10 * KEEP_SECONDS)
    assert store.claim("c", "running", "f", time.time()) is None
    claim.release()


def test_a_full_disk_in_the_middle_of_an_answer_leaves_nothing(
    store: AnswerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = claimed(store)

    def full(*_: object) -> int:
        raise OSError(28, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(OSError, match="no space"):
            claim.keep(ANSWER)
        with pytest.raises(OSError, match="no space"):
            store.claim("c", "other", "f", time.time())
    assert files(tmp_path) == []
    claimed(store).release()


@pytest.mark.parametrize("kept_bytes", [0, 5, 40, 90])
def test_a_file_that_is_not_whole_counts_as_none(store: AnswerStore, tmp_path: Path, kept_bytes: int) -> None:
    claimed(store).keep(ANSWER)
    (path,) = files(tmp_path)
    os.truncate(path, kept_bytes)
    claimed(store).release()
