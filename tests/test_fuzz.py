"""A few hundred inputs of what `make fuzz` sends by the hundred thousand, with another seed each day."""

from __future__ import annotations

import os
import signal
import time
from random import Random
from typing import get_args

import pytest

from service.wire import Message, unpack
from tests.support.fuzz.body_target import BodyTarget
from tests.support.fuzz.campaign import Target, input_of, run_campaign
from tests.support.fuzz.file_target import file_targets
from tests.support.fuzz.reading_target import ReadingTarget
from tests.support.fuzz.wire import MessageTarget, honest

TARGETS: list[Target] = [*file_targets(), BodyTarget(), MessageTarget(), ReadingTarget()]
INPUTS = 300
DAY_SECONDS = 86_400


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_what_reads_bytes_from_outside_raises_typed_errors_only(target: Target) -> None:
    report = run_campaign(target, INPUTS, int(time.time()) // DAY_SECONDS, print)
    assert not report.findings
    assert report.inputs == INPUTS == sum(report.outcomes.values())
    assert len(report.outcomes) > 1, "the inputs are all of one kind"


def test_the_wire_is_fuzzed_with_every_kind_of_message() -> None:
    chance = Random(5)
    kinds = {type(unpack(honest(chance, number))[0]) for number in range(1_000)}
    assert kinds == set(get_args(Message))


class Broken:
    """A target that raises over every fourth input, kills its process over every fifth, and is slow over none."""

    name = "broken"

    def make(self, draw: Random) -> bytes:
        return bytes([draw.randrange(20)])

    def attack(self, data: bytes) -> str:
        if data[0] % 5 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if data[0] % 4 == 0:
            raise ValueError("no")
        return "fine"


def test_a_wrong_error_and_a_death_are_findings_and_the_campaign_goes_on() -> None:
    target, seed = Broken(), 3
    inputs = [input_of(target, seed, number)[0] for number in range(60)]
    report = run_campaign(target, 60, seed, print)
    assert report.outcomes == {
        "killed its process": sum(each % 5 == 0 for each in inputs),
        "wrong error": sum(each % 4 == 0 and each % 5 > 0 for each in inputs),
        "fine": sum(each % 4 > 0 and each % 5 > 0 for each in inputs),
    }
    assert len(report.findings) == sum(each % 5 == 0 or each % 4 == 0 for each in inputs)
