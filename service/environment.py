"""The environment of processes: the variables that the service sets for its children, and the address it listens on.

The only file that reads `os.environ`; pydantic-settings reads the rest for `settings`. Imports the standard library
alone, for commands that must start fast.
"""

from __future__ import annotations

import os
from pathlib import Path

PREFIX = "GLEANER_"
METRICS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus-client's own variable: the folder through which the processes of one service add up their metrics."""
HEARTBEAT_VARIABLE = f"{PREFIX}HEARTBEAT_PIPE"
"""The descriptor of the pipe that an engine's heartbeats go to; set by the process that starts it."""
BULK_KEY_VARIABLE = f"{PREFIX}BULK_KEY"
"""The API key of this service's bulk process; made and set by the supervisor alone."""
ALLOCATOR_VARIABLE, GROWING_SEGMENTS = "PYTORCH_ALLOC_CONF", "expandable_segments:True"
"""torch's own variable, and what it is set to unless the environment says otherwise."""
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8080
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""An address of this machine where the service listens on all of them."""


def our_variables() -> list[str]:
    """The names of the variables with our prefix, without those that are no settings and known all the same."""
    others = (HEARTBEAT_VARIABLE, BULK_KEY_VARIABLE, f"{PREFIX}PACE_TOKENS_PER_SECOND", f"{PREFIX}KEY")
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in others)


def probed_address() -> tuple[str, str]:
    """The host and the port that the settings name for probes, not validated: the internal port if there is one.

    There no crowd of clients waits to be accepted before them.
    """
    internal = os.environ.get(f"{PREFIX}INTERNAL_PORT", "0")
    public = os.environ.get(f"{PREFIX}PORT") or str(DEFAULT_PORT)
    return bare(os.environ.get(f"{PREFIX}HOST") or DEFAULT_HOST), public if internal in ("", "0") else internal


def bare(host: str) -> str:
    """An address without the brackets that IPv6 has beside a port."""
    return host.removeprefix("[").removesuffix("]")


def address_of(host: str, port: int) -> str:
    """Host and port in one string, an address of IPv6 in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def service_url(text: str) -> str:
    """A service's URL, with the scheme that an address such as `localhost:8080` lacks."""
    return text if "://" in text else f"http://{text}"


def speaks_tls() -> bool:
    """True when the settings name a certificate."""
    return bool(os.environ.get(f"{PREFIX}TLS_CERTIFICATE"))


def traces_exporter() -> str | None:
    """The exporter that OpenTelemetry's own variables name for traces; None unless one of them is set.

    By its specification `otlp` would be the default; here naming an exporter or where it sends to is what turns it on.
    """
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    named = os.environ.get("OTEL_TRACES_EXPORTER", "").strip()
    endpoints = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    if not named and any(os.environ.get(name) for name in endpoints):
        named = "otlp"
    return None if named in ("", "none") else named.partition(",")[0].strip()


def heartbeat_pipe() -> int | None:
    """The pipe that heartbeats of this engine go to; None if nobody watches it."""
    descriptor = os.environ.get(HEARTBEAT_VARIABLE)
    return int(descriptor) if descriptor else None


def bulk_key() -> str | None:
    """The key with which the bulk process asks its own service; None where no keys are needed."""
    return os.environ.get(BULK_KEY_VARIABLE)


def throttled_tokens_per_second() -> float:
    """The speed that the device is slowed down to, for tests with slow devices; 0: it is not."""
    return float(os.environ.get(f"{PREFIX}PACE_TOKENS_PER_SECOND") or 0.0)


def keep_segments_fixed() -> None:
    """Have torch's CUDA allocator of this process not grow its segments, if it was this service that said so."""
    if os.environ.get(ALLOCATOR_VARIABLE) == GROWING_SEGMENTS:
        del os.environ[ALLOCATOR_VARIABLE]


def parser_environment() -> dict[str, str]:
    """The environment of the parsers' zygote: how Python is found, and nothing else; no secret is ever passed on."""
    kept = ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    fixed = {"OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    return {**{name: os.environ[name] for name in kept if name in os.environ}, **fixed}


def child_environment(runtime_dir: Path, **settings: str) -> dict[str, str]:
    """The environment of a child process: this one's, the folder of sockets and metrics, and `settings` by name.

    OpenMP's threads spin for microseconds only before they sleep, unless told otherwise: long enough for the next
    operator of a small batch, too short to starve the API workers on the same cores. torch's CUDA allocator grows its
    segments instead of adding new ones, so that batches of ever different shapes do not fragment its memory (an engine
    leaves that out where NVML does not answer what torch asks then), and where triton happens to be installed torch
    compiles nothing with it while requests wait; on CPUs
    torch keeps fewer kernels of shapes that were seen once (oneDNN keeps its own, which are those that take time). Its
    folder for compiled code, which it makes though nothing is compiled, is none that other users of the host share.
    """
    ours = {
        f"{PREFIX}RUNTIME_DIR": str(runtime_dir),
        METRICS_VARIABLE: str(runtime_dir / "metrics"),
        "TORCHINDUCTOR_CACHE_DIR": str(runtime_dir / "compiled"),
    }
    defaults = {
        "GOMP_SPINCOUNT": "5000",
        "LRU_CACHE_CAPACITY": "16",
        ALLOCATOR_VARIABLE: GROWING_SEGMENTS,
        "TORCH_DISABLE_NATIVE_JIT": "1",
    }
    fixed = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    named = {PREFIX + name: value for name, value in settings.items()}
    return {**defaults, **os.environ, **fixed, **ours, **named}


def distribution_version() -> str:
    """The version of this distribution, as `pyproject.toml` has it."""
    import importlib.metadata  # It takes 20 ms.

    return importlib.metadata.version("gleaner-service")
