"""Presidio has no client of its own: plain `requests`, as LiteLLM and its examples post."""

import json
import sys
from typing import Any

import requests


def ask(url: str, case: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {case['key']}"}
    method = "GET" if case["body"] is None else "POST"
    answer = requests.request(method, url + case["path"], json=case["body"], headers=headers, timeout=120)
    kind = answer.headers["content-type"]
    return {
        "status": answer.status_code,
        "body": answer.json() if kind.startswith("application/json") else answer.text,
        "retry": answer.headers.get("retry-after"),
        "revision": answer.headers.get("x-gleaner-revision"),
    }


if __name__ == "__main__":
    print(json.dumps([ask(sys.argv[1], case) for case in json.load(sys.stdin)]))
