"""Bulk jobs in the templates: the queue, who may do what, what calls somebody, and a first task from none."""

from __future__ import annotations

from typing import Any

import pytest

from infra.environments import Environment, Variant, find_environment
from infra.stacks.bulk import DEAD_LETTERS, LATE
from infra.stacks.scaling import FIRST_TASK
from service.settings import Settings
from tests.support.fleets import PLAIN_JOBS, SYNTHESIZED, Read, alarms, fleet
from tests.support.templates import Template, listed, only, resources, variables

WITH_BULK = pytest.mark.parametrize(
    "environment", [each for each in SYNTHESIZED if each.bulk], ids=lambda environment: environment.name
)
FROM_NONE = pytest.mark.parametrize("jobs", [find_environment("jobs"), PLAIN_JOBS], ids=lambda jobs: jobs.name)


def base(template: Read, environment: Environment) -> Template:
    return template(f"{environment.name}-base")


def queues(found: Template) -> tuple[tuple[str, dict[str, Any]], tuple[str, dict[str, Any]]]:
    """The queue of chunks and that of dead letters."""
    both = resources(found, "AWS::SQS::Queue").items()
    (chunks,), (dead,) = ([each for each in both if ("RedrivePolicy" in each[1]) is has] for has in (True, False))
    return chunks, dead


def granted(made: Template) -> dict[str, dict[str, Any]]:
    """The statements of all roles, by their names."""
    roles = resources(made, "AWS::IAM::Policy").values()
    return {each["Sid"]: each for role in roles for each in role["PolicyDocument"]["Statement"] if "Sid" in each}


@WITH_BULK
def test_a_chunk_is_leased_for_a_minute_and_tried_five_times(template: Read, environment: Environment) -> None:
    (_, chunks), (dead_name, dead) = queues(base(template, environment))
    assert chunks["VisibilityTimeout"] == 60
    assert chunks["RedrivePolicy"] == {"deadLetterTargetArn": {"Fn::GetAtt": [dead_name, "Arn"]}, "maxReceiveCount": 5}
    assert environment.bulk is not None
    key = environment.bulk.queue_key or None
    for each in (chunks, dead):
        assert each["MessageRetentionPeriod"] == 14 * 86_400
        assert (each.get("KmsMasterKeyId"), each.get("SqsManagedSseEnabled", False)) == (key, not key)
    topics = resources(base(template, environment), "AWS::SNS::Topic").values()
    assert [each["KmsMasterKeyId"] for each in topics if "KmsMasterKeyId" in each] == ([key] if key else [])


