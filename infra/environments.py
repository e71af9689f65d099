"""Environments that can be deployed, as typed values: sizes, zones of trust, options. The one file to edit.

A value that cannot work is refused here, before anything is synthesized; each refusal says what to change. Of an
environment that is deployed all may be edited but `variant`, `network` and `public`, which the deployment refuses to
change, and name and region: another name, or region, is another environment beside it.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network

from infra.bulk_jobs import BulkJobs, region_of
from infra.instances import INSTANCE_SIZES, NOTICED_SECONDS, SPOT_LOOK_SECONDS, SPOT_NOTICE_SECONDS
from infra.scaling.limits import Delays, Forecast, Limits, Schedule
from infra.scaling.policy_values import BURSTY, Tuning
from service.signals.routes import PUBLIC_ADAPTERS

PLACEHOLDER_ACCOUNT = "111122223333"
ON_DEMAND_QUOTA, SPOT_QUOTA = "L-DB2E81BA", "L-3819A6DF"
"""Codes of EC2's quotas of vCPUs for G and VT instances."""
MAXIMUM_PERCENT = 150
"""Percent of the wanted tasks during a deployment, each new one on another instance, since an instance has one GPU."""
ROOM_FOR_ONE_PERCENT = 200
"""Percent of the wanted tasks in a fleet that may have one: half as many again would be none."""
FAILED_TASKS_TO_ROLL_BACK = 2
"""Tasks of a release that fail before it is rolled back; each may take the whole time to get ready."""
LONGEST_TO_ROLL_BACK_SECONDS = 900
"""Longest time in which a release that never gets ready is tried."""
EVERYBODY = "0.0.0.0/0"
LOG_DAYS = (1, 7, 14, 30, 90, 365)
"""Numbers of days that CloudWatch Logs knows, some of them."""
_CERTIFICATE = re.compile(r"arn:aws[\w-]*:acm:[a-z0-9-]+:\d{12}:certificate/[0-9a-f-]{36}")


class BadEnvironment(ValueError):
    """An environment's values contradict each other."""


class Variant(StrEnum):
    """The starter of the containers: ECS, or the user data of each instance of an EC2 group."""

    ECS = "ecs"
    ASG = "asg"


