"""boto3's `sagemaker-runtime`: one `invoke_endpoint` for each case; errors as code, status and Retry-After."""

import base64
import json
import sys
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError


def ask(url: str, case: dict[str, Any]) -> Any:
    client = boto3.client(
        "sagemaker-runtime",
        endpoint_url=url,
        region_name="eu-central-1",
        aws_access_key_id=case["key"],
        aws_secret_access_key="secret",
        config=Config(retries={"total_max_attempts": 1}),
    )
    try:
        answer = client.invoke_endpoint(
            EndpointName="documents",
            Body=base64.b64decode(case["body"]),
            ContentType=case["type"],
            **case.get("options", {}),
        )
    except ClientError as error:
        said = error.response["ResponseMetadata"]
        return {
            "code": error.response["Error"]["Code"],
            "message": error.response["Error"]["Message"],
            "status": said["HTTPStatusCode"],
            "retry": said["HTTPHeaders"].get("retry-after"),
        }
    revision = answer["ResponseMetadata"]["HTTPHeaders"]["x-gleaner-revision"]
    return {"type": answer["ContentType"], "revision": revision, "body": json.loads(answer["Body"].read())}


if __name__ == "__main__":
    print(json.dumps([ask(sys.argv[1], case) for case in json.load(sys.stdin)]))
