"""Scaling of either fleet in CDK: a `Policy`'s steps, target tracking, schedules and forecast.

`EcsScaling` changes the desired count of an ECS service, `AsgScaling` the capacity of an EC2 group without ECS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from aws_cdk import aws_applicationautoscaling as scaling
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from infra.scaling.autoscaler import POINTS_A_MINUTE
from infra.scaling.policy import Policy
from infra.scaling.policy_values import Forecast, Schedule, StepScaling
from infra.stacks.cloudwatch_alarms import alarm
from infra.stacks.container import NAMESPACE
from service.signals.catalog import SERVICE_DIMENSION

ServicePolicy = scaling.CfnScalingPolicy


class EcsScaling(Construct):
    """The policies and actions that change the service's desired count."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        fleet: str,
        policy: Policy,
        *,
        service: ecs.CfnService,
        cluster: str,
        requests_label: str,
    ) -> None:
        super().__init__(scope, name)
        self._fleet = fleet
        self._names = {"ClusterName": cluster, "ServiceName": fleet}
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
        self._track(policy)
        if policy.forecast is not Forecast.OFF:
            self._forecast(policy, requests_label)

    def _step(self, step: StepScaling) -> scaling.CfnScalingPolicy:
        return scaling.CfnScalingPolicy(
            self,
            step_id(step),
            policy_name=step.alarm.name,
            policy_type="StepScaling",
            scaling_target_id=self.target.ref,
            step_scaling_policy_configuration=ServicePolicy.StepScalingPolicyConfigurationProperty(
                adjustment_type="PercentChangeInCapacity",
                cooldown=step.cooldown_seconds,
                metric_aggregation_type="Average",
                min_adjustment_magnitude=step.at_least,
                step_adjustments=step_adjustments(ServicePolicy.StepAdjustmentProperty, step),
            ),
        )

    def _track(self, policy: Policy) -> None:
        scaling.CfnScalingPolicy(
            self,
            "Tracking",
            policy_name="work-per-task",
            policy_type="TargetTrackingScaling",
            scaling_target_id=self.target.ref,
            target_tracking_scaling_policy_configuration=ServicePolicy.TargetTrackingScalingPolicyConfigurationProperty(
                target_value=policy.tracking.target,
                scale_out_cooldown=policy.tracking.cooldown_seconds,
                disable_scale_in=True,
                customized_metric_specification=ServicePolicy.CustomizedMetricSpecificationProperty(
                    metrics=[
                        _of_service(
                            "work", NAMESPACE, policy.tracking.signal.name, "Sum", {SERVICE_DIMENSION: self._fleet}
                        ),
                        _of_service("wanted", "ECS/ContainerInsights", "DesiredTaskCount", "Average", self._names),
                        ServicePolicy.TargetTrackingMetricDataQueryProperty(
                            id="perTask", expression=work_per_task(), label="work per wanted task", return_data=True
                        ),
                    ]
                ),
            ),
        )

    def _forecast(self, policy: Policy, requests_label: str) -> None:
        """Predictive scaling on the balancer's request count, which has a history where our own metrics are new."""
        pair = ServicePolicy.PredictiveScalingPredefinedMetricPairProperty(
            predefined_metric_type="ALBRequestCount", resource_label=requests_label
        )
        scaling.CfnScalingPolicy(
            self,
            "Forecast",
            policy_name="forecast",
            policy_type="PredictiveScaling",
            scaling_target_id=self.target.ref,
            predictive_scaling_policy_configuration=ServicePolicy.PredictiveScalingPolicyConfigurationProperty(
                mode=policy.forecast.value,
                max_capacity_breach_behavior="HonorMaxCapacity",
                scheduling_buffer_time=300,
                metric_specifications=[
                    ServicePolicy.PredictiveScalingMetricSpecificationProperty(
                        target_value=requests_per_minute(policy), predefined_metric_pair_specification=pair
                    )
                ],
            ),
        )


