"""tritonclient over HTTP and over gRPC: metadata, readiness, and one `infer` for each case; errors as status and words.

The URL is followed by the port of gRPC.
"""

import json
import sys
from typing import Any

import numpy as np
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import InferenceServerException


def clients(url: str, grpc_port: str) -> dict[str, tuple[Any, Any]]:
    host = url.removeprefix("http://")
    http = tritonclient.http.InferenceServerClient(host, connection_timeout=120, network_timeout=120)
    grpc = tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{grpc_port}")
    return {"http": (tritonclient.http, http), "grpc": (tritonclient.grpc, grpc)}


def infer(module: Any, client: Any, case: dict[str, Any]) -> Any:
    texts = np.array(case["texts"], dtype=np.object_).reshape(case.get("shape", [-1]))
    tensor = module.InferInput(case.get("input", "text"), list(texts.shape), "BYTES")
    plain = {"binary_data": False} if case.get("plain") else {}
    tensor.set_data_from_numpy(texts, **plain)
    outputs = [module.InferRequestedOutput("entities", **plain)] if case.get("plain") else None
    headers = {"authorization": f"Bearer {case['key']}"}
    more = case.get("options", {})
    answer = client.infer(case.get("model", "tiny"), [tensor], outputs=outputs, headers=headers, **more)
    found = answer.as_numpy("entities")
    said = answer.get_response(as_json=True) if module is tritonclient.grpc else answer.get_response()
    return {
        "shape": list(found.shape),
        "entities": [json.loads(each) for each in found.flatten()],
        "version": said["model_version"],
        "id": said.get("id", ""),
    }


def ask(module: Any, client: Any, case: dict[str, Any]) -> Any:
    headers = {"authorization": f"Bearer {case['key']}"}
    try:
        if case["call"] == "infer":
            return infer(module, client, case)
        if case["call"] in ("get_server_metadata", "get_model_metadata"):
            as_json = {"as_json": True} if module is tritonclient.grpc else {}
            return getattr(client, case["call"])(*case.get("arguments", ()), headers=headers, **as_json)
        return getattr(client, case["call"])(*case.get("arguments", ()), headers=headers)
    except InferenceServerException as error:
        return {"status": error.status(), "message": error.message()}


if __name__ == "__main__":
    both = clients(sys.argv[1], sys.argv[2])
    print(json.dumps([ask(*both[case["over"]], case) for case in json.load(sys.stdin)]))
