"""Page at /docs: shows openapi.json; nothing from another host, and only its own script and style, by their digests."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from starlette.responses import Response

_PAGE = (Path(__file__).parent / "docs.html").read_bytes()


def _digest(tag: bytes) -> str:
    """The CSP source of the page's one element of this name (CSP3, section 2.3.1: `hash-source`)."""
    found = re.search(rb"<%s>(.*)</%s>" % (tag, tag), _PAGE, re.DOTALL)
    assert found is not None, "the page has lost an element"
    return f"'sha256-{base64.b64encode(hashlib.sha256(found[1]).digest()).decode()}'"


CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; script-src {_digest(b'script')}; style-src {_digest(b'style')}; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def docs_page() -> Response:
    """The page."""
    return Response(_PAGE, headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY}, media_type="text/html")
