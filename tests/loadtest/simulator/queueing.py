"""Queueing theory, exact: M/M/c, M/D/c, a batch server, and one queue under a step. Pure; sources stand at each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from loadtest.simulator.demand import Floats

MOST_STATES = 4_000
ENOUGH = 1e-14


@dataclass(frozen=True, slots=True)
class Exact:
    """Means of a system in its steady state.

    Attributes:
        wait_seconds: before service. seconds: until the end of it.
        number: of those in the system.
        busy: share of the time in which the server works; of several servers, of each.
    """

    wait_seconds: float
    seconds: float
    number: float
    busy: float


def erlang_c(rate: float, service_seconds: float, servers: int) -> float:
    """The probability that who comes has to wait (Erlang, 1917), by the recursion of Erlang B, which is stable."""
    offered, blocked = rate * service_seconds, 1.0
    for each in range(1, servers + 1):
        blocked = offered * blocked / (each + offered * blocked)
    load = offered / servers
    return blocked / (1 - load * (1 - blocked))


def m_m_c(rate: float, service_seconds: float, servers: int) -> Exact:
    """Exponential service."""
    load = rate * service_seconds / servers
    wait = erlang_c(rate, service_seconds, servers) * service_seconds / (servers * (1 - load))
    return Exact(wait, wait + service_seconds, rate * (wait + service_seconds), load)


def m_d_c(rate: float, service_seconds: float, servers: int) -> Exact:
    """Constant service (Crommelin, 1932): who is here a service later came meanwhile, or was in the queue before.

    The chain of the number present, seen every `service_seconds`, has the distribution of any time.
    """
    came = _poisson(rate * service_seconds)
    p = _fixed_point(came, servers)
    present = np.arange(len(p))
    waiting = float((np.maximum(present - servers, 0) * p).sum())
    number = float((present * p).sum())
    return Exact(waiting / rate, number / rate, number, rate * service_seconds / servers)


def batch_server(rate: float, base_seconds: float, each_seconds: float, most: int) -> Exact:
    """S(b) = base + b × each, b = what waits, at most `most`: the chain of what is left behind at a batch's end.

    Mean number by Markov renewal: over a cycle, what is there is what stayed and what came since.
    """
    seconds = base_seconds + each_seconds * np.arange(most + 1)
    came = [_poisson(rate * float(each)) for each in seconds]
    size = max(len(each) for each in came) + 8 * most
    left = np.zeros(size)
    left[0] = 1.0
    for _ in range(MOST_STATES):
        following = np.zeros(size)
        for waits in np.flatnonzero(left > ENOUGH).tolist():
            taken = min(max(waits, 1), most)
            stays = max(waits - taken, 0)
            kernel = came[taken][: size - stays]
            following[stays : stays + len(kernel)] += left[waits] * kernel
        following /= following.sum()
        if np.abs(following - left).sum() < 1e-12:
            break
        left = following
    there = np.arange(size)
    batch = np.minimum(np.maximum(there, 1), most)
    served = seconds[batch]
    idle = float(left[0]) / rate
    cycle = float((left * served).sum()) + idle
    present = np.maximum(there, 1) * served + rate * served * served / 2
    number = float((left * present).sum()) / cycle
    busy = 1 - idle / cycle
    wait = number / rate - float((left * batch * served).sum() / (left * batch).sum())
    return Exact(wait, number / rate, number, busy)


def recovery_seconds(load: float, growth: float, delay_seconds: float, capacity: float) -> float:
    """From a step until its queue is gone, in a fluid: one queue, more servers after the delay.

    Args:
        load: of the capacity before the step; `growth`: the step. `capacity`: afterwards, over that before.
    """
    grows, shrinks = max(load * growth - 1, 0.0), capacity - load * growth
    return delay_seconds * (1 + grows / shrinks) if grows else 0.0


def _poisson(mean: float) -> Floats:
    number = np.arange(int(mean + 12 * math.sqrt(mean) + 30))
    logs = number * math.log(mean) - mean - np.array([math.lgamma(each + 1) for each in number])
    found: Floats = np.exp(logs)
    return found


def _fixed_point(came: Floats, servers: int) -> Floats:
    """The distribution that stays: whoever is beyond the servers stays, all else is served, and `came` comes."""
    p = np.zeros(len(came) + 40 * servers + 400)
    p[0] = 1.0
    for _ in range(MOST_STATES):
        stays = np.concatenate([[p[: servers + 1].sum()], p[servers + 1 :]])
        following = np.convolve(stays, came)[: len(p)]
        following /= following.sum()
        if np.abs(following - p).sum() < 1e-13:
            break
        p = following
    return p
