"""Application Auto Scaling of an ECS service: a `Policy`'s steps, target tracking and schedules."""

from __future__ import annotations

from aws_cdk import aws_applicationautoscaling as scaling
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from infra.scaling.policy import Policy
from infra.scaling.policy_values import Forecast, Schedule, StepScaling
from infra.stacks.cloudwatch_alarms import alarm
from infra.stacks.container import NAMESPACE
from infra.stacks.fleet.scaling_values import requests_per_minute, step_adjustments, step_id, work_per_task
from service.signals.catalog import SERVICE_DIMENSION

Property = scaling.CfnScalingPolicy


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
            step_scaling_policy_configuration=Property.StepScalingPolicyConfigurationProperty(
                adjustment_type="PercentChangeInCapacity",
                cooldown=step.cooldown_seconds,
                metric_aggregation_type="Average",
                min_adjustment_magnitude=step.at_least,
                step_adjustments=step_adjustments(Property.StepAdjustmentProperty, step),
            ),
        )

    def _track(self, policy: Policy) -> None:
        scaling.CfnScalingPolicy(
            self,
            "Tracking",
            policy_name="work-per-task",
            policy_type="TargetTrackingScaling",
            scaling_target_id=self.target.ref,
            target_tracking_scaling_policy_configuration=Property.TargetTrackingScalingPolicyConfigurationProperty(
                target_value=policy.tracking.target,
                scale_out_cooldown=policy.tracking.cooldown_seconds,
                disable_scale_in=True,
                customized_metric_specification=Property.CustomizedMetricSpecificationProperty(
                    metrics=[
                        _query("work", NAMESPACE, policy.tracking.signal.name, "Sum", {SERVICE_DIMENSION: self._fleet}),
                        _query("wanted", "ECS/ContainerInsights", "DesiredTaskCount", "Average", self._names),
                        Property.TargetTrackingMetricDataQueryProperty(
                            id="perTask", expression=work_per_task(), label="work per wanted task", return_data=True
                        ),
                    ]
                ),
            ),
        )

    def _forecast(self, policy: Policy, requests_label: str) -> None:
        """Predictive scaling on the balancer's request count, which has a history where our own metrics are new."""
        pair = Property.PredictiveScalingPredefinedMetricPairProperty(
            predefined_metric_type="ALBRequestCount", resource_label=requests_label
        )
        scaling.CfnScalingPolicy(
            self,
            "Forecast",
            policy_name="forecast",
            policy_type="PredictiveScaling",
            scaling_target_id=self.target.ref,
            predictive_scaling_policy_configuration=Property.PredictiveScalingPolicyConfigurationProperty(
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
    name: str, namespace: str, metric: str, statistic: str, dimensions: dict[str, str]
) -> scaling.CfnScalingPolicy.TargetTrackingMetricDataQueryProperty:
    return Property.TargetTrackingMetricDataQueryProperty(
        id=name,
        return_data=False,
        metric_stat=Property.TargetTrackingMetricStatProperty(
            stat=statistic,
            metric=Property.TargetTrackingMetricProperty(
                namespace=namespace,
                metric_name=metric,
                dimensions=[
                    Property.TargetTrackingMetricDimensionProperty(name=each, value=value)
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
