"""huggingface_hub: `token_classification` once for each case; an error as its status, body and Retry-After."""

import json
import sys
from typing import Any

from huggingface_hub import InferenceClient
from huggingface_hub.errors import HfHubHTTPError


def ask(url: str, case: dict[str, Any]) -> Any:
    client = InferenceClient(model=url + case.get("path", ""), token=case["key"], timeout=120)
    try:
        found = client.token_classification(case["text"], **case.get("options", {}))
    except HfHubHTTPError as error:
        answer = error.response
        return {"status": answer.status_code, "body": answer.json(), "retry": answer.headers.get("retry-after")}
    return [{name: value for name, value in dict(each).items() if value is not None} for each in found]


if __name__ == "__main__":
    print(json.dumps([ask(sys.argv[1], case) for case in json.load(sys.stdin)]))
