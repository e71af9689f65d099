"""Bulk jobs of a fleet as typed values: their places in S3, and what a deadline may ask for."""

from __future__ import annotations

import re
from dataclasses import dataclass

_KEY = re.compile(r"arn:aws[\w-]*:kms:[a-z0-9-]+:\d{12}:key/[0-9a-z-]{32,36}")
_PLACE = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/((?:[\w!'().=+-]+/)*)")


@dataclass(frozen=True, slots=True)
class BucketPrefix:
    """Objects of one bucket whose keys begin alike; `prefix` is empty, or ends with a slash."""

    bucket: str
    prefix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkJobs:
    """The bulk jobs of an environment.

    Attributes:
        inputs, outputs: `s3://bucket/prefix/`: of S3 tasks may read the one and write the other, and no more.
        tasks: most tasks that a job's deadline (`gleaner bulk start --by`) asks for; 0: jobs use idle time alone.
        events: output of the job that new objects belong to, below `outputs`: the inputs' bucket may then put a message
            for each into the queue. Empty: none.
        oldest_hours: age of the oldest chunk in the queue above which somebody is called.
        input_key, output_key: ARN of the KMS key with which objects of the one are, of the other will be encrypted.
            Empty: one of S3's own, which takes no rights.
        queue_key: ARN of the KMS key, in the fleet's region, of queue, dead letters and topic. Empty: AWS's own.
    """

    inputs: str
    outputs: str
    tasks: int = 0
    events: str = ""
    oldest_hours: int = 24
    input_key: str = ""
    output_key: str = ""
    queue_key: str = ""

    def __post_init__(self) -> None:
        if self.source.bucket == self.target.bucket and self.target.prefix.startswith(self.source.prefix):
            raise ValueError(f"bulk: results in {self.outputs} would be inputs again: they lie below {self.inputs}")
        if self.events and (not self.events.startswith(self.outputs) or not _place(self.events).prefix):
            raise ValueError(f"bulk: events belong to a job below {self.outputs}, not to {self.events}")
        if self.tasks < 0 or not 1 <= self.oldest_hours <= 14 * 24:
            raise ValueError("bulk: tasks is not negative, and a queue keeps chunks for 1 to 336 hours")
        for key in filter(None, (self.input_key, self.output_key, self.queue_key)):
            if _KEY.fullmatch(key) is None:
                raise ValueError(f"bulk: {key!r} is no ARN of a KMS key, arn:aws:kms:…:key/…; rights know no aliases")

    @property
    def source(self) -> BucketPrefix:
        return _place(self.inputs)

    @property
    def target(self) -> BucketPrefix:
        return _place(self.outputs)


def region_of(key_arn: str) -> str:
    return key_arn.split(":")[3]


def _place(url: str) -> BucketPrefix:
    found = _PLACE.fullmatch(url)
    if found is None:
        raise ValueError(f"bulk: {url!r} is not s3://bucket/prefix/, with a slash at its end")
    return BucketPrefix(found[1], found[2])
