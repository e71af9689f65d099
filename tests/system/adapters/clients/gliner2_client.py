"""gliner2's `GLiNER2API`: one call of a method for each case; an error as its class, status, body and message.

Version 1.3.2 is the newest that can be imported without torch; what it sends is what 2.1 sends.
"""

import json
import sys
from typing import Any

from gliner2 import GLiNER2API
from gliner2.api_client import GLiNER2APIError


def ask(url: str, case: dict[str, Any]) -> Any:
    api = GLiNER2API(case["key"], f"{url}/{case['model']}" if "model" in case else url, timeout=120, max_retries=0)
    arguments = dict(case["arguments"])
    if "build" in case:
        schema = api.create_schema()
        build = case["build"]
        for method, given in build.items() if isinstance(build, dict) else build:
            schema = getattr(schema, method)(**given)
        arguments["schemas" if case["call"] == "batch_extract" else "schema"] = schema
    try:
        return getattr(api, case["call"])(**arguments)
    except GLiNER2APIError as error:
        body, status = error.response_data, error.status_code
        return {"class": type(error).__name__, "status": status, "body": body, "message": str(error)}


if __name__ == "__main__":
    print(json.dumps([ask(sys.argv[1], case) for case in json.load(sys.stdin)]))
