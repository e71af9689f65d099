"""What AWS's clients sign with, read as an API key of this service.

The signature itself is not checked, as no secret key is known here: the access key id alone is the key, and is worth
keeping as one. Source: AWS Signature Version 4, the `Authorization` header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_CREDENTIAL = re.compile(r"AWS4-HMAC-SHA256\s+(?:.*,\s*)?Credential=([^/,\s]{1,512})/")


def headers_with_key(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers with the access key id of a signed request as its API key, unless it has one."""
    found = _CREDENTIAL.match(headers.get("authorization", ""))
    if found is None or "x-api-key" in headers:
        return headers
    return {**headers, "x-api-key": found[1]}
