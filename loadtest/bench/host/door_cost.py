"""What closed doors, open doors and traces cost an /extract that uses none of them: documents a second, side by side.

All services run at once and are asked in turn, each round begun by another one, so that what the machine does meanwhile
meets all alike. The device answers at once (`host_cost`) and each request has one document, so that what is paid for a
request shows most. The second service is the first one again: what lies between these two is what cannot be measured.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from loadtest.bench.host.host_cost import SEED, TEXTS, WORDS, ReplayingService, replaying_service, spent_by_part
from loadtest.bench.host.span_sink import span_sink
from loadtest.workload.prose import paragraph

ROUNDS = 12
SIZE, CLIENTS = 1, 48
OPEN = "huggingface,sagemaker,oip,comprehend,presidio,mcp"
NO_DOORS = "none"
DEFAULT = None
"""The setting is not made."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One service of the comparison, and what its rounds gave."""

    name: str
    doors: str | None
    traced: bool = False
    rates: list[float] = field(default_factory=list)
    """Documents a second, by round."""
    costs: list[float] = field(default_factory=list)
    """Milliseconds of processors for a document, by round."""

    def settings(self) -> dict[str, object]:
        """The service's own."""
        return {} if self.doors is None else {"DOORS": self.doors}

    def variables(self, sink: str) -> dict[str, str]:
        """OpenTelemetry's."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": sink} if self.traced else {}

    def ask(self, service: ReplayingService, texts: Sequence[str]) -> None:
        """One round."""
        begun = time.monotonic()
        parts, asked = spent_by_part(service, texts, SIZE, CLIENTS)
        self.rates.append(asked.documents / (time.monotonic() - begun))
        self.costs.append(sum(parts.values()))


def measure(home: Path) -> None:
    """Print documents a second and their cost, each beside the first service's of the same round."""
    draw = Random(SEED)
    texts = [paragraph(WORDS, draw) for _ in range(TEXTS)]
    variants = (
        Variant("all doors closed, no traces", NO_DOORS),
        Variant("the same again", NO_DOORS),
        Variant("doors as by default", DEFAULT),
        Variant("all doors open", OPEN),
        Variant("doors as by default, every request traced (OTLP)", DEFAULT, traced=True),
    )
    with ExitStack() as stack:
        sink = stack.enter_context(span_sink())
        services = [
            stack.enter_context(
                replaying_service(home, "documents", 0, each.variables(sink), name=f"door{number}", **each.settings())
            )
            for number, each in enumerate(variants)
        ]
        for service in services:
            spent_by_part(service, texts, SIZE, CLIENTS)
        pairs = list(zip(variants, services, strict=True))
        for number in range(ROUNDS):
            first = number % len(pairs)
            for variant, service in (*pairs[first:], *pairs[:first]):
                variant.ask(service, texts)
    print(f"\n## Doors and traces, /extract with one document a request, {ROUNDS} rounds side by side\n")
    heads = ("service", "documents/s", "least to most", "beside the first", "its middle half", "host ms a document")
    print(f"| {' | '.join(heads)} | beside the first |")
    print("|---|---|---|---|---|---|---|")
    for each in variants:
        print(_row(each, variants[0]), flush=True)


def _row(variant: Variant, first: Variant) -> str:
    rates, costs = _changes(variant.rates, first.rates), _changes(variant.costs, first.costs)
    low, middle, high = statistics.quantiles(rates, n=4)
    return (
        f"| {variant.name} | {statistics.median(variant.rates):,.0f} | {min(variant.rates):,.0f} to "
        f"{max(variant.rates):,.0f} | {middle:+.1%} | {low:+.1%} to {high:+.1%} | "
        f"{statistics.median(variant.costs):.3f} | {statistics.median(costs):+.1%} |"
    )


def _changes(values: Sequence[float], beside: Sequence[float]) -> list[float]:
    """By round, how much one differs from the other, as a share."""
    return [a / b - 1 for a, b in zip(values, beside, strict=True)]
