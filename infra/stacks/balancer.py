"""The load balancer: TLS, least outstanding requests, health checks every 5 s, timeouts longer than any request.

No slow start: AWS forbids it together with least outstanding requests, and a task is warm before it is ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.environments import Environment
from infra.scaling.oncall_alarms import FEWEST_REQUESTS
from infra.scaling.policy import Policy
from infra.stacks.cloudwatch_alarms import metric_query, result_query
from infra.stacks.container import INTERNAL_PORT, NAMESPACE, PORT
from service.signals.catalog import REQUESTS, SERVER_ERRORS, SERVICE_DIMENSION
from service.signals.routes import ALWAYS_PUBLIC, PUBLIC_ADAPTERS, PublicPaths

CHECK_SECONDS = 5
CHECK_TIMEOUT_SECONDS = 4
HEALTHY_AFTER = 2
UNHEALTHY_AFTER = 3


class Balancer(Construct):
    """One balancer with one listener and one target group."""

    routes: elb.ApplicationListenerRule
    """Rule that joins target group and balancer: a service must come after it."""
    proxies: tuple[str, ...]
    """The networks that the balancer's own addresses are in."""
    server_errors: cloudwatch.CfnAlarm
    too_few: cloudwatch.CfnAlarm

    def __init__(
        self,
        scope: Construct,
        name: str,
        environment: Environment,
        policy: Policy,
        *,
        vpc: ec2.Vpc,
        subnets: Sequence[ec2.Subnet],
        access_logs: s3.Bucket,
        target_type: elb.TargetType,
    ) -> None:
        super().__init__(scope, name)
        self.security_group = ec2.SecurityGroup(
            self, "SecurityGroup", vpc=vpc, allow_all_outbound=False, description="The balancer: HTTPS in, tasks out"
        )
        self.port = 443 if environment.certificate else 80
        for network in environment.allowed_networks:
            self.security_group.add_ingress_rule(ec2.Peer.ipv4(network), ec2.Port.tcp(self.port), "Callers")
        self.proxies = tuple(each.ipv4_cidr_block for each in subnets)
        self.balancer = self._balancer(environment, policy, vpc, subnets, access_logs)
        self.targets = self._targets(policy, vpc, target_type)
        self.listener = self.balancer.add_listener(
            "Https" if environment.certificate else "Http",
            port=self.port,
            open=False,
            default_action=elb.ListenerAction.fixed_response(404, content_type="text/plain", message_body="not found"),
            **_protocol(environment),
        )
        self.routes = self._hand_on("Routes", PublicPaths(ALWAYS_PUBLIC, posts_only=False), priority=1)
        # Fixed, since a rule is refused the priority of another that is still to be changed.
        for priority, (name, public) in enumerate(PUBLIC_ADAPTERS.items(), start=2):
            if name in environment.adapters:
                self._hand_on(f"Adapter{name.capitalize()}", public, priority=priority)

    def admit_to(self, targets: ec2.SecurityGroup, scrapers: Iterable[str]) -> None:
        """Allow traffic from the balancer to its targets, and to nothing else; scrapers come to the internal port."""
        port = ec2.Port.tcp(PORT)
        self.security_group.add_egress_rule(targets, port, "Requests and health checks")
        targets.add_ingress_rule(self.security_group, port, "From the balancer")
        for network in scrapers:
            targets.add_ingress_rule(ec2.Peer.ipv4(network), ec2.Port.tcp(INTERNAL_PORT), "Metrics, to scrapers")

    def alarms(self, environment: Environment, topic: sns.ITopic) -> None:
        """Make the alarms on the balancer's own metrics; `server_errors` also guards deployments."""
        self.too_few = too_few_healthy(self, environment, self.balancer, self.targets, topic.topic_arn)
        self.server_errors = server_errors(self, environment, self.balancer, topic.topic_arn)

    @property
    def resource_label(self) -> str:
        """Predictive scaling's label for the balancer's request count."""
        return f"{self.balancer.load_balancer_full_name}/{self.targets.target_group_full_name}"

    def _hand_on(self, name: str, public: PublicPaths, *, priority: int) -> elb.ApplicationListenerRule:
        conditions = [elb.ListenerCondition.path_patterns(list(public.paths))]
        if public.posts_only:
            conditions.append(elb.ListenerCondition.http_request_methods(["POST"]))
        return elb.ApplicationListenerRule(
            self,
            name,
            listener=self.listener,
            priority=priority,
            conditions=conditions,
            action=elb.ListenerAction.forward([self.targets]),
        )

    def _balancer(
        self,
        environment: Environment,
        policy: Policy,
        vpc: ec2.Vpc,
        subnets: Sequence[ec2.Subnet],
        access_logs: s3.Bucket,
    ) -> elb.ApplicationLoadBalancer:
        made = elb.ApplicationLoadBalancer(
            self,
            "Balancer",
            vpc=vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=subnets),
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

    def _targets(self, policy: Policy, vpc: ec2.Vpc, target_type: elb.TargetType) -> elb.ApplicationTargetGroup:
        return elb.ApplicationTargetGroup(
            self,
            "Targets",
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


def _protocol(environment: Environment) -> dict[str, Any]:
    """TLS; or, without a certificate, plain HTTP, which then stays inside the network."""
    if environment.certificate is None:
        return {"protocol": elb.ApplicationProtocol.HTTP}
    return {
        "protocol": elb.ApplicationProtocol.HTTPS,
        "certificates": [elb.ListenerCertificate.from_arn(environment.certificate)],
        "ssl_policy": elb.SslPolicy.TLS13_RES,
    }


TOO_FEW, ERRORS = "too-few-healthy", "server-errors"
BALANCER = "AWS/ApplicationELB"
MOST_ERRORS = 0.01
"""Most errors, as a share of the requests, or of `FEWEST_REQUESTS` if there are fewer: one of twenty calls nobody."""


def too_few_healthy(
    scope: Construct,
    environment: Environment,
    balancer: elb.ApplicationLoadBalancer,
    targets: elb.ApplicationTargetGroup,
    topic: str,
) -> cloudwatch.CfnAlarm:
    """Fewer healthy targets than the minimum for three minutes: the only trouble that the tasks cannot report."""
    dimensions = {"LoadBalancer": balancer.load_balancer_full_name, "TargetGroup": targets.target_group_full_name}
    healthy = metric_query("healthy0", BALANCER, "HealthyHostCount", dimensions, "Minimum")
    return _alarm(
        scope,
        "TooFewHealthy",
        topic,
        alarm_name=f"{environment.fleet}-{TOO_FEW}",
        alarm_description="Fewer tasks answer /readyz than the minimum. See the service's events.",
        metrics=[healthy, result_query("healthy", "SUM([healthy0])")],
        comparison_operator="LessThanThreshold",
        threshold=environment.limits.minimum_tasks,
        treat_missing_data="breaching" if environment.limits.minimum_tasks else "notBreaching",
    )


def server_errors(
    scope: Construct, environment: Environment, balancer: elb.ApplicationLoadBalancer, topic: str
) -> cloudwatch.CfnAlarm:
    """More than one answer in a hundred is an error of ours, in two minutes of three.

    The service counts its own: by status, refusals for load could not be told from them. The balancer's are those of
    connections that a task broke, or that no task took; then the service may count nothing at all.
    """
    whole, ours = {"LoadBalancer": balancer.load_balancer_full_name}, {SERVICE_DIMENSION: environment.fleet}
    parts = [
        metric_query("errors", NAMESPACE, SERVER_ERRORS.name, ours, "Sum"),
        metric_query("broken", BALANCER, "HTTPCode_ELB_5XX_Count", whole, "Sum"),
        metric_query("requests", NAMESPACE, REQUESTS.name, ours, "Sum"),
    ]
    several = f"IF(FILL(requests, 0) < {FEWEST_REQUESTS}, {FEWEST_REQUESTS}, FILL(requests, 0))"
    share = f"(FILL(errors, 0) + FILL(broken, 0)) / {several}"
    return _alarm(
        scope,
        "ServerErrors",
        topic,
        alarm_name=f"{environment.fleet}-{ERRORS}",
        alarm_description="More than 1 % of the requests fail by a fault of ours. See the tasks' logs.",
        metrics=[*parts, result_query("share", share)],
        datapoints_to_alarm=2,
        comparison_operator="GreaterThanThreshold",
        threshold=MOST_ERRORS,
        treat_missing_data="notBreaching",
    )


def _alarm(scope: Construct, name: str, topic: str, **properties: Any) -> cloudwatch.CfnAlarm:
    """Both look at three minutes, and tell the topic what has come and gone."""
    told = [topic]
    return cloudwatch.CfnAlarm(scope, name, evaluation_periods=3, alarm_actions=told, ok_actions=told, **properties)
