"""The fleet without ECS: each instance of the Auto Scaling group runs the container by its own user data.

In ECS's place systemd restarts the container, the group replaces what the balancer finds
unhealthy, an update of the stack replaces instances one by one.
"""

from __future__ import annotations

from aws_cdk import CfnAutoScalingRollingUpdate, CfnUpdatePolicy
from aws_cdk import aws_elasticloadbalancingv2 as elb
from constructs import Construct

from infra.environments import BadEnvironment, Environment, Purchase
from infra.scaling.oncall_alarms import instances_missing
from infra.scaling.policy import Policy
from infra.stacks.acknowledged import acknowledge, asg_reasons
from infra.stacks.base import BaseStack
from infra.stacks.container import container_environment
from infra.stacks.fleet import Fleet
from infra.stacks.machines import GroupSpec, Machines
from infra.stacks.roles import (
    Statements,
    pulls_images,
    reads_models,
    reads_secret,
    role,
    serves_sessions,
    speaks_for_its_instance,
    writes_logs,
    writes_metrics,
)
from infra.stacks.scaling import AsgScaling
from infra.stacks.user_data import MOST_SCRIPT_BYTES, asg_user_data

SUSPENDED = ("AlarmNotification", "AZRebalance", "HealthCheck", "ReplaceUnhealthy", "ScheduledActions")
"""Processes suspended while an update replaces instances, so that nothing else changes their number."""
GRACE_SECONDS = 900
"""Seconds of a boot with its pull and its models, in which the balancer's opinion does not count."""


class AsgFleet(Fleet):
    """Instances behind the balancer, scaled by the same policy."""

    def __init__(self, scope: Construct, environment: Environment, policy: Policy, base: BaseStack) -> None:
        super().__init__(scope, environment, policy, base, elb.TargetType.INSTANCE)
        instances = self.closed_group("InstanceSecurityGroup", "Instances: from the balancer to AWS endpoints")
        self.balancer.admit_to(instances, self.scrapers)
        limits = environment.limits
        machines = Machines(
            self,
            "Machines",
            GroupSpec(
                name=environment.fleet,
                environment=environment.name,
                instance_types=environment.instance_types,
                purchase=Purchase.ON_DEMAND,
                minimum=limits.minimum_tasks,
                maximum=limits.maximum_tasks,
                warm_pool=environment.warm_pool,
                volume_gib=environment.volume_gib,
                scale_in_protection=False,
                launch_errors_to=base.topic.topic_arn,
                target_groups=[self.balancer.targets.target_group_arn],
                health_check="ELB",
                grace_seconds=GRACE_SECONDS,
            ),
            subnets=base.network.private,
            image_id=self.machine_image,
            role=role(self, "InstanceRole", "ec2.amazonaws.com", self._permissions()),
            security_group=instances,
            user_data=self._user_data(),
            filled_in=self._filled_in(),
        )
        machines.group.cfn_options.update_policy = CfnUpdatePolicy(
            auto_scaling_rolling_update=CfnAutoScalingRollingUpdate(
                min_instances_in_service=limits.minimum_tasks,
                max_batch_size=1,
                pause_time="PT5M",
                suspend_processes=list(SUSPENDED),
            )
        )
        machines.group.node.add_dependency(self.balancer.routes)
        self.watch(instances_missing(environment.fleet, limits.minimum_tasks))
        AsgScaling(
            self, "Scaling", environment.fleet, policy,
            group=machines.group, requests_label=self.balancer.resource_label,
            bulk_queue=base.bulk and base.bulk.queue.queue_name,
        )  # fmt: skip
        acknowledge(self, asg_reasons(environment))

    def _permissions(self) -> Statements:
        storage = self.base.storage
        keys = reads_secret(self.base.keys) if self.environment_values.needs_api_keys else []
        return [
            *reads_models(self.base.models_arn),
            *writes_metrics(),
            *pulls_images(storage.repository),
            *writes_logs(self.logs),
            *keys,
            *serves_sessions(),
            *speaks_for_its_instance(self.environment_values.groups),
            *self.bulk_permissions,
        ]

    def _user_data(self) -> str:
        variables = container_environment(
            self.environment_values,
            self.policy,
            proxies=self.balancer.proxies,
            bucket="${ModelBucket}",
            region="${AWS::Region}",
            bulk_queue="${BulkQueue}",
        )
        environment = self.environment_values
        script = asg_user_data(variables, self.policy.delays.stop_seconds, environment.needs_api_keys)
        if (size := len(script.encode())) > MOST_SCRIPT_BYTES:
            raise BadEnvironment(
                f"{environment.name}: {size} bytes of user data, of {MOST_SCRIPT_BYTES} without what is filled in: "
                "name fewer models"
            )
        return script

    def _filled_in(self) -> dict[str, str]:
        base = self.base
        keys = {"KeysSecret": base.keys.secret_arn} if self.environment_values.needs_api_keys else {}
        queue = {"BulkQueue": base.bulk.queue.queue_url} if base.bulk else {}
        return {
            "Image": self.image,
            "Fleet": self.environment_values.fleet,
            "LogGroup": self.logs.log_group_name,
            "ModelBucket": base.storage.models.bucket_name,
            **keys,
            **queue,
        }
