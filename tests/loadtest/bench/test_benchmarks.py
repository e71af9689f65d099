"""The benchmarks' documents, the bare model, and the other server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import httpx
import pytest

from loadtest.bench.host import with_strange_labels
from loadtest.bench.labels import LONGEST_WORDS, PIECE_WORDS, SHORTEST_WORDS, documents, pieces, running
from loadtest.bench.throughput import CLIENTS, ENGINE, LONE_TEXTS, PIPELINE, SERVICE, compare, ratios
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


def test_the_engine_is_compared_with_the_best_library_round_by_round() -> None:
    alone = {
        "OpenVINO alone, one text on all cores": [9.0, 9.0, 90.0],
        "OpenVINO alone, a text on each core": [10.0] * 3,
        "ONNX Runtime alone, one text on all cores": [8.0] * 3,
        "ONNX Runtime alone, a text on each core": [8.0] * 3,
    }
    served = {f"{SERVICE}, {clients} client{'s' * (clients > 1)}": [4.0 + clients] * 3 for clients in CLIENTS}
    lone = {f"{library}, {tokens} tokens": [tokens * slow] * 3 for tokens in LONE_TEXTS
            for library, slow in {"OpenVINO": 2.0, "ONNX Runtime": 1.0, SERVICE: 3.0}.items()}  # fmt: skip
    found = ratios({PIPELINE: [5.0] * 3, ENGINE: [10.0, 20.0, 5.0], **alone, **served, **lone})
    assert found == {
        "engine alone ÷ OpenVINO alone, a text on each core (at least 0.97)": [1.0, 2.0, 0.5],
        "service, 16 clients ÷ engine alone (at least 0.85)": [2.0, 1.0, 4.0],
        "service, 2 clients ÷ 16 clients (at least 0.9)": [0.3] * 3,
        "service, 16 clients ÷ transformers' pipeline": [4.0] * 3,
        **{f"service ÷ ONNX Runtime, {tokens} tokens (at most 1.15)": [3.0] * 3 for tokens in LONE_TEXTS},
    }


def test_entities_of_one_run_differ_and_common_ones_compare_by_score() -> None:
    a, b, c = ({"label": "A", "start": start, "end": start + 1, "score": 0.5} for start in range(3))
    assert compare([[a, b], []], [[{**a, "score": 0.75}], [c]]) == (0.25, 1 - 1 / 3)
