"""A download by boto3's transfer manager: `python -m loadtest.bench.store.boto3_peer BUCKET PREFIX FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

import boto3
from s3transfer.manager import TransferManager


def download(bucket: str, prefix: str, folder: Path) -> None:
    """Download every object below the prefix into a folder, all by one manager with its defaults."""
    client = boto3.client("s3")
    found = client.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]
    with TransferManager(client) as manager:
        futures = [manager.download(bucket, item["Key"], str(folder / Path(item["Key"]).name)) for item in found]
        for future in futures:
            future.result()


if __name__ == "__main__":
    Path(sys.argv[3]).mkdir(parents=True)
    download(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
