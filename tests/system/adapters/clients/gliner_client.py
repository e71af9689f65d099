"""GLiNER's `GLiNERClient`: `predict` once for each case; an error as its status, body and Retry-After.

It is loaded by its file, since the package imports torch. It sends no key of its own: urllib's opener does.
"""

import json
import sys
import urllib.request
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

spec = spec_from_file_location("gliner_client", str(distribution("gliner").locate_file("gliner/serve/client.py")))
assert spec is not None
assert spec.loader is not None
client = module_from_spec(spec)
spec.loader.exec_module(client)


def ask(url: str, case: dict[str, Any]) -> Any:
    opener = urllib.request.build_opener()
    opener.addheaders = [("X-API-Key", case["key"])]
    urllib.request.install_opener(opener)
    model = case.get("model")
    asker = client.GLiNERClient(url, f"/gliner/{model}" if model else "/gliner", timeout=120)
    try:
        return asker.predict(case["text"], case["labels"], **case.get("options", {}))
    except client.GLiNERClientError as error:
        answer = error.__cause__
        return {"status": answer.code, "body": json.load(answer), "retry": answer.headers.get("retry-after")}


if __name__ == "__main__":
    print(json.dumps([ask(sys.argv[1], case) for case in json.load(sys.stdin)]))
