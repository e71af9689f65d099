"""The fleet on ECS: cluster, capacity providers, task, service with circuit breaker, scaling.

An instance has one GPU and a task needs one, so a task has an instance of its own; a deployment therefore needs a spare
instance, hence 100 to 150 %. The fleet's minimum is on-demand in any case; Spot, if at all, comes above it, in a group
of its own. That group and its provider are there without Spot too, empty: a provider that a service has used cannot be
taken away from the cluster by the deployment that ends this.
"""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.environments import FAILED_TASKS_TO_ROLL_BACK, Environment, Purchase
from infra.fleet_scaling import SPOT_WEIGHT, on_demand_weight
from infra.scaling.oncall_alarms import rollback_alarms, tasks_missing
from infra.scaling.policy import Policy
from infra.stacks.acknowledged import acknowledge, ecs_reasons
from infra.stacks.base import BaseStack
from infra.stacks.container import (
    CONTAINER,
    INTERNAL_PORT,
    MODELS_INSIDE,
    MODELS_ON_HOST,
    PORT,
    SHARED_MEMORY_MIB,
    TEMPORARY,
    USER,
    container_environment,
)
from infra.stacks.fleet import Fleet
from infra.stacks.machines import GroupSpec, Machines
from infra.stacks.roles import (
    joins_cluster,
    pulls_images,
    reads_models,
    reads_secret,
    role,
    serves_sessions,
    speaks_for_its_instance,
    writes_logs,
    writes_metrics,
)
from infra.stacks.scaling import EcsScaling
from infra.stacks.user_data import ecs_user_data

MINIMUM_HEALTHY_PERCENT = 100
"""Percent of tasks in a deployment, on Spot too: instances watch for their notice, as ECS would be too slow."""
INSTANCE_WARMUP_SECONDS = 90
"""Seconds from a launch to a registered agent, in which ECS asks for no more instances; a task's start takes longer."""
CONTAINER_START_SECONDS = 300
"""The longest start period that ECS allows a container's health check."""


