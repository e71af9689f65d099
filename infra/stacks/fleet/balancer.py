"""The load balancer: TLS, least outstanding requests, health checks every 5 s, timeouts longer than any request.

No slow start: AWS forbids it together with least outstanding requests, and a task is warm before it is ready.
"""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.environments import Environment
from infra.scaling.policy import Policy
from infra.stacks.container import INTERNAL_PORT, PORT
from infra.stacks.fleet.balancer_alarms import server_errors, too_few_healthy
from service.signals.routes import ALWAYS_PUBLIC, PUBLIC_ADAPTERS, PublicPaths

CHECK_SECONDS = 5
CHECK_TIMEOUT_SECONDS = 4
HEALTHY_AFTER = 2
UNHEALTHY_AFTER = 3


class Balancer(Construct):
    """One balancer with one listener, and one target group, or two between which releases are moved."""

    routes: elb.ApplicationListenerRule
    """What joins target group and balancer: a service must come after it."""
    proxies: tuple[str, ...]
    """The networks that the balancer's own addresses are in."""
    alternate: elb.ApplicationTargetGroup | None
    """The second target group, which is empty but for a release that is moved to it."""
    server_errors: cloudwatch.CfnAlarm

    def __init__(
        self,
        scope: Construct,
        name: str,
        environment: Environment,
        policy: Policy,
        *,
        vpc: ec2.Vpc,
        access_logs: s3.Bucket,
        target_type: elb.TargetType,
    ) -> None:
        super().__init__(scope, name)
        self.security_group = ec2.SecurityGroup(
            self, "Doors", vpc=vpc, allow_all_outbound=False, description="The balancer: HTTPS in, tasks out"
        )
        for network in environment.allowed_networks:
            self.security_group.add_ingress_rule(ec2.Peer.ipv4(network), ec2.Port.tcp(443), "HTTPS")
        kind = ec2.SubnetType.PUBLIC if environment.public else ec2.SubnetType.PRIVATE_ISOLATED
        subnets = ec2.SubnetSelection(subnet_type=kind)
        self.proxies = tuple(each.ipv4_cidr_block for each in vpc.select_subnets(subnet_type=kind).subnets)
        self.balancer = self._balancer(environment, policy, vpc, subnets, access_logs)
        self.targets = self._targets("Targets", policy, vpc, target_type)
        gradual = environment.release.gradual
        self.alternate = self._targets("Alternate", policy, vpc, target_type) if gradual else None
        self.listener = self.balancer.add_listener(
            "Https",
            port=443,
            protocol=elb.ApplicationProtocol.HTTPS,
            certificates=[elb.ListenerCertificate.from_arn(environment.certificate)],
            ssl_policy=elb.SslPolicy.TLS13_RES,
            open=False,
            default_action=elb.ListenerAction.fixed_response(404, content_type="text/plain", message_body="not found"),
        )
        self.routes = self._hand_on("Routes", PublicPaths(ALWAYS_PUBLIC, posts_only=False), priority=1)
        for number, name in enumerate(environment.adapters):
            # "Door" stays: another logical id would be a second rule of the same priority for the time of an update.
            self._hand_on(f"Door{name.capitalize()}", PUBLIC_ADAPTERS[name], priority=2 + number)

    def admit_to(self, targets: ec2.SecurityGroup, scrapers: Iterable[str]) -> None:
        """Allow traffic from the balancer to its targets, and to nothing else; scrapers come to the internal port."""
        port = ec2.Port.tcp(PORT)
        self.security_group.add_egress_rule(targets, port, "Requests and health checks")
        targets.add_ingress_rule(self.security_group, port, "From the balancer")
        for network in scrapers:
            targets.add_ingress_rule(ec2.Peer.ipv4(network), ec2.Port.tcp(INTERNAL_PORT), "Metrics, to scrapers")

    def alarms(self, environment: Environment, topic: sns.ITopic) -> None:
        """What only the balancer sees; `server_errors` also guards deployments."""
        too_few_healthy(self, environment, self.balancer, self.groups, topic.topic_arn)
        self.server_errors = server_errors(self, environment, self.balancer, topic.topic_arn)

    @property
    def groups(self) -> list[elb.ApplicationTargetGroup]:
        """All target groups; the first has the tasks of the first release."""
        return [self.targets, *([self.alternate] if self.alternate else [])]

    @property
    def resource_label(self) -> str:
        """Predictive scaling's label for the balancer's request count."""
        return f"{self.balancer.load_balancer_full_name}/{self.targets.target_group_full_name}"

    def _hand_on(self, name: str, public: PublicPaths, *, priority: int) -> elb.ApplicationListenerRule:
        conditions = [elb.ListenerCondition.path_patterns(list(public.paths))]
        if public.posts_only:
            conditions.append(elb.ListenerCondition.http_request_methods(["POST"]))
        return elb.ApplicationListenerRule(
            self, name, listener=self.listener, priority=priority, conditions=conditions, action=self._forward()
        )

    def _forward(self) -> elb.ListenerAction:
        """All to the first group. With two of them ECS changes the weights; no template may (`infra/traffic.py`)."""
        if self.alternate is None:
            return elb.ListenerAction.forward([self.targets])
        weights = ((self.targets, 100), (self.alternate, 0))
        return elb.ListenerAction.weighted_forward(
            [elb.WeightedTargetGroup(target_group=group, weight=weight) for group, weight in weights]
        )

    def _balancer(
        self,
        environment: Environment,
        policy: Policy,
        vpc: ec2.Vpc,
        subnets: ec2.SubnetSelection,
        access_logs: s3.Bucket,
    ) -> elb.ApplicationLoadBalancer:
        made = elb.ApplicationLoadBalancer(
            self,
            "Balancer",
            vpc=vpc,
            vpc_subnets=subnets,
            internet_facing=environment.public,
            security_group=self.security_group,
            idle_timeout=Duration.seconds(policy.delays.idle_seconds),
            drop_invalid_header_fields=True,
            desync_mitigation_mode=elb.DesyncMitigationMode.DEFENSIVE,
            deletion_protection=False,
        )
        # `log_access_logs` wants to know the region; the stacks stay free of one.
        made.set_attribute("access_logs.s3.enabled", "true")
        made.set_attribute("access_logs.s3.bucket", access_logs.bucket_name)
        made.set_attribute("access_logs.s3.prefix", "balancer")
        return made

    def _targets(
        self, name: str, policy: Policy, vpc: ec2.Vpc, target_type: elb.TargetType
    ) -> elb.ApplicationTargetGroup:
        return elb.ApplicationTargetGroup(
            self,
            name,
            vpc=vpc,
            port=PORT,
            protocol=elb.ApplicationProtocol.HTTP,
            target_type=target_type,
            load_balancing_algorithm_type=elb.TargetGroupLoadBalancingAlgorithmType.LEAST_OUTSTANDING_REQUESTS,
            deregistration_delay=Duration.seconds(policy.delays.deregistration_seconds),
            health_check=elb.HealthCheck(
                path="/readyz",
                interval=Duration.seconds(CHECK_SECONDS),
                timeout=Duration.seconds(CHECK_TIMEOUT_SECONDS),
                healthy_threshold_count=HEALTHY_AFTER,
                unhealthy_threshold_count=UNHEALTHY_AFTER,
                healthy_http_codes="200",
            ),
        )


def stack_region(scope: Construct) -> str:
    """The region that the stack is deployed to, known only then."""
    return str(Stack.of(scope).region)
