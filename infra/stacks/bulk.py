"""Bulk jobs' part of the base stack: the queue of chunks, its dead letters, a topic for the end of a job, two alarms.

It is in the base since chunks and dead letters must outlive the fleet that works on them. The buckets are the caller's
own: CloudFormation changes no bucket that it did not make, so events are allowed here and switched on by hand.
"""

from __future__ import annotations

from typing import Any

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.bulk_jobs import BulkJobs
from infra.scaling.alarm_values import Comparison, Missing
from infra.stacks.roles import bucket_arn
from infra.stacks.scaling import SQS, VISIBLE

RECEIVED_AT_MOST = 5
"""Times that a chunk is tried, by as many workers, before it is a dead letter."""
LEASE_SECONDS = 60
"""Seconds after which a chunk whose worker is silent goes to another."""
KEPT_DAYS = 14
"""Seconds that a message is kept, the most that SQS knows."""
DEAD_LETTERS, LATE = "bulk-dead-letters", "bulk-late"
HOUR_SECONDS = 3600


class BulkQueue(Construct):
    """The queue, its dead letters, and the topic that hears when a job ends."""

    def __init__(self, scope: Construct, name: str, fleet: str, jobs: BulkJobs, alarm_topic: sns.ITopic) -> None:
        super().__init__(scope, name)
        kept = Duration.days(KEPT_DAYS)
        key = kms.Key.from_key_arn(self, "Key", jobs.queue_key) if jobs.queue_key else None
        encryption = sqs.QueueEncryption.KMS if key else sqs.QueueEncryption.SQS_MANAGED
        closed = {"encryption": encryption, "encryption_master_key": key, "enforce_ssl": True, "retention_period": kept}
        self.dead_letters = sqs.Queue(self, "DeadLetters", **closed)
        self.queue = sqs.Queue(
            self,
            "Chunks",
            visibility_timeout=Duration.seconds(LEASE_SECONDS),
            receive_message_wait_time=Duration.seconds(20),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=RECEIVED_AT_MOST),
            **closed,
        )
        self.topic = sns.Topic(self, "Ends", enforce_ssl=True, master_key=key)
        if jobs.events:
            self.queue.add_to_resource_policy(_events_of(jobs, self.queue))
        self._alarms(fleet, jobs, alarm_topic.topic_arn)

    def _alarms(self, fleet: str, jobs: BulkJobs, topic: str) -> None:
        """Chunks that failed everywhere, and chunks that wait for longer than was allowed."""

        def watch(name: str, queue: sqs.Queue, metric: str, threshold: float, meaning: str) -> None:
            cloudwatch.CfnAlarm(
                self,
                name.title().replace("-", ""),
                alarm_name=f"{fleet}-{name}",
                alarm_description=meaning,
                namespace=SQS,
                metric_name=metric,
                dimensions=[cloudwatch.CfnAlarm.DimensionProperty(name="QueueName", value=queue.queue_name)],
                statistic="Maximum",
                period=60,
                evaluation_periods=5,
                datapoints_to_alarm=1,
                comparison_operator=Comparison.ABOVE.value,
                threshold=threshold,
                treat_missing_data=Missing.NOT_BREACHING.value,
                alarm_actions=[topic],
                ok_actions=[topic],
            )

        watch(
            DEAD_LETTERS, self.dead_letters, VISIBLE, 0,
            f"A chunk of a bulk job failed {RECEIVED_AT_MOST} times. `gleaner bulk status` names its files.",
        )  # fmt: skip
        watch(
            LATE, self.queue, "ApproximateAgeOfOldestMessage", jobs.oldest_hours * HOUR_SECONDS,
            f"A chunk of a bulk job has waited for {jobs.oldest_hours} hours. Are there tasks, and have they room?",
        )  # fmt: skip


def _events_of(jobs: BulkJobs, queue: sqs.Queue) -> iam.PolicyStatement:
    """The bucket of the inputs may send: for this account's bucket alone, or any bucket of that name would do."""
    conditions: dict[str, Any] = {
        "ArnEquals": {"aws:SourceArn": bucket_arn(jobs.source)},
        "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
    }
    return iam.PolicyStatement(
        sid="InputsAnnounceThemselves",
        principals=[iam.ServicePrincipal("s3.amazonaws.com")],
        actions=["sqs:SendMessage"],
        resources=[queue.queue_arn],
        conditions=conditions,
    )
