"""The benchmarks' documents, the bare model, and the other server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import httpx
import pytest

from loadtest.bench.host import with_strange_labels
from loadtest.bench.labels import LONGEST_WORDS, PIECE_WORDS, SHORTEST_WORDS, documents, pieces, running
from loadtest.managed_service import BUILTIN, MODEL_FILES
from loadtest.service_process import KeptPort
from service.text import decoding_files
from service.text.rules import rule_set
from service.text.values.reading import READERS
from tests.support.processes import lives
from tests.support.service import wait_until


def test_nothing_in_its_folder_asks_for_rules_or_decoding() -> None:
    asking = {rule_set.FILE, decoding_files.RULES, decoding_files.TRANSITIONS}
    assert asking <= {each.name for each in BUILTIN.iterdir()}
    assert not asking & set(MODEL_FILES)


def test_its_labels_are_as_many_and_of_the_same_scheme_but_have_no_values() -> None:
    built_in = json.loads((BUILTIN / "config.json").read_text())
    bare = with_strange_labels(built_in)
    assert [label[:2] for label in bare["id2label"].values()] == [label[:2] for label in built_in["id2label"].values()]
    kinds = {label[2:] for label in bare["id2label"].values() if label != "O"}
    assert len(kinds) > 1
    assert not kinds & READERS.keys()
    assert bare["label2id"] == {label: int(number) for number, label in bare["id2label"].items()}
    assert {**bare, "id2label": {}, "label2id": {}} == {**built_in, "id2label": {}, "label2id": {}}


SERVER = """
import subprocess, sys, threading
from pathlib import Path
from tests.support.local_http import http_server, json_reply
child = subprocess.Popen(["sleep", "600"])
Path(sys.argv[2]).write_text(str(child.pid))
with http_server(lambda call: json_reply({"path": call.path}), port=int(sys.argv[1])):
    threading.Event().wait()
"""
"""A server that leaves a child process behind."""


def test_documents_have_all_lengths_and_are_the_same_each_time() -> None:
    words = sorted(len(text.split()) for text in documents())
    assert (words[0], words[-1]) == (SHORTEST_WORDS, LONGEST_WORDS)
    assert sum(count < 800 for count in words) == len(words) // 2
    assert documents() == documents()


def test_the_library_reads_every_word_once() -> None:
    text = max(documents(), key=len)
    parts = pieces(text)
    assert " ".join(parts) == text
    assert max(len(part.split()) for part in parts) == PIECE_WORDS


def test_a_server_answers_and_its_forsaken_child_is_ended_with_it(tmp_path: Path) -> None:
    port, note = KeptPort(), tmp_path / "child"
    command = [sys.executable, "-c", SERVER, str(port.number), str(note)]
    url = f"http://127.0.0.1:{port.number}/path"
    with running(command, url, {"text": "abc"}, tmp_path / "log"):
        assert httpx.post(url, json={"text": "abc"}, timeout=60.0).json() == {"path": "/path"}
        child = int(note.read_text())
        assert lives(child)
    wait_until(lambda: not lives(child))


def test_a_server_that_ends_at_once_says_why(tmp_path: Path) -> None:
    url, command = f"http://127.0.0.1:{KeptPort().number}", [sys.executable, "-c", "raise SystemExit('no such model')"]
    with pytest.raises(SystemExit, match="no such model"), running(command, url, {}, tmp_path / "log"):
        pass
