"""Process environment: reads the variables that are not settings, and sets those of child processes.

The only file that reads `os.environ`; pydantic-settings reads the rest for `settings`. Imports the standard library
only, for commands that must start fast.
"""

from __future__ import annotations

import os
from pathlib import Path

PREFIX = "GLEANER_"
METRICS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus-client's variable: the folder through which the processes of one service add up their metrics."""
HEARTBEAT_VARIABLE = f"{PREFIX}HEARTBEAT_PIPE"
"""Variable with the descriptor of an engine's heartbeat pipe; set by the process that starts the engine."""
BULK_KEY_VARIABLE = f"{PREFIX}BULK_KEY"
"""Variable with the API key of this service's bulk process; only the supervisor makes and sets it."""
ALLOCATOR_VARIABLE, GROWING_SEGMENTS = "PYTORCH_ALLOC_CONF", "expandable_segments:True"
"""torch's variable for its allocator, and its value unless the environment sets another."""
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8080
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Address of this machine for a service that listens on all of its addresses."""


def our_variables() -> list[str]:
    """List the variables with our prefix, except known ones that are no settings."""
    others = (HEARTBEAT_VARIABLE, BULK_KEY_VARIABLE, f"{PREFIX}PACE_TOKENS_PER_SECOND", f"{PREFIX}KEY")
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in others)


def probed_address() -> tuple[str, str]:
    """Read the host and port for probes from the settings, unvalidated: the internal port if there is one.

    There no crowd of clients waits before the probes.
    """
    internal = os.environ.get(f"{PREFIX}INTERNAL_PORT", "0")
    public = os.environ.get(f"{PREFIX}PORT") or str(DEFAULT_PORT)
    return bare(os.environ.get(f"{PREFIX}HOST") or DEFAULT_HOST), public if internal in ("", "0") else internal


def bare(host: str) -> str:
    """Remove the brackets that an IPv6 address has beside a port."""
    return host.removeprefix("[").removesuffix("]")


def address_of(host: str, port: int) -> str:
    """Join host and port; an IPv6 address gets brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def service_url(text: str) -> str:
    """Make a service's URL; an address such as `localhost:8080` gets a scheme."""
    return text if "://" in text else f"http://{text}"


def speaks_tls() -> bool:
    """True when the settings name a certificate."""
    return bool(os.environ.get(f"{PREFIX}TLS_CERTIFICATE"))


def traces_exporter() -> str | None:
    """Read the exporter of traces from OpenTelemetry's own variables; None unless one of them is set.

    By its specification `otlp` would be the default; here only a named exporter or endpoint turns tracing on.
    """
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    named = os.environ.get("OTEL_TRACES_EXPORTER", "").strip()
    endpoints = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    if not named and any(os.environ.get(name) for name in endpoints):
        named = "otlp"
    return None if named in ("", "none") else named.partition(",")[0].strip()


def heartbeat_pipe() -> int | None:
    """Read the pipe for this engine's heartbeats; None if nobody watches it."""
    descriptor = os.environ.get(HEARTBEAT_VARIABLE)
    return int(descriptor) if descriptor else None


def bulk_key() -> str | None:
    """Read the key of the bulk process for its own service; None where no keys are needed."""
    return os.environ.get(BULK_KEY_VARIABLE)


def throttled_tokens_per_second() -> float:
    """Read the speed to slow the device down to, for tests with slow devices; 0: not at all."""
    return float(os.environ.get(f"{PREFIX}PACE_TOKENS_PER_SECOND") or 0.0)


def keep_segments_fixed() -> None:
    """Keep torch's CUDA allocator of this process from growing its segments, if this service made it do so."""
    if os.environ.get(ALLOCATOR_VARIABLE) == GROWING_SEGMENTS:
        del os.environ[ALLOCATOR_VARIABLE]


def parser_environment() -> dict[str, str]:
    """Make the environment of the parsers' zygote: the way to Python and nothing else; no secret is ever passed on."""
    kept = ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    fixed = {"OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    return {**{name: os.environ[name] for name in kept if name in os.environ}, **fixed}


def child_environment(runtime_dir: Path, **settings: str) -> dict[str, str]:
    """Make the environment of a child process: this one's, the folder of sockets and metrics, and `settings` by name.

    OpenMP's threads spin for microseconds only before they sleep, unless told otherwise: long enough for the next
    operator of a small batch, too short to starve the API workers on the same cores. torch's CUDA allocator grows its
    segments instead of adding new ones, so that batches of ever different shapes do not fragment its memory (an engine
    leaves that out where NVML does not answer torch's question). Where triton happens to be installed, torch compiles
    nothing with it while requests wait. Where torch computes on a CPU, it keeps fewer kernels of shapes seen once.
    torch's folder for compiled code, made though nothing is compiled, is not shared with other users of the host.
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
    """Read the version of this distribution."""
    import importlib.metadata  # It takes 20 ms.

    return importlib.metadata.version("gleaner-service")
