"""An S3 server on loopback: OpenStack Swift with its S3 API, one node, a fresh folder, ports chosen by the system.

It checks signatures and digests, has multipart uploads, ranges, `If-Match` on GET and `If-None-Match: *` on PUT, which
it does not check atomically (see fault_proxy). Swift is installed in a virtual environment of its own (`make storage`),
because its dependencies conflict with the project's.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtest.service_process import KeptPort

PROGRAMS = Path(sys.prefix) / "s3-server" / "bin"
PARTS = ("account", "container", "object", "proxy")
START_SECONDS = 180.0
USER, KEY, REGION = "test:tester", "testing", "us-east-1"
BUCKET = "models"
REMOTE = f"s3://{BUCKET}/store?addressing=path"
"""The remote store in a `bucket_server`."""


@dataclass(frozen=True, slots=True)
class S3Server:
    """The server's address, and AWS's environment variables for its clients."""

    port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def environment(self, endpoint: str | None = None) -> dict[str, str]:
        """AWS's variables for this server, or for a proxy at `endpoint`."""
        return {
            "AWS_ENDPOINT_URL_S3": endpoint or self.endpoint,
            "AWS_ACCESS_KEY_ID": USER,
            "AWS_SECRET_ACCESS_KEY": KEY,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }


@contextmanager
def s3_server(folder: Path, *, proxy_workers: int = 0) -> Iterator[S3Server]:
    """A running server with its objects in `folder`; it is killed with the context or with this process."""
    if not (PROGRAMS / "swift-proxy-server").exists():
        raise RuntimeError(f"There is no S3 server in {PROGRAMS}; `make storage` installs it.")
    kept = {part: KeptPort() for part in PARTS}
    ports = {part: port.number for part, port in kept.items()}
    _configure(folder, ports, proxy_workers)
    with ExitStack() as stack:
        for part in PARTS:
            stack.callback(_stop, _start(part, folder))
        server = S3Server(ports["proxy"])
        _wait(server, folder)
        yield server


@contextmanager
def bucket_server(home: Path) -> Iterator[S3Server]:
    """A running server with an empty bucket, which a remote store expects to exist."""
    with s3_server(home / f"s3-{time.monotonic_ns()}", proxy_workers=2) as server:
        code = f"import boto3; boto3.client('s3').create_bucket(Bucket={BUCKET!r})"
        subprocess.run([sys.executable, "-c", code], env={**os.environ, **server.environment()}, check=True)
        yield server


def _configure(folder: Path, ports: Mapping[str, int], proxy_workers: int) -> None:
    etc = folder / "etc"
    etc.mkdir(parents=True)
    (folder / "devices" / "d1").mkdir(parents=True)
    (etc / "swift.conf").write_text(
        "[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n"
        "[storage-policy:0]\nname = gold\ndefault = yes\n"
    )
    for part in PARTS[:-1]:
        text = _common(folder, ports[part], 0) + f"[pipeline:main]\npipeline = {part}-server\n"
        text += f"[app:{part}-server]\nuse = egg:swift#{part}\n[{part}-replicator]\n[object-expirer]\n"
        (etc / f"{part}-server.conf").write_text(text)
    _make_rings(etc, ports)
    (etc / "proxy-server.conf").write_text(_common(folder, ports["proxy"], proxy_workers) + _PIPELINE)


def _common(folder: Path, port: int, workers: int) -> str:
    user = os.environ.get("USER") or "root"
    return (
        f"[DEFAULT]\nswift_dir = {folder}/etc\ndevices = {folder}/devices\nmount_check = false\nbind_ip = 127.0.0.1\n"
        f"bind_port = {port}\nworkers = {workers}\nuser = {user}\nlog_address = /dev/null\nlog_level = WARNING\n"
        "disable_fallocate = true\nfallocate_reserve = 0\nmax_header_size = 32768\n"
        "container_update_timeout = 60\nnode_timeout = 60\nconn_timeout = 10\n"
    )


def _make_rings(etc: Path, ports: Mapping[str, int]) -> None:
    """Make all rings in one process: `swift-ring-builder` would import Swift nine times, once for each command."""
    rings = [f"{etc / part}.ring.gz={ports[part]}" for part in PARTS[:-1]]
    subprocess.run([str(PROGRAMS / "python"), "-c", _RINGS, *rings], check=True, capture_output=True)


def _start(part: str, folder: Path) -> subprocess.Popen[bytes]:
    command = [str(PROGRAMS / "python"), str(PROGRAMS / f"swift-{part}-server"), f"{folder}/etc/{part}-server.conf"]
    with (folder / f"{part}.log").open("wb") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=_die_with_parent
        )


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(server: S3Server, folder: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{server.endpoint}/healthcheck", timeout=2.0) as answer:
                if answer.read() == b"OK":
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    logs = "\n".join((folder / f"{part}.log").read_text()[-1000:] for part in PARTS)
    raise RuntimeError(f"The S3 server did not start within {START_SECONDS:.0f} s:\n{logs}")


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


_RINGS = """
import sys
from swift.common.ring import RingBuilder
for ring in sys.argv[1:]:
    path, _, port = ring.rpartition("=")
    builder = RingBuilder(4, 1, 0)
    address = {"ip": "127.0.0.1", "port": int(port), "replication_ip": "127.0.0.1", "replication_port": int(port)}
    builder.add_dev({"region": 1, "zone": 1, "device": "d1", "weight": 1.0, "meta": "", **address})
    builder.rebalance()
    builder.get_ring().save(path)
"""

_PIPELINE = """
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats s3api tempauth copy bulk slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9
error_suppression_limit = 1
connect_timeout = 0.05
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
check_bucket_owner = false
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""