@WITH_BULK
def test_queues_take_tls_alone_and_events_only_if_asked_to(template: Read, environment: Environment) -> None:
    assert environment.bulk is not None
    made = base(template, environment)
    policies = resources(made, "AWS::SQS::QueuePolicy").values()
    found = [each for policy in policies for each in policy["PolicyDocument"]["Statement"]]
    denied = [each["Condition"] for each in found if each["Effect"] == "Deny"]
    assert denied == [{"Bool": {"aws:SecureTransport": "false"}}] * 2
    senders = [each for each in found if each["Effect"] == "Allow"]
    assert len(senders) == bool(environment.bulk.events)
    for each in senders:
        assert (each["Action"], each["Principal"]) == ("sqs:SendMessage", {"Service": "s3.amazonaws.com"})
        bucket = each["Condition"]["ArnEquals"]["aws:SourceArn"]["Fn::Join"][1][-1]
        assert bucket == f":s3:::{environment.bulk.source.bucket}"
        assert each["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


@WITH_BULK
def test_a_task_reads_one_prefix_and_writes_the_other(template: Read, environment: Environment) -> None:
    assert environment.bulk is not None
    source, target = environment.bulk.source, environment.bulk.target
    found = granted(fleet(template, environment))
    inputs, results = found["ReadBulkInputs"], found["WriteBulkResults"]
    assert inputs["Action"] == "s3:GetObject"
    assert inputs["Resource"]["Fn::Join"][1][-1] == f":s3:::{source.bucket}/{source.prefix}*"
    assert results["Action"] == ["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"]
    assert results["Resource"]["Fn::Join"][1][-1] == f":s3:::{target.bucket}/{target.prefix}*"
    for name, place in (("Inputs", source), ("Results", target)):
        assert found[f"ListBulk{name}"]["Condition"] == {"StringLike": {"s3:prefix": [f"{place.prefix}*"]}}
    written = [each for each in found.values() if {"s3:PutObject", "s3:DeleteObject"} & {*listed(each["Action"])}]
    assert written == [results]
    assert "sqs:SendMessage" not in found["WorkOnBulkQueue"]["Action"]
    own = ("WorkOnBulkQueue", "CountBulkDeadLetters", "TellTheEndOfJobs")
    assert all("Fn::ImportValue" in found[each]["Resource"] for each in own)
    assert len({str(found[each]["Resource"]) for each in own}) == 3
    assert found["CountBulkDeadLetters"]["Action"] == "sqs:GetQueueAttributes"


def test_each_key_is_used_through_one_service_for_one_prefix(template: Read) -> None:
    jobs = PLAIN_JOBS.bulk
    assert jobs is not None
    keys = {name: each for name, each in granted(fleet(template, PLAIN_JOBS)).items() if "kms:" in str(each["Action"])}
    both = ["kms:Decrypt", "kms:GenerateDataKey"]
    assert {name: (each["Action"], each["Resource"]) for name, each in keys.items()} == {
        "ReadBulkInputsKey": ("kms:Decrypt", jobs.input_key),
        "WriteBulkResultsKey": (both, jobs.output_key),
        "WorkOnBulkQueueKey": ("kms:Decrypt", jobs.queue_key),
        "TellTheEndOfJobsKey": (both, jobs.queue_key),
    }
    through = [each["Condition"]["StringEquals"]["kms:ViaService"]["Fn::Join"][1][0] for each in keys.values()]
    assert through == [f"{name}.eu-central-1." for name in ("s3", "s3", "sqs", "sns")]
    for name, place in (("ReadBulkInputsKey", jobs.source), ("WriteBulkResultsKey", jobs.target)):
        context = keys[name]["Condition"]["StringLike"]["kms:EncryptionContext:aws:s3:arn"]
        ends = [each["Fn::Join"][1][-1] for each in context]
        assert ends == [f":s3:::{place.bucket}", f":s3:::{place.bucket}/{place.prefix}*"]
    without = granted(fleet(template, find_environment("jobs")))
    assert "kms:" not in str(without)


@WITH_BULK
def test_a_task_is_told_its_queue(template: Read, environment: Environment) -> None:
    assert environment.bulk is not None
    made = fleet(template, environment)
    told: dict[str, Any] = variables(made)
    if environment.variant is Variant.ASG:
        _, filled_in = only(made, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["UserData"]["Fn::Base64"]["Fn::Sub"]
        told["GLEANER_BULK_QUEUE"] = filled_in[told["GLEANER_BULK_QUEUE"].strip("${}")]
    assert "Fn::ImportValue" in told["GLEANER_BULK_QUEUE"]
    events = told.get("GLEANER_BULK_EVENTS", "")
    settings = Settings(bulk_tasks=told["GLEANER_BULK_TASKS"], bulk_events=events)
    assert (settings.bulk_tasks, settings.bulk_events) == (environment.bulk.tasks, environment.bulk.events)


@WITH_BULK
def test_dead_letters_and_old_chunks_call_somebody(template: Read, environment: Environment) -> None:
    assert environment.bulk is not None
    made = base(template, environment)
    (chunks, _), (dead, _) = queues(made)
    found = alarms(made)
    assert len(found) == 2
    hours = environment.bulk.oldest_hours
    for name, metric, queue, limit in (
        (DEAD_LETTERS, "ApproximateNumberOfMessagesVisible", dead, 0),
        (LATE, "ApproximateAgeOfOldestMessage", chunks, hours * 3600),
    ):
        alarm = found[f"{environment.fleet}-{name}"]
        assert (alarm["MetricName"], alarm["Threshold"], alarm["Statistic"]) == (metric, limit, "Maximum")
        assert alarm["Dimensions"] == [{"Name": "QueueName", "Value": {"Fn::GetAtt": [queue, "QueueName"]}}]
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
        assert alarm["AlarmActions"] == alarm["OKActions"] == [made["Outputs"]["AlarmTopic"]["Value"]]


@FROM_NONE
def test_a_first_task_is_started_for_chunks_that_nobody_has(template: Read, jobs: Environment) -> None:
    made = fleet(template, jobs)
    alarm = alarms(made)[f"{jobs.fleet}-{FIRST_TASK}"]
    *metrics, whole = alarm["Metrics"]
    asked = {each["Id"]: each["MetricStat"]["Metric"]["MetricName"] for each in metrics}
    assert asked == {
        "waiting": "ApproximateNumberOfMessagesVisible",
        "held": "ApproximateNumberOfMessagesNotVisible",
    }
    assert (whole["Expression"], alarm["Threshold"]) == ("IF(held < 1, waiting, 0)", 0)
    (action,) = alarm["AlarmActions"]
    step = made["Resources"][action["Ref"] if "Ref" in action else action["Fn::GetAtt"][0]]["Properties"]
    configured = step.get("StepScalingPolicyConfiguration", step)
    (only_step,) = configured["StepAdjustments"]
    assert (configured["AdjustmentType"], only_step["ScalingAdjustment"]) == ("ChangeInCapacity", 1)
    until = configured.get("Cooldown") or configured["EstimatedInstanceWarmup"]
    assert until > jobs.timed_delays.start_seconds, "the first is there before a second is asked for"
    assert [each for each in alarms(fleet(template, find_environment("staging"))) if FIRST_TASK in each] == []


@FROM_NONE
def test_a_fleet_without_tasks_has_no_alarm_that_calls_for_them(template: Read, jobs: Environment) -> None:
    found = alarms(fleet(template, jobs))
    assert {each["TreatMissingData"] for each in found.values()} == {"notBreaching"}
