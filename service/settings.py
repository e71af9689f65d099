"""Settings of the service: reads them once from environment variables (prefix GLEANER_) and validates them.

With a bad value the service refuses to start and names it. `make docs` writes SETTINGS.md from this class.
"""

from __future__ import annotations

from difflib import get_close_matches
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from service.core.errors import GleanerError
from service.environment import DEFAULT_HOST, DEFAULT_PORT, PREFIX, bare, our_variables
from service.host_memory import usable_cores
from service.signals.routes import ADAPTERS


class BadSettings(GleanerError):
    """One or more settings have bad values."""

    code = "bad_settings"
    title = "A setting has a bad value"


class Settings(BaseSettings):
    """All settings, with defaults that suit a laptop."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True, populate_by_name=True, loc_by_alias=False
    )

    host: str = Field(DEFAULT_HOST, description="address to listen on")
    port: int = Field(DEFAULT_PORT, ge=0, le=65535, description="port to listen on")
    internal_port: int = Field(
        0,
        ge=0,
        le=65535,
        description="port for /metrics, /models, /docs, which the other then hides; 0: one for all",
    )
    tls_certificate: Path | None = Field(None, description="PEM file of a certificate with its chain; none: plain HTTP")
    tls_key: Path | None = Field(None, description="PEM file of its private key, not encrypted")
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="comma-separated addresses or networks of balancers whose X-Forwarded-For is believed"
    )
    workers: int = Field(
        0,
        ge=0,
        le=64,
        description="front workers; 0: one for each two cores, at most 8; with DEVICE=cuda all but one, at most 16",
    )
    parsers: int = Field(2, ge=1, le=64, description="parser processes of each front worker, for files")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="where the model runs; auto: CUDA if there")
    gpu_watch: str = Field("auto", description="GPU that NVML watches: an index, a UUID, none; auto: the one in use")
    dtype: Literal["auto", "float32", "bfloat16", "float16", "int8"] = Field(
        "auto",
        description="precision; auto: bfloat16 where the device is fast at it; int8: faster on CPUs with VNNI",
    )
    threads: int = Field(0, ge=0, le=256, description="CPU threads of the model; 0: one for each core, on a GPU one")
    models: Annotated[tuple[str, ...], NoDecode] = Field(
        ("documents",), description="comma-separated `name`, `name@tag` or `name@sha256:…`"
    )
    model_weights: Annotated[dict[str, float], NoDecode] = Field(
        {}, description="comma-separated `name=weight`: shares of device and queue; 1 where none is given"
    )
    canary_percent: float = Field(
        0.0,
        ge=0,
        le=100,
        allow_inf_nan=False,
        description="share of the requests without a tag that a model's tag `candidate` answers, if it is served",
    )
    model_rate_limits: Annotated[dict[str, float], NoDecode] = Field(
        {}, description="comma-separated `name=tokens`: most tokens a second of a model; no limit where none is given"
    )
    model_memory_bytes: int = Field(
        0, ge=0, description="most bytes of weights on the device; 0: 3/4 of a GPU's free memory, no limit on a CPU"
    )
    model_store: Path = Field(Path("~/.cache/gleaner/models"), description="local folder of published models")
    model_remote: str = Field(
        "",
        pattern="^($|s3://|file:///)",
        description="where models are pulled from: `s3://bucket/prefix` or `file:///folder`",
    )
    model_baked: Annotated[tuple[Path, ...], NoDecode] = Field(
        (), description="comma-separated folders, e.g. in the image, whose files are copied rather than fetched"
    )
    model_poll_seconds: float = Field(30.0, ge=0, description="how often tags are looked at; 0: only at the start")
    batch_tokens: int = Field(
        0,
        ge=0,
        description="most tokens of one batch; 0: 1,024 on a CPU; on a GPU timed at the start"
        " (`gleaner_budget_tokens`), at most 65,536",
    )
    memory_fraction: float = Field(
        0.9, gt=0, le=1, allow_inf_nan=False, description="share of the device's free memory that batches may take"
    )
    memory_limit_bytes: int = Field(
        0, ge=0, description="most memory of the engine, weights included; 0: what the device or the container has"
    )
    window_tokens: int = Field(512, ge=16, description="longest window with its special tokens, if the model takes it")
    queue_limit_tokens: int = Field(2_000_000, ge=1, description="most tokens that may wait")
    max_queue_ms: int = Field(
        0,
        ge=0,
        description="a document that would wait for longer before its parser, or before its first batch, is refused"
        " (`gleaner_refusals`); its own length does not count; 0: only its deadline limits it",
    )
    max_document_bytes: int = Field(
        64 * 1024 * 1024, ge=1, description="largest file or text; four times as much for a request's whole body"
    )
    max_document_pages: int = Field(5_000, ge=1, description="most pages of a document")
    max_document_tokens: int = Field(
        5_000_000, ge=1, description="most tokens of a document, and a quarter of the characters of its text"
    )
    parse_seconds: float = Field(60.0, gt=0, description="most processor time that parsing one file may take")
    parse_memory_bytes: int = Field(2 * 1024**3, ge=2**28, description="most memory that one parser may take")
    ocr: Literal["auto", "off"] = Field(
        "auto", description="recognize text in pictures and scanned pages; auto: if the extra `ocr` is installed"
    )
    ocr_folder: Path | None = Field(
        None,
        description="weights of OCR: detection.onnx and recognition.onnx, of PP-OCR's kind, such as one for Cyrillic;"
        " none: built-in",
    )
    max_ocr_pages: int = Field(200, ge=1, description="most pages or pictures of one document whose text is recognized")
    parser_sandbox: Literal["auto", "require", "off"] = Field(
        "auto",
        description="parsers without files, network and other processes; auto: as far as the kernel allows"
        " (`gleaner_parser_sandbox`); require: refuse to start without; off: only limits of processor and memory",
    )
    parser_files: int = Field(
        64,
        ge=1,
        description="most files that one parser reads, all of one API key, or of one address where none is needed;"
        " 1: each file has a parser of its own",
    )
    deadline_ms: int = Field(300_000, ge=1, description="deadline of a request that names none")
    adapters: Annotated[tuple[str, ...], NoDecode] = Field(
        ("huggingface", "sagemaker", "oip", "gliner", "gliner2"),
        description="comma-separated protocols of other clients that are served beside /extract: huggingface,"
        " sagemaker, oip, gliner, gliner2, comprehend, presidio, mcp; `none`: none",
    )
    drain_grace_seconds: float = Field(1.0, ge=0, description="after SIGTERM, not ready but still admitting")
    drain_seconds: float = Field(60.0, ge=0, description="after that, longest wait for what was admitted")
    api_keys_file: Path | None = Field(
        None, description="lines of `client sha256-of-its-key limit=…`, see `gleaner keys`; none: no keys needed"
    )
    engine_silence_seconds: float = Field(
        20.0,
        ge=0,
        allow_inf_nan=False,
        description="an engine that is silent for longer is killed and replaced; 0: never",
    )
    api_keys: str = Field("", repr=False, description="those lines themselves, for secrets that come as variables")
    redact_key: str = Field(
        "",
        repr=False,
        description="secret for the hashes of `/redact`, of 16 characters or more; the same for a whole fleet;"
        " none: no hashes",
    )
    console: Literal["auto", "on", "off"] = Field(
        "auto",
        description="the page at /; auto: open on a loopback address without keys, otherwise it asks for a key;"
        " on: open to all who need no key; off: not there",
    )
    keep_alive_seconds: int = Field(
        75, ge=1, description="idle connections stay open; longer than a balancer's time-out"
    )
    max_connections: int = Field(
        4_096, ge=16, description="most connections of a front worker, fewer where it may not open so many files"
    )
    cloudwatch_namespace: str | None = Field(
        None, pattern=r"^[0-9A-Za-z_.\-/#:]{1,255}$", description="publish to this namespace of CloudWatch; none: never"
    )
    cloudwatch_service: str = Field(
        "gleaner", min_length=1, max_length=255, description="the fleet's name there, value of the dimension `Service`"
    )
    bulk_queue: str = Field("", pattern="^($|https?://)", description="URL of the SQS queue of bulk jobs; none: none")
    bulk_events: str = Field("", pattern="^($|s3://)", description="output of the bulk job that S3's events are for")
    bulk_tasks: int = Field(0, ge=0, description="most tasks that a bulk job's deadline asks for; 0: idle time alone")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        "INFO", description="least level that is logged, on stderr: as text on a terminal, else as JSON"
    )
    runtime_dir: Path | None = Field(
        None, description="folder for sockets and metrics; none: a fresh one in memory, else temporary"
    )

    @field_validator("model_weights", "model_rate_limits", mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = [part.partition("=") for part in value.split(",") if part.strip()]
        return {name.strip(): number.strip() for name, _, number in pairs}

    @field_validator("model_weights", "model_rate_limits")
    @classmethod
    def _positive(cls, value: dict[str, float]) -> dict[str, float]:
        for name, number in value.items():
            if not 0 < number < float("inf"):
                raise ValueError(f"{name}: must be a number above 0")
        return value

    @field_validator("models", "model_baked", "trusted_proxies", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("adapters", mode="before")
    @classmethod
    def _named_adapters(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        names = tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))
        return () if names == ("none",) else names

    @field_validator("adapters")
    @classmethod
    def _known_adapters(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if strange := sorted({*value} - {*ADAPTERS}):
            raise ValueError(f"there is no adapter {strange[0]!r}; there are {', '.join(ADAPTERS)}")
        return value

    @field_validator("models")
    @classmethod
    def _some(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise ValueError("at least one model is needed")
        return value

    @field_validator("redact_key")
    @classmethod
    def _not_guessed(cls, value: str) -> str:
        if 0 < len(value) < 16:
            raise ValueError("at least 16 characters")
        return value

    @field_validator("internal_port")
    @classmethod
    def _another_port(cls, value: int, info: ValidationInfo) -> int:
        if value and value == info.data.get("port"):
            raise ValueError("must be another one than GLEANER_PORT")
        return value

    @field_validator("tls_key")
    @classmethod
    def _with_its_certificate(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        if (value is None) != (info.data.get("tls_certificate") is None):
            raise ValueError("certificate and key are given together")
        return value

    @field_validator("host")
    @classmethod
    def _without_brackets(cls, value: str) -> str:
        return bare(value)

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(ip_network(each)) if "/" in each else str(ip_address(each)) for each in value)

    @field_validator("cloudwatch_namespace")
    @classmethod
    def _not_of_aws(cls, value: str | None) -> str | None:
        if value is not None and value.startswith("AWS/"):
            raise ValueError("AWS keeps namespaces that begin with AWS/ to itself")
        return value

    @field_validator("model_store")
    @classmethod
    def _home(cls, value: Path) -> Path:
        return value.expanduser()

    @property
    def front_workers(self) -> int:
        """Front workers: `workers`, or as many as leave the engine the cores that it needs."""
        cores = usable_cores()
        by_cores = min(16, cores - 1) if self.device == "cuda" else min(8, cores // 2)
        return self.workers or max(1, by_cores)

    @property
    def max_document_characters(self) -> int:
        """Most characters of a document's text: four for each token, about the length of a word piece."""
        return 4 * self.max_document_tokens

    @property
    def max_request_bytes(self) -> int:
        """Most bytes of a request's body: four of the largest documents."""
        return 4 * self.max_document_bytes

    @property
    def max_held_bytes(self) -> int:
        """Most bytes of unfinished bodies and unread answers that a worker holds: one and a half bodies."""
        return 3 * self.max_request_bytes // 2

    @property
    def overlap_tokens(self) -> int:
        """The tokens that neighbouring windows share: 128, or a quarter of a window shorter than 512."""
        return min(128, self.window_tokens // 4)

    @property
    def wait_limit_seconds(self) -> float:
        """`max_queue_ms` in seconds; infinite without a limit."""
        return self.max_queue_ms / 1000 if self.max_queue_ms else float("inf")

    @property
    def sockets(self) -> Path:
        """The folder of this service's sockets and metrics."""
        assert self.runtime_dir is not None, "the supervisor sets it before it starts any process"
        return self.runtime_dir

    @property
    def engine_address(self) -> str:
        """The ZeroMQ address on which the engine listens for its workers."""
        return f"ipc://{self.sockets}/engine"


def unknown_settings() -> dict[str, str]:
    """Map the variables with our prefix that are no setting to sentences that name the nearest setting.

    They are ignored: misspelt, or of another version.
    """
    known = [f"{PREFIX}{name.upper()}" for name in Settings.model_fields]
    said = {}
    for name in our_variables():
        if name not in known:
            like = get_close_matches(name, known, n=1, cutoff=0.75)
            said[name] = f"{name} is no setting and is ignored{f'; did you mean {like[0]}?' if like else ''}"
    return said


def read_settings(**instead: Any) -> Settings:
    """Read the settings of this process; `instead` holds values that replace the environment's.

    Raises:
        BadSettings: one or more bad values; names each with its reason.
    """
    try:
        return Settings(**instead)
    except ValidationError as error:
        lines = (f"{PREFIX}{str(e['loc'][0]).upper()}={e['input']!r}: {e['msg']}" for e in error.errors())
        raise BadSettings("; ".join(lines)) from error
