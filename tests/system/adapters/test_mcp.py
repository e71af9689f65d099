"""MCP adapter, by the official client: tools with schemas, structured results, refusals that say when to come back."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any

from mcp_types import CallToolRequestParams

from service.api.adapters.mcp import _CONTEXT, MOST_BODY_BYTES, _call_tool
from service.api.extraction.trace import RequestTrace
from tests.support.adapter_clients import FREE, POOR, run_client
from tests.support.document_files import simple_docx, simple_pdf
from tests.support.extraction import TEXT, random_texts
from tests.support.redacted_pdfs import left_of
from tests.support.service import Service


def case(tool: str | None, *, key: str = FREE, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "key": key}


def ask(service: Service, *cases: dict[str, Any]) -> list[Any]:
    found: list[Any] = run_client("mcp", service.url, cases)
    return found


def test_an_agent_finds_the_tools_and_what_they_take(opened: Service) -> None:
    tools, models = ask(opened, case(None), case("list_models"))
    assert set(tools) == {"extract", "redact", "list_models"}
    extract, redact = (set(tools[name]["in"]["properties"]) for name in ("extract", "redact"))
    assert {"text", "base64", "labels", "model", "fields"} <= extract
    assert {"mode", "repeats", "output"} | extract - {"fields"} <= redact
    assert "fields" not in redact
    assert all("document" in tools[name]["out"]["properties"] for name in ("extract", "redact"))
    assert [each["name"] for each in models["result"]["models"]] == ["tiny", "other", "free", "free2"]
    assert "B-PER" in models["result"]["models"][0]["labels"]


def test_documents_of_any_length_and_files_are_extracted(opened: Service) -> None:
    text = random_texts(1, seed=11, shortest=1_500, longest=1_500)[0]
    file = simple_pdf("Anna Maria Smith paid the invoice in Berlin")
    long, pdf, other, bill = ask(
        opened,
        case("extract", text=text),
        case("extract", base64=base64.b64encode(file).decode(), file_name="a.pdf"),
        case("extract", text=text, model="other", labels=["ORG"], min_score=0.3),
        case("extract", text="Acme GmbH\nINVOICE\nInvoice no. A-17\nTotal EUR 9.00", fields=True),
    )
    with opened.client() as client:
        key = {"X-API-Key": FREE}
        theirs = client.post("/extract", json={"text": text}, headers=key).json()
        paged = client.post("/extract", content=file, headers=key).json()
    assert long["result"]["document"] == theirs["documents"][0]
    assert long["text"] == long["result"]
    assert long["result"]["model"] == theirs["model"]
    assert long["result"]["document"]["entities"][-1]["end"] > 0.9 * len(text)
    assert pdf["result"]["document"] == paged["documents"][0]
    assert "papers" not in pdf["result"]["document"]
    assert [paper["title"] for paper in bill["result"]["document"]["papers"]] == ["INVOICE"]
    assert other["result"]["model"]["name"] == "other"
    assert {each["label"] for each in other["result"]["document"]["entities"]} == {"ORG"}


def test_a_text_and_a_pdf_come_back_redacted_and_what_cannot_be_is_refused(opened: Service) -> None:
    text = random_texts(1, seed=13, shortest=1_500, longest=1_500)[0]
    file = simple_pdf("Anna Maria Smith paid the invoice in Berlin")
    encoded = base64.b64encode(file).decode()
    long, masked, pdf, hashed, unknown, word = ask(
        opened,
        case("redact", text=text, labels=["PER"]),
        case("redact", text=text, mode="mask", model="other"),
        case("redact", base64=encoded, file_name="a.pdf"),
        case("redact", text=text, mode="hash"),
        case("redact", text=text, mode="burn"),
        case("redact", base64=base64.b64encode(simple_docx("Anna Smith")).decode(), file_name="a.docx"),
    )
    with opened.client() as client:
        key = {"X-API-Key": FREE}
        theirs = client.post("/redact", json={"text": text, "labels": ["PER"]}, headers=key).json()
        paged = client.post("/redact", content=file, headers=key).json()
        found = client.post("/extract", content=file, headers=key).json()
    assert long["result"]["document"] == theirs["documents"][0]
    assert long["result"]["model"] == theirs["model"]
    assert long["text"] == long["result"]
    ends = [each["end"] for each in long["result"]["document"]["entities"]]
    assert max(ends) > 0.9 * len(text)
    assert masked["result"]["model"]["name"] == "other"
    assert len(masked["result"]["document"]["text"]) == len(text)
    went = pdf["result"]["document"]
    assert went["entities"] == paged["documents"][0]["entities"]
    texts = [each["text"] for each in found["documents"][0]["entities"]]
    assert texts
    assert left_of(base64.b64decode(went["file"]["data"]), *texts) == {}
    assert (hashed["failed"], hashed["result"]["code"]) == (True, "invalid_options")
    assert (unknown["failed"], unknown["result"]["code"]) == (True, "malformed_request")
    assert (word["failed"], word["result"]["code"]) == (True, "unsupported_format")


def test_a_tool_s_refusal_is_its_result_the_adapter_s_an_error(opened: Service) -> None:
    with opened.client() as client:
        client.post("/extract", json={"text": TEXT}, headers={"X-API-Key": POOR})
    both, unknown, encoded, none, nobody, debt = ask(
        opened,
        case("extract", text=TEXT, base64="QQ=="),
        case("extract", text=TEXT, model="nowhere"),
        case("extract", base64="!"),
        case("translate", text=TEXT),
        case("extract", key="guess", text=TEXT),
        case("extract", key=POOR, text=TEXT),
    )
    assert (both["failed"], both["result"]["code"]) == (True, "malformed_request")
    assert unknown["result"]["code"] == "unknown_model"
    assert encoded["result"]["code"] == "malformed_request"
    assert none["failed"]
    assert nobody["data"]["code"] == "forbidden"
    assert debt["data"]["code"] == "rate_limited"
    assert debt["data"]["retry_after_seconds"] >= 1
    assert "Retry after" in debt["message"]


async def test_a_tool_that_fails_is_the_services_failure_though_its_status_is_200() -> None:
    trace = RequestTrace("r", 0.0, status=200)
    call = SimpleNamespace(request=SimpleNamespace(scope={"state": {_CONTEXT: SimpleNamespace(trace=trace)}}))
    assert (await _call_tool(call, CallToolRequestParams(name="extract", arguments={"text": TEXT}))).is_error
    assert trace.server_error == "internal_error"


def test_there_are_no_sessions_and_no_pages_of_other_sites(opened: Service) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"X-API-Key": FREE, "Accept": "application/json, text/event-stream"}
    with opened.client() as client:
        stream, ended = client.get("/mcp", headers=headers), client.delete("/mcp", headers=headers)
        elsewhere = client.post("/mcp", json=body, headers={**headers, "Origin": "https://example.com"})
        unnamed = client.post("/mcp", json=body, headers={"Accept": headers["Accept"]})
    assert (stream.status_code, ended.status_code) == (405, 405)
    assert stream.headers["allow"] == "POST"
    assert elsewhere.status_code == 403
    assert unnamed.status_code == 401
    assert unnamed.headers["www-authenticate"] == "Bearer"


def test_a_message_over_the_limit_is_refused_with_or_without_its_length(opened: Service) -> None:
    data = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "x": "' + bytes(MOST_BODY_BYTES) + b'"}'
    headers = {"X-API-Key": FREE, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for content in (data, iter([data])):
        with opened.client() as client:
            answer = client.post("/mcp", content=content, headers=headers)
        assert answer.status_code == 413
        assert answer.json()["error"]["data"]["code"] == "document_too_large"
