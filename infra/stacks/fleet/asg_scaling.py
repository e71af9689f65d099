"""EC2 Auto Scaling of a group that runs the containers itself: a `Policy`'s steps, tracking and schedules."""

from __future__ import annotations

from aws_cdk import aws_autoscaling as autoscaling
from constructs import Construct

from infra.scaling.policy import Policy
from infra.scaling.policy_values import Forecast, StepScaling
from infra.stacks.cloudwatch_alarms import alarm
from infra.stacks.container import NAMESPACE
from infra.stacks.fleet.scaling_values import requests_per_minute, step_adjustments, step_id, work_per_task
from service.signals.catalog import SERVICE_DIMENSION

Property = autoscaling.CfnScalingPolicy


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
            step_adjustments=step_adjustments(Property.StepAdjustmentProperty, step),
        )

    def _track(self, policy: Policy) -> None:
        autoscaling.CfnScalingPolicy(
            self,
            "Tracking",
            auto_scaling_group_name=self._group,
            policy_type="TargetTrackingScaling",
            estimated_instance_warmup=policy.tracking.cooldown_seconds,
            target_tracking_configuration=Property.TargetTrackingConfigurationProperty(
                target_value=policy.tracking.target,
                disable_scale_in=True,
                customized_metric_specification=Property.CustomizedMetricSpecificationProperty(
                    metrics=[
                        _query("work", NAMESPACE, policy.tracking.signal.name, "Sum", SERVICE_DIMENSION, self._fleet),
                        _query(
                            "wanted",
                            "AWS/AutoScaling",
                            "GroupDesiredCapacity",
                            "Average",
                            "AutoScalingGroupName",
                            self._group,
                        ),
                        Property.TargetTrackingMetricDataQueryProperty(
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
        pair = Property.PredictiveScalingPredefinedMetricPairProperty(
            predefined_metric_type="ALBRequestCount", resource_label=requests_label
        )
        autoscaling.CfnScalingPolicy(
            self,
            "Forecast",
            auto_scaling_group_name=self._group,
            policy_type="PredictiveScaling",
            predictive_scaling_configuration=Property.PredictiveScalingConfigurationProperty(
                mode=policy.forecast.value,
                max_capacity_breach_behavior="HonorMaxCapacity",
                scheduling_buffer_time=300,
                metric_specifications=[
                    Property.PredictiveScalingMetricSpecificationProperty(
                        target_value=requests_per_minute(policy), predefined_metric_pair_specification=pair
                    )
                ],
            ),
        )


def _query(
    name: str, namespace: str, metric: str, statistic: str, dimension: str, value: str
) -> autoscaling.CfnScalingPolicy.TargetTrackingMetricDataQueryProperty:
    return Property.TargetTrackingMetricDataQueryProperty(
        id=name,
        return_data=False,
        metric_stat=Property.TargetTrackingMetricStatProperty(
            stat=statistic,
            metric=Property.MetricProperty(
                namespace=namespace,
                metric_name=metric,
                dimensions=[Property.MetricDimensionProperty(name=dimension, value=value)],
            ),
        ),
    )
