"""The Open Inference Protocol's adapter, by tritonclient over HTTP: equal answers, typed errors, versions."""

from __future__ import annotations

from typing import Any

from tests.support.adapter_clients import FREE, POOR, run_client
from tests.support.extraction import TEXT, random_texts
from tests.support.service import Service


def case(call: str, *arguments: str, key: str = FREE) -> dict[str, Any]:
    return {"call": call, "arguments": arguments, "key": key}


def infer(texts: list[str], *, key: str = FREE, **more: Any) -> dict[str, Any]:
    return {"call": "infer", "texts": texts, "key": key, **more}


def ask(service: Service, *cases: dict[str, Any]) -> list[Any]:
    found: list[Any] = run_client("oip", service.url, cases)
    return found


def extracted(service: Service, text: str, **options: Any) -> Any:
    with service.client() as client:
        answer = client.post("/extract", json={"text": text, **options}, headers={"X-API-Key": FREE}).json()
    return answer["documents"][0]["entities"]


def test_texts_of_any_length_are_answered_as_extract_answers_them(opened: Service) -> None:
    text = random_texts(1, seed=10, shortest=1_500, longest=1_500)[0]
    both, plain, column, optioned = ask(
        opened,
        infer([TEXT, text], options={"request_id": "r-7"}),
        infer([TEXT], plain=True),
        infer([TEXT, TEXT], shape=[2, 1]),
        infer([TEXT], options={"parameters": {"aggregation": "simple", "labels": "ORG"}, "timeout": 60_000_000}),
    )
    assert both["entities"] == [extracted(opened, TEXT), extracted(opened, text)]
    assert both["entities"][1][-1]["end"] > 0.9 * len(text)
    assert both["id"] == "r-7"
    assert both["version"].startswith("sha256:")
    assert plain["entities"] == both["entities"][:1]
    assert column["shape"] == [2, 1]
    assert optioned["entities"] == [extracted(opened, TEXT, aggregation="simple", labels=["ORG"])]


def test_versions_are_revisions_and_all_is_said_to_be_ready(opened: Service) -> None:
    with opened.client() as client:
        revision = client.get("/models").json()["models"][0]["revision"]
    live, ready, one, none, server, model, old = ask(
        opened,
        case("is_server_live"),
        case("is_server_ready"),
        case("is_model_ready", "tiny", revision),
        case("is_model_ready", "nowhere"),
        case("get_server_metadata"),
        case("get_model_metadata", "tiny"),
        infer([TEXT], options={"model_version": revision}),
    )
    assert (live, ready, one) == (True, True, True)
    assert none is False
    assert server["name"] == "gleaner"
    assert model["versions"] == [revision]
    assert [each["name"] for each in (*model["inputs"], *model["outputs"])] == ["text", "entities"]
    assert old["version"] == revision


def test_errors_are_typed_and_say_when_to_come_back(opened: Service) -> None:
    poor = infer([TEXT], key=POOR)
    bad, unknown, version, option, nobody, _, debt = ask(
        opened,
        infer([TEXT], input="words"),
        infer([TEXT], model="nowhere"),
        infer([TEXT], options={"model_version": "7"}),
        infer([TEXT], options={"parameters": {"fields": True}}),
        infer([TEXT], key="guess"),
        poor,
        poor,
    )
    assert bad["status"] == "400"
    assert "`text`" in bad["message"]
    assert unknown["status"] == version["status"] == "404"
    assert option["status"] == "422"
    assert nobody["status"] == "401"
    assert debt["status"] == "429"
    assert "Retry after" in debt["message"]


def test_binary_data_that_lies_is_refused(opened: Service) -> None:
    head = b'{"inputs":[{"name":"text","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":%d}}]}'
    tails = (b"", b"\x09\0\0\0abc", b"\x01\0", b"\x01\0\0\0\xff")
    with opened.client() as client:
        for tail in tails:
            body = head % len(tail)
            headers = {"X-API-Key": FREE, "Inference-Header-Content-Length": str(len(body))}
            answer = client.post("/v2/models/tiny/infer", content=body + tail, headers=headers)
            assert answer.status_code == 400, tail
            assert set(answer.json()) == {"error"}
        headers["Inference-Header-Content-Length"] = "9"
        late = client.post("/v2/models/tiny/infer", content=b"{}", headers=headers)
    assert late.status_code == 400
