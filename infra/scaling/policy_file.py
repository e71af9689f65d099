"""The policy file: what `gleaner simulate --tune` found, and what an environment's `policy_file` reads. Pure.

Flat JSON: the fields of a `Tuning`, the size of the warm pool, the limit on waiting, and `found`, for people: the
command and the figures that it was chosen by.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from infra.scaling.policy_values import Tuning

FORMAT = 1


class BadPolicyFile(ValueError):
    """A policy file lacks a value or has one that cannot be."""


@dataclass(frozen=True, slots=True)
class ChosenPolicy:
    """The values of a policy that are chosen by simulation.

    Attributes:
        warm_pool: stopped instances that wait.
        max_queue_ms: longest wait that is admitted; 0: no limit.
    """

    tuning: Tuning
    warm_pool: int
    max_queue_ms: int


def write_policy(chosen: ChosenPolicy, found: Mapping[str, object]) -> str:
    """The file's text."""
    values = {"format": FORMAT, **asdict(chosen.tuning), "warm_pool": chosen.warm_pool}
    return json.dumps({**values, "max_queue_ms": chosen.max_queue_ms, "found": dict(found)}, indent=1) + "\n"


def read_policy(text: str) -> ChosenPolicy:
    """The policy of a file.

    Raises:
        BadPolicyFile: names the value.
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadPolicyFile(f"the policy file is not JSON: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BadPolicyFile(f"this is not a policy file of format {FORMAT}")
    types = {each.name: type(each.default) for each in fields(Tuning)}
    # Files of before there was one have no target for the GPU.
    values = {name: _value({"gpu_target": 0, **found}, name, kind) for name, kind in types.items()}
    try:
        tuning = Tuning(**values)
    except ValueError as error:
        raise BadPolicyFile(f"the policy file: {error}") from error
    pool, wait = (_value(found, name, int) for name in ("warm_pool", "max_queue_ms"))
    return ChosenPolicy(tuning, pool, wait)


def _value(found: Mapping[str, Any], name: str, kind: Any) -> Any:
    value: Any = found.get(name)
    is_number = isinstance(value, (int, float)) and math.isfinite(value) and value >= 0
    if not is_number or isinstance(value, bool) != (kind is bool) or kind(value) != value:
        raise BadPolicyFile(f"the policy file's `{name}` is {value!r}")
    return kind(value)