class Purchase(StrEnum):
    """The way in which instances above the on-demand base are bought."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """One fleet in one account and region.

    Attributes:
        instance_types: some of `INSTANCE_SIZES`, in the order of preference; the next when one has run out.
        tuning: `BURSTY` or `STEADY` of `infra/scaling/policy_values.py`, or one of your own that you have simulated.
        warm_pool: stopped instances that wait, booted and with the image pulled; it is exactly as large as said.
        step_tasks: tasks that the largest usual step adds at once; the warm pool must hold as many, since what it lacks
            starts cold, and the fleet is as late as its last task.
        above_base: what is added above the minimum; Spot is cheaper and may go at two minutes' notice.
        capacity_file: JSON of `gleaner loadtest --find-knee`, relative to this folder; none: a cautious assumption, and
            nobody is called for latency.
        max_queue_ms: longest wait that a task admits, 0 for no limit; none: as the capacity says, or the default.
        certificate: ARN in AWS Certificate Manager, of the fleet's region. None, to try it out: HTTP inside the network
            alone.
        home: the region, where there is no certificate.
        network: addresses of the VPC, with a mask of 16 to 20 bits.
        allowed_networks: networks that may reach the balancer.
        public: whether the balancer has public addresses; otherwise it is for the network and its peers only.
        models: what the tasks serve, as GLEANER_MODELS takes it.
        adapters: other people's protocols that callers may use, as GLEANER_ADAPTERS has them; these alone are open.
        canary_percent: share of the requests without a tag that `NAME@candidate`, one of the models, answers.
        scrape_networks: networks other than the VPC's own that may read /metrics from the tasks.
        zones: two or three zones by name; none: those that it is in already, or the first ones with the instance types.
        zone_count: how many of these.
        spare_percent: instances kept running and empty, so that a task starts without waiting for one; costs that much.
        alarm_email: address that is notified; none: subscribe to the topic by hand.
        bulk: the places and limits of bulk jobs, whose queue the base stack then has; none: no bulk jobs.
        monthly_dollars: budget of what has the environment's tag; the topic hears when it is passed, or will be.
    """

    name: str
    variant: Variant = Variant.ECS
    instance_types: tuple[str, ...] = ("g6.xlarge", "g5.xlarge", "g4dn.xlarge")
    limits: Limits = field(default_factory=Limits)
    delays: Delays = field(default_factory=Delays)
    tuning: Tuning = BURSTY
    warm_pool: int = 2
    step_tasks: int = 2
    above_base: Purchase = Purchase.ON_DEMAND
    spare_percent: int = 0
    capacity_file: str | None = None
    max_queue_ms: int | None = None
    certificate: str | None
    home: str = "eu-central-1"
    allowed_networks: tuple[str, ...] = ("10.0.0.0/8",)
    scrape_networks: tuple[str, ...] = ()
    public: bool = False
    models: tuple[str, ...] = ("documents",)
    adapters: tuple[str, ...] = ()
    canary_percent: float = 0.0
    needs_api_keys: bool = True
    schedules: tuple[Schedule, ...] = ()
    forecast: Forecast = Forecast.OFF
    network: str = "10.42.0.0/16"
    zones: tuple[str, ...] = ()
    zone_count: int = 2
    volume_gib: int = 100
    log_days: int = 30
    alarm_email: str | None = None
    monthly_dollars: int | None = None
    bulk: BulkJobs | None = None

    def __post_init__(self) -> None:
        for holds, problem in self._rules():
            if not holds:
                raise BadEnvironment(f"{self.name}: {problem}")

    def _rules(self) -> tuple[tuple[bool, str], ...]:
        spot, delays = self.above_base is Purchase.SPOT, self.delays
        rollback_seconds = FAILED_TASKS_TO_ROLL_BACK * delays.ready_seconds
        return (
            (re.fullmatch(r"[a-z][a-z0-9-]{0,19}", self.name) is not None, "a name has 1 to 20 of a-z, 0-9 and -"),
            (
                bool(self.instance_types) and {*self.instance_types} <= {*INSTANCE_SIZES},
                f"instance types, one at least, each with one GPU, are some of {', '.join(INSTANCE_SIZES)}",
            ),
            (bool(self.models), "at least one model is needed"),
            (
                len({*self.adapters} & {*PUBLIC_ADAPTERS}) == len(self.adapters),
                f"adapters are some of {', '.join(PUBLIC_ADAPTERS)}, each once; no other is in the image",
            ),
            (0 <= self.canary_percent <= 100, "canary_percent is a share of the requests"),
            (
                not self.canary_percent or any(each.endswith("@candidate") for each in self.models),
                "a canary needs a candidate: add `NAME@candidate` to the models",
            ),
            (self.certificate is None or bool(_CERTIFICATE.fullmatch(self.certificate)), "certificate: no ARN of ACM"),
            (bool(self.certificate) or not self.public, "a public balancer needs a certificate"),
            (0 <= self.warm_pool <= self.limits.maximum_tasks, "the warm pool is larger than the fleet may become"),
            (self.step_tasks >= 1, "a step adds one task at least"),
            (
                not self.warm_pool or self.warm_pool >= self.step_tasks,
                f"the warm pool has {self.warm_pool} of the {self.step_tasks} instances of a usual step; the rest "
                "would start cold: raise warm_pool, or lower step_tasks",
            ),
            (self.number_of_zones in (2, 3), "a fleet is in two zones or three"),
            (16 <= _mask_bits(self.network) <= 20, f"network {self.network}: 16 to 20 bits of mask, zeros after it"),
            (
                delays.stop_seconds > delays.longest_request_seconds,
                f"a task is killed {delays.stop_seconds} s after SIGTERM, a request may take "
                f"{delays.longest_request_seconds} s: raise stop_slack_seconds",
            ),
            (
                self.variant is Variant.ASG or rollback_seconds <= LONGEST_TO_ROLL_BACK_SECONDS,
                f"a release that never gets ready is tried for {rollback_seconds} s, of "
                f"{LONGEST_TO_ROLL_BACK_SECONDS} s: lower ready_seconds",
            ),
            (
                EVERYBODY not in (self.network, *self.scrape_networks),
                "the tasks' metrics are shown to everybody: name your scrapers in scrape_networks",
            ),
            (self.log_days in LOG_DAYS, f"log_days is one of {', '.join(map(str, LOG_DAYS))}"),
            (0 <= self.spare_percent < 100, "spare_percent is a share of what runs"),
            (not (spot and self.warm_pool), "Spot instances cannot wait in a warm pool: set warm_pool=0"),
            (
                not spot or delays.stop_seconds <= SPOT_NOTICE_SECONDS - SPOT_LOOK_SECONDS,
                f"Spot gives {SPOT_NOTICE_SECONDS} s, {SPOT_LOOK_SECONDS} s may go by unseen, stopping takes up to "
                f"{delays.stop_seconds} s: shorten longest_request_seconds",
            ),
            (
                not spot or delays.drain_grace_seconds > NOTICED_SECONDS,
                f"requests come for {NOTICED_SECONDS} s to a Spot instance that goes: raise drain_grace_seconds",
            ),
            (not spot or self.variant is Variant.ECS, "Spot needs ECS, which moves tasks off an instance that goes"),
            (bool(self.bulk) or self.limits.minimum_tasks > 0, "only bulk jobs ask for a first task; minimum_tasks=2"),
            (not self.bulk or not self.tuning.gpu_target, "bulk jobs keep GPUs busy whatever the demand: gpu_target=0"),
            (
                not (self.bulk and self.bulk.queue_key) or region_of(self.bulk.queue_key) == self.region,
                f"bulk's queue_key is not in {self.region}, where the queue is",
            ),
            (not self.public or EVERYBODY not in self.allowed_networks or self.needs_api_keys,
             "a balancer that everybody reaches needs API keys"),
        )  # fmt: skip

    @property
    def fleet(self) -> str:
        """The fleet's name: prefix of stacks and value of the metrics' dimension."""
        return f"gleaner-{self.name}"

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the Auto Scaling groups; on ECS the second is Spot's."""
        return (self.fleet, f"{self.fleet}-spot") if self.variant is Variant.ECS else (self.fleet,)

    @property
    def region(self) -> str:
        """The region of the deployment: a balancer takes certificates of its own region only."""
        return self.certificate.split(":")[3] if self.certificate else self.home

    @property
    def number_of_zones(self) -> int:
        """Zones that the fleet is in."""
        return len({*self.zones}) or self.zone_count

    @property
    def made_once(self) -> dict[str, str | bool]:
        """Values that no deployment can change, by the options' names: CloudFormation would refuse it halfway."""
        return {"variant": self.variant.value, "network": self.network, "public": self.public}

    @property
    def timed_delays(self) -> Delays:
        """The delays with the start that this fleet has: by the capacity provider or not, from the pool or cold."""
        return self.delays.starting(warm=self.warm_pool >= self.step_tasks, managed=self.variant is Variant.ECS)

    @property
    def maximum_percent(self) -> int:
        """Tasks on ECS during a deployment, in percent of those wanted."""
        return MAXIMUM_PERCENT if self.limits.minimum_tasks else ROOM_FOR_ONE_PERCENT

    def instances_for(self, tasks: int) -> int:
        """Most instances for so many wanted tasks: with those of a deployment, and the spare ones."""
        return math.ceil(tasks * MAXIMUM_PERCENT / (100 - self.spare_percent))

    @property
    def vcpus(self) -> dict[str, int]:
        """Most vCPUs that the fleet may run, by code of the quota that counts them; stopped ones count once started.

        A deployment may run half as many tasks again. Spot has a quota of its own, which new accounts do not have.
        """
        tasks = (self.limits.minimum_tasks, self.limits.maximum_tasks)
        each = max(INSTANCE_SIZES[name].vcpus for name in self.instance_types)
        least, most = (self.instances_for(number) * each for number in tasks)
        if self.above_base is Purchase.SPOT:
            return {ON_DEMAND_QUOTA: least, SPOT_QUOTA: most}
        return {ON_DEMAND_QUOTA: most + self.warm_pool * each}

    @property
    def task_memory_mib(self) -> int:
        """Memory for a task on the smallest of its instances."""
        return min(INSTANCE_SIZES[name].task_memory_mib for name in self.instance_types)

    @property
    def is_placeholder(self) -> bool:
        """True when certificate or buckets are still the example's, which can be synthesized but not deployed."""
        named = self.bulk is not None and "s3://example-" in self.bulk.inputs + self.bulk.outputs
        return named or (self.certificate is not None and f":{PLACEHOLDER_ACCOUNT}:" in self.certificate)


