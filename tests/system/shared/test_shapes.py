"""Every shape of /extract, waves of requests of every size, and every other route, over real HTTP."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from service.cli import main
from tests.support.document_files import simple_docx, simple_pdf
from tests.support.extraction import TEXT
from tests.support.service import Service


def test_json_with_one_text(service: Service) -> None:
    with service.client() as client:
        answer = client.post("/extract", json={"text": TEXT, "include_text": True})
    body = answer.json()
    assert answer.status_code == 200
    assert body["model"]["name"] == "tiny"
    assert body["model"]["revision"].startswith("sha256:")
    document = body["documents"][0]
    assert (document["text"], document["characters"], document["truncated"]) == (TEXT, len(TEXT), False)
    assert document["windows"] == 1
    assert all(TEXT[e["start"] : e["end"]] == e["text"] for e in document["entities"])
    assert set(body["timing"]) == {"parse_ms", "tokenize_ms", "queue_ms", "compute_ms", "decode_ms", "total_ms"}


def test_fields_are_null_where_no_kind_of_document_fits(service: Service) -> None:
    with service.client() as client:
        asked = client.post("/extract", json={"text": TEXT, "fields": True}).json()["documents"][0]
        form = client.post("/extract", files={"file": ("a.txt", TEXT.encode())}, data={"fields": "true"})
        not_asked = client.post("/extract", json={"text": TEXT}).json()["documents"][0]
    assert asked["fields"] is None
    assert form.json()["documents"][0]["fields"] is None
    assert "fields" not in not_asked


def test_a_batch_keeps_ids_and_order_with_an_error_for_each_document(service: Service) -> None:
    with service.client() as client:
        files = [("file", ("a.txt", TEXT.encode())), ("file", ("b.pdf", b"")), ("file", ("c.txt", b"hello"))]
        mixed = client.post("/extract", files=files)
        batch = client.post("/extract", json={"documents": [{"id": "x", "text": TEXT}, {"text": "hello"}]})
    assert [document["id"] for document in batch.json()["documents"]] == ["x", "1"]
    assert mixed.status_code == 200
    documents = mixed.json()["documents"]
    assert [document["id"] for document in documents] == ["a.txt", "b.pdf", "c.txt"]
    assert documents[1]["error"]["code"] == "unreadable_document"
    assert documents[0]["error"] is None
    assert documents[0]["entities"]


def test_multipart_takes_options_as_fields(service: Service) -> None:
    with service.client() as client:
        fields = {"labels": "ORG, PER", "include_text": "true", "aggregation": "simple"}
        answer = client.post(
            "/extract", files={"file": ("a.pdf", simple_pdf("Anna Smith paid", "second line"))}, data=fields
        )
    document = answer.json()["documents"][0]
    assert document["pages"] == 1
    assert document["text"] == "Anna Smith paid\nsecond line"
    assert {entity["label"] for entity in document["entities"]} <= {"ORG", "PER"}


def test_a_pdf_gives_pages_and_boxes(service: Service) -> None:
    with service.client() as client:
        answer = client.post(
            "/extract", content=simple_pdf("Anna Smith paid"), headers={"Content-Type": "application/pdf"}
        )
    entities = answer.json()["documents"][0]["entities"]
    assert entities
    for entity in entities:
        assert entity["page"] == 1
        (left, top, right, bottom), *_ = entity["boxes"]
        assert 70 < left < right < 300
        assert 842 - 735 < top < bottom < 842 - 715


def test_a_raw_body_is_read_by_its_type_with_options_in_the_query(service: Service) -> None:
    types = {
        "text/plain; charset=utf-16": TEXT.encode("utf-16"),
        "text/html": f"<p>{TEXT}</p><script>no</script>".encode(),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": simple_docx(TEXT),
        "application/octet-stream": simple_docx(TEXT),
    }
    with service.client() as client:
        for media_type, body in types.items():
            answer = client.post("/extract?include_text=true", content=body, headers={"Content-Type": media_type})
            assert answer.json()["documents"][0]["text"].strip() == TEXT, media_type


@pytest.mark.parametrize(
    ("media_type", "text", "encoding", "expected"),
    [
        ("text/plain", TEXT, "utf-8", {"name": "utf-8", "source": "detected", "confidence": 1.0}),
        (
            "text/html;charset=cp1252",
            "<p>Für 5 €",
            "cp1252",
            {"name": "windows-1252", "source": "declared", "confidence": 1.0},
        ),
        (
            "text/plain",
            "Zakład Usługowy Żółw",
            "cp1250",
            {"name": "windows-1250", "source": "guessed", "confidence": 1.0},
        ),
    ],
)
def test_the_charset_of_a_file_is_in_its_answer(
    service: Service, media_type: str, text: str, encoding: str, expected: dict[str, object]
) -> None:
    with service.client() as client:
        answer = client.post("/extract", content=text.encode(encoding), headers={"Content-Type": media_type})
        assert answer.json()["documents"][0]["charset"] == expected
        assert "charset" not in client.post("/extract", json={"text": text}).json()["documents"][0]


def test_ndjson_gives_a_line_for_each_document_as_it_is_done(service: Service) -> None:
    body = {"documents": [{"id": "long", "text": TEXT * 5_000}, {"id": "short", "text": TEXT}]}
    with (
        service.client() as client,
        client.stream("POST", "/extract", json=body, headers={"Accept": "application/x-ndjson"}) as answer,
    ):
        lines = [json.loads(line) for line in answer.iter_lines()]
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert answer.headers["x-accel-buffering"] == "no"
    assert [line["document"]["id"] for line in lines] == ["short", "long"]
    assert all(line["model"]["name"] == "tiny" and line["timing"]["total_ms"] > 0 for line in lines)


def test_offsets_count_what_the_caller_asks_for(service: Service) -> None:
    found = {}
    with service.client() as client:
        for unit in ("codepoint", "utf16", "byte"):
            answer = client.post("/extract", json={"text": TEXT, "offsets": unit})
            found[unit] = answer.json()["documents"][0]["entities"]
    utf16 = TEXT.encode("utf-16-le")
    for by_point, by_unit, by_byte in zip(*found.values(), strict=True):
        assert TEXT[by_point["start"] : by_point["end"]] == by_point["text"]
        assert utf16[2 * by_unit["start"] : 2 * by_unit["end"]].decode("utf-16-le") == by_point["text"]
        assert TEXT.encode()[by_byte["start"] : by_byte["end"]].decode() == by_point["text"]


def test_min_score_keeps_only_the_sure_ones(service: Service) -> None:
    with service.client() as client:
        everything = client.post("/extract", json={"text": TEXT * 5}).json()["documents"][0]["entities"]
        border = sorted(entity["score"] for entity in everything)[len(everything) // 2]
        sure = client.post("/extract", json={"text": TEXT * 5, "min_score": border}).json()["documents"][0]["entities"]
    assert sure == [entity for entity in everything if entity["score"] >= border]


def test_a_model_is_chosen_by_name_tag_or_revision(service: Service) -> None:
    with service.client() as client:
        models = client.get("/models").json()["models"]
        other = next(model for model in models if model["name"] == "other")
        for wanted in ("other", "other@stable", f"other@{other['revision']}"):
            answer = client.post("/extract", json={"text": TEXT, "model": wanted}).json()
            assert answer["model"] == {"name": "other", "revision": other["revision"]}
    assert "folder" not in other
    assert other["path"] == "converted"


def test_a_text_without_any_token_has_no_entities(service: Service) -> None:
    with service.client() as client:
        document = client.post("/extract", json={"text": ""}).json()["documents"][0]
    assert (document["tokens"], document["windows"], document["entities"], document["error"]) == (0, 0, [], None)


def test_health_metrics_and_documentation(service: Service) -> None:
    with service.client() as client:
        assert client.get("/livez").json() == {"status": "alive"}
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["phase"]) == (200, "ready")
        metrics = client.get("/metrics")
        assert metrics.headers["content-type"].startswith("text/plain")
        for name in ("gleaner_queue_tokens", "gleaner_backlog_seconds", "gleaner_work_ratio", "gleaner_phase"):
            assert f"\n{name}" in metrics.text
        openapi = client.get("/openapi.json").json()
        content = openapi["paths"]["/extract"]["post"]["requestBody"]["content"]
        assert {"application/json", "multipart/form-data", "application/pdf", "text/html"} <= set(content)
        assert content["application/json"]["example"]
        assert client.get("/docs").status_code == 200


def test_the_health_check_of_containers_finds_it_alive(service: Service) -> None:
    assert main(["healthcheck", "--port", service.url.rpartition(":")[2], "--seconds", "30"]) == 0


LONGEST_WORDS = 2_000


def text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(("Jane", "Doe", "lives", "in", "Springfield", "and", "owes", "1,200.00"), k=words))


def wave(draw: random.Random, kind: int) -> list[list[str]]:
    """The documents of each request: a burst, many one-word texts, a long text beside small ones, or batches."""
    if kind == 0:
        return [[text(draw, draw.randint(1, 400))] for _ in range(draw.randint(20, 60))]
    if kind == 1:
        return [["a"] * draw.randint(1, 50) for _ in range(draw.randint(1, 20))]
    if kind == 2:
        longest = [text(draw, draw.randint(LONGEST_WORDS // 4, LONGEST_WORDS))]
        return [longest, *([text(draw, draw.randint(1, 40))] for _ in range(10))]
    return [[text(draw, int(10 ** draw.uniform(0, 3.3))) for _ in range(draw.randint(1, 30))] for _ in range(3)]


def test_nothing_fails_and_nothing_is_restarted_under_hostile_load(service: Service) -> None:
    draw, answered = random.Random(0), 0
    starts = service.metric("gleaner_engine_starts_total")
    with service.client(timeout=300.0) as client, ThreadPoolExecutor(64) as callers:

        def ask(texts: list[str], model: str) -> httpx.Response:
            return client.post("/extract", json={"model": model, "documents": [{"text": each} for each in texts]})

        for kind in range(4):
            for answer in [callers.submit(ask, each, draw.choice(("tiny", "other"))) for each in wave(draw, kind)]:
                documents = answer.result().raise_for_status().json()["documents"]
                assert [each["error"] for each in documents if each["error"]] == []
                answered += len(documents)
    assert answered > 20
    assert service.metric("gleaner_engine_starts_total") == starts
    assert service.is_ready()
