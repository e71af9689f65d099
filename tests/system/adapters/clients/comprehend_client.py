"""boto3's `comprehend`: the operation of each case with its arguments; errors as code, status and Retry-After."""

import base64
import json
import sys
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError


def ask(url: str, case: dict[str, Any]) -> Any:
    client = boto3.client(
        "comprehend",
        endpoint_url=url,
        region_name="eu-central-1",
        aws_access_key_id=case["key"],
        aws_secret_access_key="secret",
        config=Config(retries={"total_max_attempts": 1}),
    )
    arguments = case["arguments"]
    if "Bytes" in arguments:
        arguments["Bytes"] = base64.b64decode(arguments["Bytes"])
    try:
        answer = getattr(client, case["operation"])(**arguments)
    except ClientError as error:
        said = error.response["ResponseMetadata"]
        return {
            "code": error.response["Error"]["Code"],
            "message": error.response["Error"]["Message"],
            "typed": type(error).__name__,
            "status": said["HTTPStatusCode"],
            "retry": said["HTTPHeaders"].get("retry-after"),
        }
    said = answer.pop("ResponseMetadata")
    return {**answer, "revision": said["HTTPHeaders"]["x-gleaner-revision"]}


if __name__ == "__main__":
    print(json.dumps([ask(sys.argv[1], case) for case in json.load(sys.stdin)]))