def _mask_bits(network: str) -> int:
    """Bits of a network's mask; -1 of what is no network of IPv4."""
    try:
        return IPv4Network(network).prefixlen
    except ValueError:
        return -1


_EXAMPLE = f"arn:aws:acm:eu-central-1:{PLACEHOLDER_ACCOUNT}:certificate/00000000-0000-0000-0000-000000000000"


ENVIRONMENTS = (
    Environment(
        name="production",
        limits=Limits(minimum_tasks=2, maximum_tasks=20),
        warm_pool=8,
        step_tasks=8,
        certificate=_EXAMPLE,
        schedules=(
            Schedule(name="morning", cron="0 7 ? * MON-FRI *", timezone="Europe/Berlin", minimum_tasks=4),
            Schedule(name="evening", cron="0 19 ? * MON-FRI *", timezone="Europe/Berlin", minimum_tasks=2),
        ),
        forecast=Forecast.LOOK,
        monthly_dollars=5000,
    ),
    Environment(
        name="staging",
        limits=Limits(minimum_tasks=2, maximum_tasks=6),
        delays=Delays(longest_request_seconds=70, drain_grace_seconds=20, stop_slack_seconds=25),
        warm_pool=0,
        above_base=Purchase.SPOT,
        certificate=_EXAMPLE,
        adapters=("huggingface", "sagemaker", "oip", "comprehend", "presidio"),
        network="10.43.0.0/16",
        bulk=BulkJobs(inputs="s3://example-in/", outputs="s3://example-out/", events="s3://example-out/inbox/"),
    ),
    Environment(
        name="plain",
        variant=Variant.ASG,
        limits=Limits(minimum_tasks=2, maximum_tasks=8),
        certificate=_EXAMPLE,
        adapters=("oip",),
        network="10.44.0.0/16",
    ),
    Environment(
        name="tryout",
        limits=Limits(minimum_tasks=2, maximum_tasks=3),
        warm_pool=0,
        certificate=None,
        network="10.45.0.0/16",
        monthly_dollars=1500,
    ),
    Environment(
        name="jobs",
        limits=Limits(minimum_tasks=0, maximum_tasks=20),
        delays=Delays(longest_request_seconds=70, drain_grace_seconds=20, stop_slack_seconds=25),
        warm_pool=0,
        above_base=Purchase.SPOT,
        certificate=None,
        allowed_networks=(),
        needs_api_keys=False,
        network="10.47.0.0/16",
        bulk=BulkJobs(inputs="s3://example-documents/in/", outputs="s3://example-documents/out/", tasks=20),
    ),
)
"""Examples: a warm pool; Spot above the base and adapters; no ECS; a small one; bulk jobs alone, from no task on."""


def find_environment(name: str) -> Environment:
    """The environment of that name.

    Raises:
        BadEnvironment: lists those that there are.
    """
    found = {each.name: each for each in ENVIRONMENTS}
    if name not in found:
        raise BadEnvironment(f"there is no environment {name!r}; there are {', '.join(found)}")
    return found[name]


def main() -> int:
    """`python -m infra.environments NAME [region|warm_pool|…]…`: an environment's region, or other values."""
    try:
        environment = find_environment(sys.argv[1])
        print(*(getattr(environment, name) for name in sys.argv[2:] or ["region"]))
    except BadEnvironment as error:
        print(f"infra: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
