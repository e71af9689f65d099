"""Scaling of either fleet in CDK: a `Policy`'s steps, target tracking, schedules and forecast.

`EcsScaling` changes the desired count of an ECS service, `AsgScaling` the capacity of an EC2 group without ECS. The
properties of Application Auto Scaling's and of EC2's policies are built by the same functions, since their fields are
equal; only the classes differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_applicationautoscaling as scaling
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from infra.scaling.alarm_values import POINTS_A_MINUTE, Comparison, Missing
from infra.scaling.limits import Forecast, Schedule
from infra.scaling.policy import Policy
from infra.scaling.policy_values import StepScaling
from infra.stacks.cloudwatch_alarms import alarm, metric_query, result_query
from infra.stacks.container import NAMESPACE
from service.signals.catalog import GPU_UTILIZATION, SERVICE_DIMENSION

SQS, VISIBLE = "AWS/SQS", "ApproximateNumberOfMessagesVisible"
FIRST_TASK = "bulk-waiting"
"""Name of the alarm that starts the first task of a fleet without any."""
ServicePolicy, GroupPolicy = scaling.CfnScalingPolicy, autoscaling.CfnScalingPolicy


class EcsScaling(Construct):
    """The policies and actions that change the service's desired count."""

    def __init__(
        self, scope: Construct, name: str, fleet: str, policy: Policy,
        *, service: ecs.CfnService, cluster: str, requests_label: str, bulk_queue: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(scope, name)
        self.target = scaling.CfnScalableTarget(
            self,
            "Target",
            service_namespace="ecs",
            scalable_dimension="ecs:service:DesiredCount",
            resource_id=f"service/{cluster}/{service.attr_name}",
            min_capacity=policy.limits.minimum_tasks,
            max_capacity=policy.limits.maximum_tasks,
            scheduled_actions=[_scheduled(each, policy) for each in policy.schedules] or None,
        )
        for step in policy.steps:
            alarm(self, fleet, step.alarm, [self._step(step).attr_arn], notify=False)
        if bulk_queue is not None and not policy.limits.minimum_tasks:
            first_task_alarm(self, fleet, bulk_queue, self._first(policy).attr_arn)
        wanted = ("ECS/ContainerInsights", "DesiredTaskCount", {"ClusterName": cluster, "ServiceName": fleet})
        Policies = ServicePolicy  # noqa: N806
        metrics = tracking_metrics(
            Policies, Policies.TargetTrackingMetricProperty, Policies.TargetTrackingMetricDimensionProperty,
            fleet, policy, wanted,
        )  # fmt: skip
        self._policy(
            "Tracking",
            "work-per-task",
            "TargetTrackingScaling",
            target_tracking_scaling_policy_configuration=Policies.TargetTrackingScalingPolicyConfigurationProperty(
                target_value=policy.tracking.target,
                scale_out_cooldown=policy.tracking.cooldown_seconds,
                disable_scale_in=True,
                customized_metric_specification=metrics,
            ),
        )
        if policy.targets.gpu_target:
            utilization = Policies.CustomizedMetricSpecificationProperty(
                **_gpu(Policies.MetricDimensionProperty, fleet)
            )
            self._policy(
                "GpuTarget",
                "gpu-target",
                "TargetTrackingScaling",
                target_tracking_scaling_policy_configuration=Policies.TargetTrackingScalingPolicyConfigurationProperty(
                    target_value=policy.targets.gpu_target,
                    scale_out_cooldown=policy.tracking.cooldown_seconds,
                    disable_scale_in=True,
                    customized_metric_specification=utilization,
                ),
            )
        if policy.forecast is not Forecast.OFF:
            forecast = Policies.PredictiveScalingPolicyConfigurationProperty(
                **predictive(Policies, policy, requests_label)
            )
            self._policy("Forecast", "forecast", "PredictiveScaling", predictive_scaling_policy_configuration=forecast)

    def _first(self, policy: Policy) -> scaling.CfnScalingPolicy:
        """Policy that adds one task alone: added ones do not count during the cooldown, which outlasts a start."""
        configuration = ServicePolicy.StepScalingPolicyConfigurationProperty(
            adjustment_type="ChangeInCapacity",
            cooldown=policy.delays.scale_out_cooldown_seconds,
            metric_aggregation_type="Maximum",
            step_adjustments=[first_task_step(ServicePolicy)],
        )
        return self._policy("StepFirst", FIRST_TASK, "StepScaling", step_scaling_policy_configuration=configuration)

    def _step(self, step: StepScaling) -> scaling.CfnScalingPolicy:
        configuration = ServicePolicy.StepScalingPolicyConfigurationProperty(
            adjustment_type="PercentChangeInCapacity",
            cooldown=step.cooldown_seconds,
            metric_aggregation_type="Average",
            min_adjustment_magnitude=step.at_least,
            step_adjustments=step_adjustments(ServicePolicy, step),
        )
        return self._policy(
            step_id(step), step.alarm.name, "StepScaling", step_scaling_policy_configuration=configuration
        )

    def _policy(self, name: str, policy_name: str, kind: str, **configuration: Any) -> scaling.CfnScalingPolicy:
        return scaling.CfnScalingPolicy(
            self, name, policy_name=policy_name, policy_type=kind, scaling_target_id=self.target.ref, **configuration
        )


def _scheduled(schedule: Schedule, policy: Policy) -> scaling.CfnScalableTarget.ScheduledActionProperty:
    return scaling.CfnScalableTarget.ScheduledActionProperty(
        scheduled_action_name=schedule.name,
        schedule=f"cron({schedule.cron})",
        timezone=schedule.timezone,
        scalable_target_action=scaling.CfnScalableTarget.ScalableTargetActionProperty(
            min_capacity=schedule.minimum_tasks, max_capacity=policy.limits.maximum_tasks
        ),
    )


class AsgScaling(Construct):
    """The policies and actions that change the group's desired capacity."""

    def __init__(
        self, scope: Construct, name: str, fleet: str, policy: Policy,
        *, group: autoscaling.CfnAutoScalingGroup, requests_label: str, bulk_queue: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(scope, name)
        self._group = group.ref
        for step in policy.steps:
            alarm(self, fleet, step.alarm, [self._step(step, policy).ref], notify=False)
        if bulk_queue is not None and not policy.limits.minimum_tasks:
            first_task_alarm(self, fleet, bulk_queue, self._first(policy).ref)
        wanted = ("AWS/AutoScaling", "GroupDesiredCapacity", {"AutoScalingGroupName": self._group})
        metrics = tracking_metrics(
            GroupPolicy, GroupPolicy.MetricProperty, GroupPolicy.MetricDimensionProperty, fleet, policy, wanted
        )
        self._policy(
            "Tracking",
            "TargetTrackingScaling",
            estimated_instance_warmup=policy.tracking.cooldown_seconds,
            target_tracking_configuration=GroupPolicy.TargetTrackingConfigurationProperty(
                target_value=policy.tracking.target, disable_scale_in=True, customized_metric_specification=metrics
            ),
        )
        if policy.targets.gpu_target:
            utilization = GroupPolicy.CustomizedMetricSpecificationProperty(
                **_gpu(GroupPolicy.MetricDimensionProperty, fleet)
            )
            self._policy(
                "GpuTarget",
                "TargetTrackingScaling",
                estimated_instance_warmup=policy.tracking.cooldown_seconds,
                target_tracking_configuration=GroupPolicy.TargetTrackingConfigurationProperty(
                    target_value=policy.targets.gpu_target,
                    disable_scale_in=True,
                    customized_metric_specification=utilization,
                ),
            )
        for each in policy.schedules:
            autoscaling.CfnScheduledAction(
                self,
                f"At{each.name.title()}",
                auto_scaling_group_name=self._group,
                recurrence=each.unix_cron,
                time_zone=each.timezone,
                min_size=each.minimum_tasks,
            )
        if policy.forecast is not Forecast.OFF:
            forecast = GroupPolicy.PredictiveScalingConfigurationProperty(
                **predictive(GroupPolicy, policy, requests_label)
            )
            self._policy("Forecast", "PredictiveScaling", predictive_scaling_configuration=forecast)

    def _first(self, policy: Policy) -> autoscaling.CfnScalingPolicy:
        """Policy that adds one instance alone: one that warms up counts towards what the alarm asks for."""
        return self._policy(
            "StepFirst",
            "StepScaling",
            adjustment_type="ChangeInCapacity",
            metric_aggregation_type="Maximum",
            estimated_instance_warmup=policy.delays.scale_out_cooldown_seconds,
            step_adjustments=[first_task_step(GroupPolicy)],
        )

    def _step(self, step: StepScaling, policy: Policy) -> autoscaling.CfnScalingPolicy:
        return self._policy(
            step_id(step),
            "StepScaling",
            adjustment_type="PercentChangeInCapacity",
            metric_aggregation_type="Average",
            min_adjustment_magnitude=step.at_least,
            estimated_instance_warmup=policy.delays.scale_out_cooldown_seconds,
            step_adjustments=step_adjustments(GroupPolicy, step),
        )

    def _policy(self, name: str, kind: str, **properties: Any) -> autoscaling.CfnScalingPolicy:
        return autoscaling.CfnScalingPolicy(
            self, name, auto_scaling_group_name=self._group, policy_type=kind, **properties
        )


def _gpu(dimension: Any, fleet: str) -> dict[str, Any]:
    """The fleet's GPU utilization, as a metric that target tracking keeps."""
    place = {"namespace": NAMESPACE, "metric_name": GPU_UTILIZATION.name, "statistic": "Average"}
    return {**place, "dimensions": [dimension(name=SERVICE_DIMENSION, value=fleet)]}


def first_task_step(policies: Any) -> Any:
    """The one step of the policy that starts the first task."""
    return policies.StepAdjustmentProperty(metric_interval_lower_bound=0, scaling_adjustment=1)


def first_task_alarm(scope: Construct, fleet: str, queue: str, action: str) -> None:
    """Add the alarm on chunks that no task has: without tasks there are no metrics but the queue's."""
    parts = [
        metric_query(name, SQS, metric, {"QueueName": queue}, "Maximum")
        for name, metric in (("waiting", VISIBLE), ("held", "ApproximateNumberOfMessagesNotVisible"))
    ]
    cloudwatch.CfnAlarm(
        scope,
        FIRST_TASK.title().replace("-", ""),
        alarm_name=f"{fleet}-{FIRST_TASK}",
        alarm_description="Chunks wait in the bulk queue and no task has one. The first task is started.",
        metrics=[*parts, result_query("nobody", "IF(held < 1, waiting, 0)")],
        comparison_operator=Comparison.ABOVE.value,
        threshold=0,
        evaluation_periods=1,
        treat_missing_data=Missing.NOT_BREACHING.value,
        alarm_actions=[action],
    )


def step_id(scaling: StepScaling) -> str:
    """The construct id of a step policy, from its alarm's name."""
    return f"Step{''.join(part.title() for part in scaling.alarm.name.split('-'))}"


def step_adjustments(policies: Any, scaling: StepScaling) -> list[Any]:
    """A policy's steps as CDK's values."""
    return [
        policies.StepAdjustmentProperty(
            metric_interval_lower_bound=step.lower,
            metric_interval_upper_bound=step.upper,
            scaling_adjustment=step.percent,
        )
        for step in scaling.steps
    ]


def tracking_metrics(
    policies: Any, metric: Any, dimension: Any, fleet: str, policy: Policy, wanted: tuple[str, str, Mapping[str, str]]
) -> Any:
    """Make target tracking of a minute's work of all tasks over the tasks that are `wanted`."""
    asked = {
        "work": ("Sum", NAMESPACE, policy.tracking.signal.name, {SERVICE_DIMENSION: fleet}),
        "wanted": ("Average", *wanted),
    }
    parts = [
        policies.TargetTrackingMetricDataQueryProperty(
            id=name,
            return_data=False,
            metric_stat=policies.TargetTrackingMetricStatProperty(
                stat=statistic,
                metric=metric(
                    namespace=namespace,
                    metric_name=metric_name,
                    dimensions=[dimension(name=key, value=value) for key, value in dimensions.items()],
                ),
            ),
        )
        for name, (statistic, namespace, metric_name, dimensions) in asked.items()
    ]
    whole = policies.TargetTrackingMetricDataQueryProperty(
        id="perTask", expression=f"work / {POINTS_A_MINUTE} / wanted", label="work per wanted task", return_data=True
    )
    return policies.CustomizedMetricSpecificationProperty(metrics=[*parts, whole])


def predictive(policies: Any, policy: Policy, requests_label: str) -> dict[str, Any]:
    """Predictive scaling on the balancer's request count, which has a history where our own metrics are new."""
    pair = policies.PredictiveScalingPredefinedMetricPairProperty(
        predefined_metric_type="ALBRequestCount", resource_label=requests_label
    )
    specification = policies.PredictiveScalingMetricSpecificationProperty(
        target_value=requests_per_minute(policy), predefined_metric_pair_specification=pair
    )
    return {
        "mode": policy.forecast.value,
        "max_capacity_breach_behavior": "HonorMaxCapacity",
        "scheduling_buffer_time": 300,
        "metric_specifications": [specification],
    }


def requests_per_minute(policy: Policy) -> float:
    """One task's requests a minute at the target's share of its capacity, with one document a request."""
    return round(policy.capacity.full_documents_per_second * policy.targets.work_ratio * 60, 1)
