"""The Open Inference Protocol's adapter, by tritonclient over HTTP and gRPC: equal answers, typed errors, versions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.adapter_clients import FREE, POOR, run_client
from tests.support.extraction import TEXT, random_texts
from tests.support.service import Service, wait_until

OVER = ("http", "grpc")


def case(over: str, call: str, *arguments: str, key: str = FREE) -> dict[str, Any]:
    return {"over": over, "call": call, "arguments": arguments, "key": key}


def infer(over: str, texts: list[str], *, key: str = FREE, **more: Any) -> dict[str, Any]:
    return {"over": over, "call": "infer", "texts": texts, "key": key, **more}


def ask(service: Service, grpc_port: int, *cases: dict[str, Any]) -> list[Any]:
    found: list[Any] = run_client("oip", service.url, cases, str(grpc_port))
    return found


def extracted(service: Service, text: str, **options: Any) -> Any:
    with service.client() as client:
        answer = client.post("/extract", json={"text": text, **options}, headers={"X-API-Key": FREE}).json()
    return answer["documents"][0]["entities"]


@pytest.mark.parametrize("over", OVER)
def test_texts_of_any_length_are_answered_as_extract_answers_them(opened: Service, grpc_port: int, over: str) -> None:
    text = random_texts(1, seed=10, shortest=1_500, longest=1_500)[0]
    both, plain, column, optioned = ask(
        opened,
        grpc_port,
        infer(over, [TEXT, text], options={"request_id": "r-7"}),
        infer(over, [TEXT], plain=over == "http"),
        infer(over, [TEXT, TEXT], shape=[2, 1]),
        infer(over, [TEXT], options={"parameters": {"aggregation": "simple", "labels": "ORG"}, "timeout": 60_000_000}),
    )
    assert both["entities"] == [extracted(opened, TEXT), extracted(opened, text)]
    assert both["entities"][1][-1]["end"] > 0.9 * len(text)
    assert both["id"] == "r-7"
    assert both["version"].startswith("sha256:")
    assert plain["entities"] == both["entities"][:1]
    assert column["shape"] == [2, 1]
    assert optioned["entities"] == [extracted(opened, TEXT, aggregation="simple", labels=["ORG"])]


@pytest.mark.parametrize("over", OVER)
def test_versions_are_revisions_and_all_is_said_to_be_ready(opened: Service, grpc_port: int, over: str) -> None:
    with opened.client() as client:
        revision = client.get("/models").json()["models"][0]["revision"]
    live, ready, one, none, server, model, old = ask(
        opened,
        grpc_port,
        case(over, "is_server_live"),
        case(over, "is_server_ready"),
        case(over, "is_model_ready", "tiny", revision),
        case(over, "is_model_ready", "nowhere"),
        case(over, "get_server_metadata"),
        case(over, "get_model_metadata", "tiny"),
        infer(over, [TEXT], options={"model_version": revision}),
    )
    assert (live, ready, one) == (True, True, True)
    assert none is False or none["status"] == "StatusCode.NOT_FOUND"
    assert server["name"] == "gleaner"
    assert model["versions"] == [revision]
    assert [each["name"] for each in (*model["inputs"], *model["outputs"])] == ["text", "entities"]
    assert old["version"] == revision


@pytest.mark.parametrize("over", OVER)
def test_errors_are_typed_and_say_when_to_come_back(opened: Service, grpc_port: int, over: str) -> None:
    poor = infer(over, [TEXT], key=POOR)
    bad, unknown, version, option, nobody, _, debt = ask(
        opened,
        grpc_port,
        infer(over, [TEXT], input="words"),
        infer(over, [TEXT], model="nowhere"),
        infer(over, [TEXT], options={"model_version": "7"}),
        infer(over, [TEXT], options={"parameters": {"fields": True}}),
        infer(over, [TEXT], key="guess"),
        poor,
        poor,
    )
    http = over == "http"
    assert bad["status"] == ("400" if http else "StatusCode.INVALID_ARGUMENT")
    assert "`text`" in bad["message"]
    assert unknown["status"] == version["status"] == ("404" if http else "StatusCode.NOT_FOUND")
    assert option["status"] == ("422" if http else "StatusCode.INVALID_ARGUMENT")
    assert nobody["status"] == ("401" if http else "StatusCode.UNAUTHENTICATED")
    assert debt["status"] == ("429" if http else "StatusCode.RESOURCE_EXHAUSTED")
    assert "Retry after" in debt["message"]


def test_calls_over_grpc_are_counted_by_their_adapter(opened: Service, grpc_port: int) -> None:
    line = 'gleaner_requests_total{route="oip-grpc",status="200"}'
    before = opened.metric(line)
    ask(opened, grpc_port, infer("grpc", [TEXT]))
    wait_until(lambda: opened.metric(line) == before + 1, 10)


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