def _of_service(
    name: str, namespace: str, metric: str, statistic: str, dimensions: dict[str, str]
) -> scaling.CfnScalingPolicy.TargetTrackingMetricDataQueryProperty:
    return ServicePolicy.TargetTrackingMetricDataQueryProperty(
        id=name,
        return_data=False,
        metric_stat=ServicePolicy.TargetTrackingMetricStatProperty(
            stat=statistic,
            metric=ServicePolicy.TargetTrackingMetricProperty(
                namespace=namespace,
                metric_name=metric,
                dimensions=[
                    ServicePolicy.TargetTrackingMetricDimensionProperty(name=each, value=value)
                    for each, value in dimensions.items()
                ],
            ),
        ),
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


GroupPolicy = autoscaling.CfnScalingPolicy


class AsgScaling(Construct):
    """The policies and actions that change the group's desired capacity."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        fleet: str,
        policy: Policy,
        *,
        group: autoscaling.CfnAutoScalingGroup,
        requests_label: str,
    ) -> None:
        super().__init__(scope, name)
        self._fleet, self._group = fleet, group.ref
        for step in policy.steps:
            alarm(self, fleet, step.alarm, [self._step(step, policy).ref], notify=False)
        self._track(policy)
        self._schedule(policy)
        if policy.forecast is not Forecast.OFF:
            self._forecast(policy, requests_label)

    def _step(self, step: StepScaling, policy: Policy) -> autoscaling.CfnScalingPolicy:
        return autoscaling.CfnScalingPolicy(
            self,
            step_id(step),
            auto_scaling_group_name=self._group,
            policy_type="StepScaling",
            adjustment_type="PercentChangeInCapacity",
            metric_aggregation_type="Average",
            min_adjustment_magnitude=step.at_least,
            estimated_instance_warmup=policy.delays.scale_out_cooldown_seconds,
            step_adjustments=step_adjustments(GroupPolicy.StepAdjustmentProperty, step),
        )

    def _track(self, policy: Policy) -> None:
        autoscaling.CfnScalingPolicy(
            self,
            "Tracking",
            auto_scaling_group_name=self._group,
            policy_type="TargetTrackingScaling",
            estimated_instance_warmup=policy.tracking.cooldown_seconds,
            target_tracking_configuration=GroupPolicy.TargetTrackingConfigurationProperty(
                target_value=policy.tracking.target,
                disable_scale_in=True,
                customized_metric_specification=GroupPolicy.CustomizedMetricSpecificationProperty(
                    metrics=[
                        _of_group(
                            "work", NAMESPACE, policy.tracking.signal.name, "Sum", SERVICE_DIMENSION, self._fleet
                        ),
                        _of_group(
                            "wanted",
                            "AWS/AutoScaling",
                            "GroupDesiredCapacity",
                            "Average",
                            "AutoScalingGroupName",
                            self._group,
                        ),
                        GroupPolicy.TargetTrackingMetricDataQueryProperty(
                            id="perTask", expression=work_per_task(), label="work per wanted task", return_data=True
                        ),
                    ]
                ),
            ),
        )

    def _schedule(self, policy: Policy) -> None:
        for each in policy.schedules:
            autoscaling.CfnScheduledAction(
                self,
                f"At{each.name.title()}",
                auto_scaling_group_name=self._group,
                recurrence=each.unix_cron,
                time_zone=each.timezone,
                min_size=each.minimum_tasks,
            )

    def _forecast(self, policy: Policy, requests_label: str) -> None:
        pair = GroupPolicy.PredictiveScalingPredefinedMetricPairProperty(
            predefined_metric_type="ALBRequestCount", resource_label=requests_label
        )
        autoscaling.CfnScalingPolicy(
            self,
            "Forecast",
            auto_scaling_group_name=self._group,
            policy_type="PredictiveScaling",
            predictive_scaling_configuration=GroupPolicy.PredictiveScalingConfigurationProperty(
                mode=policy.forecast.value,
                max_capacity_breach_behavior="HonorMaxCapacity",
                scheduling_buffer_time=300,
                metric_specifications=[
                    GroupPolicy.PredictiveScalingMetricSpecificationProperty(
                        target_value=requests_per_minute(policy), predefined_metric_pair_specification=pair
                    )
                ],
            ),
        )


def _of_group(
    name: str, namespace: str, metric: str, statistic: str, dimension: str, value: str
) -> autoscaling.CfnScalingPolicy.TargetTrackingMetricDataQueryProperty:
    return GroupPolicy.TargetTrackingMetricDataQueryProperty(
        id=name,
        return_data=False,
        metric_stat=GroupPolicy.TargetTrackingMetricStatProperty(
            stat=statistic,
            metric=GroupPolicy.MetricProperty(
                namespace=namespace,
                metric_name=metric,
                dimensions=[GroupPolicy.MetricDimensionProperty(name=dimension, value=value)],
            ),
        ),
    )


Adjustment = TypeVar("Adjustment")


def step_id(scaling: StepScaling) -> str:
    """The construct id of a step policy, from its alarm's name."""
    return f"Step{''.join(part.title() for part in scaling.alarm.name.split('-'))}"


def step_adjustments(make: Callable[..., Adjustment], scaling: StepScaling) -> list[Adjustment]:
    """A policy's steps as CDK's values.

    Args:
        make: `StepAdjustmentProperty` of EC2's or of Application Auto Scaling's policy, which have equal fields.
    """
    return [
        make(
            metric_interval_lower_bound=step.lower,
            metric_interval_upper_bound=step.upper,
            scaling_adjustment=step.percent,
        )
        for step in scaling.steps
    ]


def work_per_task() -> str:
    """CloudWatch's expression for target tracking: a minute's work of all tasks over the tasks that are wanted."""
    return f"work / {POINTS_A_MINUTE} / wanted"


def requests_per_minute(policy: Policy) -> float:
    """One task's requests a minute at the target's share of its capacity, with one document a request."""
    return round(policy.capacity.full_documents_per_second * policy.targets.work_ratio * 60, 1)
