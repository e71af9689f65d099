"""Recorded demands: traces of `t_s,count` in a folder that the user gives, as large as a service of 400 a second."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from loadtest.errors import BadInput
from loadtest.simulator.demand import DAY, Demand, read_demand

RATE = 400.0


@dataclass(frozen=True, slots=True)
class Trace:
    """One file. `sudden`: its peaks come faster than instances start. `days`: how much of it is taken."""

    name: str
    file: str
    sudden: bool
    days: float | None = None


DIURNAL = Trace("diurnal", "diurnal_14d_1min.csv", False)
SPIKES = Trace("spikes", "spikes_7d_1min.csv", True)
FUNCTIONS = Trace("functions", "azure_functions_2019_all1000_1min.csv", True)
BALANCER = Trace("balancer", "nab_aws_elb_2014_5min.csv", True, 7.0)
CHAT = Trace("chat", "azure_llm_conv_2023_1s.csv", False)
CODE = Trace("code", "azure_llm_code_2023_1s.csv", True)
TRACES = (DIURNAL, SPIKES, FUNCTIONS, BALANCER, CHAT, CODE)


@lru_cache(maxsize=2)
def demand_of(folder: Path, trace: Trace, seed: int) -> Demand:
    """The trace with arrivals drawn for this seed.

    Raises:
        BadInput: the folder lacks the file, or it cannot be read.
    """
    path = folder / trace.file
    if not path.is_file():
        raise BadInput(f"{folder} has no {trace.file}")
    demand = read_demand(path, 400.0, seed, RATE)
    return Demand(trace.name, demand.counts, demand.lengths).first(round((trace.days or 1_000) * DAY))