class EcsFleet(Fleet):
    """A service of GPU tasks behind the balancer."""

    def __init__(self, scope: Construct, environment: Environment, policy: Policy, base: BaseStack) -> None:
        super().__init__(scope, environment, policy, base, elb.TargetType.IP)
        self._fleet = environment.fleet
        self._tasks_group = self.closed_group("TaskSecurityGroup", "Tasks: from the balancer to AWS endpoints")
        self._instances_group = self.closed_group("InstanceSecurityGroup", "Instances: nobody comes in")
        if self.balancer.port != 443:
            # Who tries it out asks through a session on an instance.
            self._instances_group.add_egress_rule(
                ec2.Peer.ipv4(environment.network), ec2.Port.tcp(self.balancer.port), "The balancer"
            )
        self.balancer.admit_to(self._tasks_group, self.scrapers)
        self.cluster = ecs.CfnCluster(
            self,
            "Cluster",
            cluster_name=self._fleet,
            cluster_settings=[ecs.CfnCluster.ClusterSettingsProperty(name="containerInsights", value="enhanced")],
        )
        providers = self._providers()
        self.service = self._service(self._task(), providers)
        EcsScaling(
            self, "Scaling", self._fleet, policy,
            service=self.service, cluster=self._fleet, requests_label=self.balancer.resource_label,
            bulk_queue=base.bulk and base.bulk.queue.queue_name,
        )  # fmt: skip
        self.watch(tasks_missing(self._fleet, self._fleet, environment.limits.minimum_tasks))
        acknowledge(self, ecs_reasons(environment))

    def _providers(self) -> ecs.CfnClusterCapacityProviderAssociations:
        environment = self.environment_values
        instances = role(
            self,
            "InstanceRole",
            "ec2.amazonaws.com",
            [
                *joins_cluster(self.cluster.attr_arn),
                *pulls_images(self.base.storage.repository),
                *serves_sessions(),
                *writes_logs(self.logs),
                *speaks_for_its_instance(environment.groups),
                *writes_metrics(),
            ],
        )
        on_demand_group, spot_group = environment.groups
        on_demand = self._provider("OnDemand", on_demand_group, instances, Purchase.ON_DEMAND)
        spot = self._provider("Spot", spot_group, instances, Purchase.SPOT)
        fewest, share = environment.limits.minimum_tasks, SPOT_WEIGHT if environment.above_base is Purchase.SPOT else 0
        self._strategy = [
            self._share(on_demand, base=fewest, weight=on_demand_weight(environment)),
            self._share(spot, base=0, weight=share),
        ]
        return ecs.CfnClusterCapacityProviderAssociations(
            self,
            "Providers",
            cluster=self.cluster.ref,
            capacity_providers=[on_demand.ref, spot.ref],
            default_capacity_provider_strategy=[],
        )

    def _provider(self, name: str, group_name: str, instances: iam.Role, purchase: Purchase) -> ecs.CfnCapacityProvider:
        environment, limits = self.environment_values, self.environment_values.limits
        spot = purchase is Purchase.SPOT
        unused = spot and environment.above_base is not Purchase.SPOT
        machines = Machines(
            self,
            f"{name}Machines",
            GroupSpec(
                name=group_name,
                environment=environment.name,
                instance_types=environment.instance_types,
                purchase=purchase,
                minimum=0 if spot else limits.minimum_tasks,
                maximum=environment.instances_for(limits.maximum_tasks),
                warm_pool=0 if spot else environment.warm_pool,
                volume_gib=environment.volume_gib,
                scale_in_protection=True,
                launch_errors_to=self.base.topic.topic_arn,
            ),
            subnets=self.base.network.private,
            image_id=self.machine_image,
            role=instances,
            security_group=self._instances_group,
            user_data=ecs_user_data(spot=spot),
            filled_in={
                "Cluster": self.cluster.ref,
                "Fleet": self._fleet,
                "LogGroup": self.logs.log_group_name,
                "Image": self.image,
                "StopSeconds": str(self.policy.delays.stop_seconds),
            },
        )
        return ecs.CfnCapacityProvider(
            self,
            f"{name}Provider",
            auto_scaling_group_provider=ecs.CfnCapacityProvider.AutoScalingGroupProviderProperty(
                auto_scaling_group_arn=machines.group.ref,
                managed_termination_protection="ENABLED",
                managed_draining="ENABLED",
                managed_scaling=ecs.CfnCapacityProvider.ManagedScalingProperty(
                    status="ENABLED",
                    # Below 100 an instance runs even where no task asks for one.
                    target_capacity=100 if unused else 100 - environment.spare_percent,
                    minimum_scaling_step_size=1,
                    maximum_scaling_step_size=limits.maximum_tasks,
                    instance_warmup_period=INSTANCE_WARMUP_SECONDS,
                ),
            ),
        )

    def _share(
        self, provider: ecs.CfnCapacityProvider, base: int, weight: int
    ) -> ecs.CfnService.CapacityProviderStrategyItemProperty:
        return ecs.CfnService.CapacityProviderStrategyItemProperty(
            capacity_provider=provider.ref, base=base, weight=weight
        )

    def _task(self) -> ecs.CfnTaskDefinition:
        Task = ecs.CfnTaskDefinition  # noqa: N806
        storage = self.base.storage
        keys = self.environment_values.needs_api_keys
        execution = [*pulls_images(storage.repository), *writes_logs(self.logs)]
        execution += reads_secret(self.base.keys) if keys else []
        may = [*reads_models(self.base.models_arn), *writes_metrics(), *self.bulk_permissions]
        task_role = role(self, "TaskRole", "ecs-tasks.amazonaws.com", may)
        return Task(
            self,
            "Task",
            family=self._fleet,
            network_mode="awsvpc",
            requires_compatibilities=["EC2"],
            task_role_arn=task_role.role_arn,
            execution_role_arn=role(self, "ExecutionRole", "ecs-tasks.amazonaws.com", execution).role_arn,
            volumes=[
                Task.VolumeProperty(name="models", host=Task.HostVolumePropertiesProperty(source_path=MODELS_ON_HOST))
            ],
            container_definitions=[self._container(keys)],
        )

    def _container(self, keys: bool) -> ecs.CfnTaskDefinition.ContainerDefinitionProperty:
        Task = ecs.CfnTaskDefinition  # noqa: N806
        bucket = self.base.storage.models.bucket_name
        variables = container_environment(
            self.environment_values, self.policy,
            proxies=self.balancer.proxies, bucket=bucket, region=self.region,
            bulk_queue=self.base.bulk and self.base.bulk.queue.queue_url,
        )  # fmt: skip
        return Task.ContainerDefinitionProperty(
            name=CONTAINER,
            image=self.image,
            essential=True,
            memory=self.environment_values.task_memory_mib,
            user=str(USER),
            readonly_root_filesystem=True,
            docker_security_options=["no-new-privileges"],
            stop_timeout=self.policy.delays.stop_seconds,
            resource_requirements=[Task.ResourceRequirementProperty(type="GPU", value="1")],
            port_mappings=[
                Task.PortMappingProperty(container_port=port, protocol="tcp") for port in (PORT, INTERNAL_PORT)
            ],
            environment=[
                Task.KeyValuePairProperty(name=name, value=value) for name, value in sorted(variables.items())
            ],
            secrets=[Task.SecretProperty(name="GLEANER_API_KEYS", value_from=self.base.keys.secret_arn)]
            if keys
            else None,
            mount_points=[
                Task.MountPointProperty(source_volume="models", container_path=MODELS_INSIDE, read_only=False)
            ],
            linux_parameters=Task.LinuxParametersProperty(
                init_process_enabled=True,
                shared_memory_size=SHARED_MEMORY_MIB,
                capabilities=Task.KernelCapabilitiesProperty(drop=["ALL"]),
                tmpfs=[Task.TmpfsProperty(container_path=path, size=size) for path, size in TEMPORARY.items()],
            ),
            health_check=Task.HealthCheckProperty(
                command=["CMD", "gleaner", "healthcheck", "--seconds", "4"],
                interval=10,
                timeout=5,
                retries=3,
                start_period=CONTAINER_START_SECONDS,
            ),
            log_configuration=Task.LogConfigurationProperty(
                log_driver="awslogs",
                options={
                    "awslogs-group": self.logs.log_group_name,
                    "awslogs-region": self.region,
                    "awslogs-stream-prefix": "task",
                    "mode": "non-blocking",
                    "max-buffer-size": "16m",
                },
            ),
        )

    def _service(
        self, task: ecs.CfnTaskDefinition, providers: ecs.CfnClusterCapacityProviderAssociations
    ) -> ecs.CfnService:
        Service = ecs.CfnService  # noqa: N806
        guards = [*(self.alarms[name] for name in rollback_alarms(self.policy)), self.balancer.server_errors]
        service = Service(
            self,
            "Service",
            service_name=self._fleet,
            cluster=self.cluster.ref,
            task_definition=task.ref,
            # Each release sets a number that is named; where none is, ECS begins with one task.
            desired_count=None if self.environment_values.limits.minimum_tasks else 0,
            # Not the cluster's default, which a service takes when it is created and never again.
            capacity_provider_strategy=self._strategy,
            # To move a task between zones takes a free instance: without spare ones each move buys one for a while.
            availability_zone_rebalancing="ENABLED" if self.environment_values.spare_percent else "DISABLED",
            enable_ecs_managed_tags=True,
            propagate_tags="SERVICE",
            # A task must fetch and warm its models before it can answer the balancer.
            health_check_grace_period_seconds=self.policy.delays.ready_seconds,
            deployment_configuration=Service.DeploymentConfigurationProperty(
                minimum_healthy_percent=MINIMUM_HEALTHY_PERCENT,
                maximum_percent=self.environment_values.maximum_percent,
                deployment_circuit_breaker=Service.DeploymentCircuitBreakerProperty(
                    enable=True,
                    rollback=True,
                    threshold_configuration=Service.ThresholdConfigurationProperty(
                        type="COUNT", value=FAILED_TASKS_TO_ROLL_BACK
                    ),
                ),
                alarms=Service.DeploymentAlarmsProperty(
                    alarm_names=[str(each.alarm_name) for each in guards], enable=True, rollback=True
                ),
                strategy="ROLLING",
            ),
            placement_constraints=[Service.PlacementConstraintProperty(type="distinctInstance")],
            placement_strategies=[
                Service.PlacementStrategyProperty(type="spread", field="attribute:ecs.availability-zone")
            ],
            load_balancers=[
                Service.LoadBalancerProperty(
                    container_name=CONTAINER,
                    container_port=PORT,
                    target_group_arn=self.balancer.targets.target_group_arn,
                )
            ],
            network_configuration=Service.NetworkConfigurationProperty(
                awsvpc_configuration=Service.AwsVpcConfigurationProperty(
                    assign_public_ip="DISABLED",
                    security_groups=[self._tasks_group.security_group_id],
                    subnets=[subnet.subnet_id for subnet in self.base.network.private],
                )
            ),
        )
        for each in (providers, *guards, self.balancer.routes):
            service.node.add_dependency(each)
        return service
