"""Opens the remote store that a URL names.

`s3://bucket/prefix`: endpoint, region and credentials come from AWS's own variables and files (AWS_ENDPOINT_URL_S3,
AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, …); `s3://bucket/prefix?addressing=path` asks for path-style requests.
`file:///folder`: a folder, for instance on a network disk.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from model_store.errors import InvalidRemote
from model_store.remote.base import Remote

_ADDRESSING = ("path", "virtual", "auto")


def open_remote(url: str) -> Remote:
    """The remote store at `url`; no request is sent yet. Raises InvalidRemote."""
    parts = urlsplit(url)
    if parts.scheme == "file" and not parts.query and not parts.netloc and parts.path.startswith("/"):
        from model_store.remote.folder import FolderRemote

        return FolderRemote(Path(unquote(parts.path)))
    if parts.scheme == "s3" and parts.netloc:
        from model_store.remote.s3 import S3Remote  # Imports botocore, which is slow and not needed for a folder.

        return S3Remote(parts.netloc, parts.path.strip("/"), _addressing(url, parts.query))
    raise InvalidRemote(f"'{url}' is no remote store: use s3://bucket/prefix or file:///folder.")


def _addressing(url: str, query: str) -> str | None:
    """The style of addressing in a query; None for the default of AWS's configuration files."""
    options = parse_qs(query, keep_blank_values=True)
    style = options.pop("addressing", [None])[0]
    if options or (style is not None and style not in _ADDRESSING):
        raise InvalidRemote(f"'{url}' asks for something unknown: only ?addressing={'|'.join(_ADDRESSING)} is known.")
    return style
