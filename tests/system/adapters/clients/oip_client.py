"""tritonclient over HTTP: metadata, readiness, and one `infer` for each case; errors as status and words."""

import json
import sys
from typing import Any

import numpy as np
from tritonclient import http
from tritonclient.utils import InferenceServerException


def infer(client: http.InferenceServerClient, case: dict[str, Any]) -> Any:
    texts = np.array(case["texts"], dtype=np.object_).reshape(case.get("shape", [-1]))
    tensor = http.InferInput(case.get("input", "text"), list(texts.shape), "BYTES")
    plain = {"binary_data": False} if case.get("plain") else {}
    tensor.set_data_from_numpy(texts, **plain)
    outputs = [http.InferRequestedOutput("entities", **plain)] if case.get("plain") else None
    headers = {"authorization": f"Bearer {case['key']}"}
    more = case.get("options", {})
    answer = client.infer(case.get("model", "tiny"), [tensor], outputs=outputs, headers=headers, **more)
    found = answer.as_numpy("entities")
    said = answer.get_response()
    return {
        "shape": list(found.shape),
        "entities": [json.loads(each) for each in found.flatten()],
        "version": said["model_version"],
        "id": said.get("id", ""),
    }


def ask(client: http.InferenceServerClient, case: dict[str, Any]) -> Any:
    headers = {"authorization": f"Bearer {case['key']}"}
    try:
        if case["call"] == "infer":
            return infer(client, case)
        return getattr(client, case["call"])(*case.get("arguments", ()), headers=headers)
    except InferenceServerException as error:
        return {"status": error.status(), "message": error.message()}


if __name__ == "__main__":
    host = sys.argv[1].removeprefix("http://")
    client = http.InferenceServerClient(host, connection_timeout=120, network_timeout=120)
    print(json.dumps([ask(client, case) for case in json.load(sys.stdin)]))
