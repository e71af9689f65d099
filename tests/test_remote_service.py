"""A remote service names its model, whatever that model needs of a document."""

from __future__ import annotations

import json

from service.remote_service import RemoteService
from tests.support.local_http import Call, Reply, http_server, json_reply


def needs_pages(call: Call) -> Reply:
    """Refuses texts: a lone one as a request, each of a batch by itself."""
    refused = {"code": "invalid_options", "detail": "it needs pages"}
    if len(json.loads(call.body).get("documents", [])) < 2:
        return json_reply(refused, 422)
    return json_reply({"model": {"name": "forms", "revision": "sha256:7f"}, "documents": [{"error": refused}] * 2})


async def test_a_model_that_refuses_texts_is_named_too() -> None:
    with http_server(needs_pages) as url:
        async with RemoteService(url, {}) as service:
            assert await service.revision() == "forms@sha256:7f"
