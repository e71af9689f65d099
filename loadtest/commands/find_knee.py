"""`gleaner loadtest --find-knee`: the highest rate whose p99 holds the service level, written to capacity.json."""

from __future__ import annotations

import argparse

import msgspec

from loadtest.commands.run import chosen_scenario, result_folder
from loadtest.knee.capacity_file import MeasuredCapacity
from loadtest.knee.finder import KneeFinder
from loadtest.runner.target_service import open_target
from loadtest.terminal import log

TRIAL_SECONDS = 15.0


def run(chosen: argparse.Namespace) -> None:
    """Find the knee, write capacity.json, and print it."""
    scenario, folder = chosen_scenario(chosen), result_folder(chosen)
    with open_target(scenario, chosen.url, chosen.key) as target:
        seconds = chosen.seconds or TRIAL_SECONDS
        capacity = KneeFinder(scenario, target, scenario.slo_ms, seconds, log, chosen.untrusted).run()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "capacity.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(capacity), indent=1) + b"\n")
    for line in lines(capacity):
        print(line)
    print(f"written: {path}")


def lines(capacity: MeasuredCapacity) -> list[str]:
    """The capacity in words."""
    rates = f"{capacity.documents_per_second:.1f} documents a second, {capacity.tokens_per_second:,.0f} tokens a second"
    latency = f"p50 {capacity.p50_ms:.0f} ms, p99 {capacity.p99_ms:.0f} ms"
    full = (
        f"{capacity.saturated_documents_per_second:.1f} documents, {capacity.saturated_tokens_per_second:,.0f} tokens"
    )
    found = [
        f"capacity at a p99 of {capacity.slo_ms:g} ms: {rates} ({latency})",
        f"at full load: {full} a second",
    ]
    fit = capacity.service_time
    if fit is not None:
        batch = f"{fit.base_seconds * 1000:.2f} ms + {fit.seconds_per_token * 1e6:.1f} µs × tokens"
        found.append(f"a batch takes S(tokens) = {batch} (from {fit.source}, typical error {fit.typical_error:.0%})")
    return [*found, *(f"  {each.name} = {each.value:g}: {each.reason}" for each in capacity.recommended)]
