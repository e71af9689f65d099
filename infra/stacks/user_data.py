"""User data: an instance's boot script as shell text, with CloudFormation's `${…}` to be filled in later. Pure.

    first boot      folders, agent configured (ECS) or the container's unit written (no ECS); then a unit pulls the
                    image, before ECS's agent starts. The log is sent, well or not: a disk does not outlive its instance
    every boot      complete the launch hook: out of the warm pool an instance boots without running user data again
    every minute    do GPU, Docker and ECS's agent answer? A silent agent is restarted. An instance without one of them
                    says that it is unhealthy, and is replaced. Once an hour: for how many days has it run?
    on Spot         every five seconds: has the notice come? Then the task is told to end, which it has time for

Without the hook an instance of the warm pool would be stopped in the middle of its first boot. The boot script waits
for no unit: Docker and ECS's agent may be ordered after cloud-init, which waits for this script.
"""

from __future__ import annotations

from infra.instances import SPOT_LOOK_SECONDS
from infra.scaling.oncall_alarms import INSTANCE_DAYS
from infra.stacks.container import (
    CONTAINER,
    MODELS_INSIDE,
    MODELS_ON_HOST,
    NAMESPACE,
    SHARED_MEMORY_MIB,
    TEMPORARY,
    USER,
)
from service.signals.catalog import SERVICE_DIMENSION

HOOK = "ready"
MOST_SCRIPT_BYTES = 12_288
"""Bytes of a script before `${…}` is filled in; AWS refuses more than 16,384 afterwards."""
BOOT_LOG = "gleaner-boot-log"
IMAGE_UNIT = "gleaner-image"
READY_UNIT = "gleaner-instance-ready"
GPU_UNIT = "gleaner-gpu-watch"
SPOT_UNIT = "gleaner-spot-watch"
AGENT_FAILURES, GPU_FAILURES = 2, 3
"""Minutes in a row without an answer until ECS's agent is restarted, and until the instance is given up."""
ANSWER_SECONDS = 30
"""Seconds in which GPU and Docker answer."""
DRAIN_HOOK = "ecs-managed-draining-termination-hook"
"""ECS's own hook, which keeps an instance for up to 48 hours until its agent says that no task is left."""
DRAIN_MINUTES = 10
"""Minutes after which an instance that was given up completes that hook itself; the longest answer takes less."""
READY_TRIES = 30
"""Tries to complete the launch hook, ten seconds apart: the hook may not be there yet when the instance is."""

_METADATA = """metadata=http://169.254.169.254/latest
token=$(curl --silent --fail --request PUT $metadata/api/token --header 'X-aws-ec2-metadata-token-ttl-seconds: 60')
"""
_INSTANCE = f"""{_METADATA}instance=$(curl --silent --fail --header "X-aws-ec2-metadata-token: $token" \\
  $metadata/meta-data/instance-id)
"""


def _program(name: str, script: str) -> str:
    """Lines that install a program of the instance's own."""
    return f"""
cat > /usr/local/bin/{name} <<'SCRIPT'
#!/bin/bash
set -euo pipefail
{script}SCRIPT
chmod 0755 /usr/local/bin/{name}
"""


def _unit(name: str, text: str) -> str:
    return f"""cat > /etc/systemd/system/{name} <<'UNIT'
{text}UNIT
"""


def _start(*units: str) -> str:
    """The script's end: all units at once, since a container may lose its GPU where systemd reads its units anew."""
    names = " ".join(units)
    return f"""
systemctl daemon-reload
systemctl enable {names}
systemctl start --no-block {names}
"""


_HEAD = f"""#!/bin/bash
set -euo pipefail
trap '/usr/local/bin/{BOOT_LOG} || true' EXIT
"""

_LOG = _program(
    BOOT_LOG,
    f"""{_INSTANCE}tail --bytes 200000 /var/log/cloud-init-output.log | python3 -c 'import json, sys, time
text = sys.stdin.buffer.read().decode("utf-8", "replace") or "-"
print(json.dumps([{{"timestamp": int(time.time() * 1000), "message": text}}]))' > /run/gleaner-boot.json
where="--region ${{AWS::Region}} --log-group-name ${{LogGroup}} --log-stream-name boot/$instance"
aws logs create-log-stream $where || true
aws logs put-log-events $where --log-events file:///run/gleaner-boot.json
""",
)

_TOOLS = """
# The AWS CLI comes from the distribution's own repository, which is reached through the S3 endpoint.
command -v aws >/dev/null || dnf install --assumeyes --quiet awscli-2
"""

_FOLDERS = f"""
install -d -o {USER} -g {USER} -m 0750 {MODELS_ON_HOST}
"""

_IMAGE = _program(
    IMAGE_UNIT,
    f"""if docker image inspect ${{Image}} >/dev/null 2>&1; then exit 0; fi
exec >> /var/log/cloud-init-output.log 2>&1
trap '/usr/local/bin/{BOOT_LOG} || true' EXIT
for attempt in 1 2 3 4 5; do
  aws ecr get-login-password --region ${{AWS::Region}} \\
    | docker login --username AWS --password-stdin ${{AWS::AccountId}}.dkr.ecr.${{AWS::Region}}.${{AWS::URLSuffix}} \\
    && docker pull --quiet ${{Image}} && break
  sleep $((attempt * 3))
done
docker image inspect ${{Image}} >/dev/null
""",
) + _unit(
    f"{IMAGE_UNIT}.service",
    f"""[Unit]
Description=Pull the container image before ECS's agent starts
After=docker.service network-online.target
Before=ecs.service
Requires=docker.service
Wants=network-online.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/bin/{IMAGE_UNIT}
[Install]
WantedBy=multi-user.target
""",
)

_AGENT = """
cat >> /etc/ecs/ecs.config <<'CONFIG'
ECS_CLUSTER=${Cluster}
ECS_ENABLE_GPU_SUPPORT=true
ECS_AWSVPC_BLOCK_IMDS=true
ECS_WARM_POOLS_CHECK=true
ECS_ENABLE_SPOT_INSTANCE_DRAINING=true
ECS_IMAGE_PULL_BEHAVIOR=prefer-cached
ECS_CONTAINER_STOP_TIMEOUT=${StopSeconds}s
CONFIG
"""

_READY = _program(
    READY_UNIT,
    f"""{_INSTANCE}\
# An instance that was not launched into a hook has nothing to complete; one that was may be told so too early.
for _ in $(seq {READY_TRIES}); do
  if aws autoscaling complete-lifecycle-action --region ${{AWS::Region}} --auto-scaling-group-name ${{Group}} \\
    --lifecycle-hook-name {HOOK} --instance-id "$instance" --lifecycle-action-result CONTINUE; then exit 0; fi
  sleep 10
done
""",
) + _unit(
    f"{READY_UNIT}.service",
    f"""[Unit]
Description=Tell the Auto Scaling group that this instance has booted
After=network-online.target cloud-final.service {IMAGE_UNIT}.service
Requires={IMAGE_UNIT}.service
Wants=network-online.target
[Service]
Type=oneshot
ExecStart=/usr/local/bin/{READY_UNIT}
[Install]
WantedBy=multi-user.target
""",
)
"""Unit that completes the launch hook: the image is there, and cloud-final, with this script, has ended well or not."""

_WELL = "echo 0 > $failures; exit 0"
_AGENT_ANSWERS = f"""if curl --silent --fail --max-time 10 http://localhost:51678/v1/metadata >/dev/null; then
    {_WELL}
  fi
  # Tasks go on while their agent is restarted.
  [ $count -ne {AGENT_FAILURES} ] || systemctl restart --no-block ecs.service || true"""
_LET_GO = f"""# ECS waits for an agent that will not answer any more.
if [ $count -ge {GPU_FAILURES + DRAIN_MINUTES} ]; then
  aws autoscaling complete-lifecycle-action --region ${{AWS::Region}} --auto-scaling-group-name ${{Group}} \\
    --lifecycle-hook-name {DRAIN_HOOK} --instance-id "$instance" --lifecycle-action-result CONTINUE || true
fi
"""


def _watch(managed: bool) -> str:
    """Watch over the GPU and, where ECS manages the instance, its agent, without which no task starts or ends."""
    script = f"""\
# The timer's looks are a minute apart, so one of them is in the hour's first two; an hour may have two points.
if [ "$(date +%M)" -lt 2 ]; then
  aws cloudwatch put-metric-data --region ${{AWS::Region}} --namespace {NAMESPACE} --metric-name {INSTANCE_DAYS.name} \\
    --dimensions {SERVICE_DIMENSION}=${{Fleet}} --value $(($(cut -d. -f1 /proc/uptime) / 86400)) || true
fi
failures=/run/{GPU_UNIT}
count=$(($(cat $failures 2>/dev/null || echo 0) + 1))
# A process that hangs in the driver cannot be killed, and `timeout` would wait for its end.
answers() {{ read -t {ANSWER_SECONDS} -r < <("$@" >/dev/null && echo); }}
if answers nvidia-smi --query-gpu=uuid --format=csv,noheader && answers docker ps --quiet; then
  {_AGENT_ANSWERS if managed else _WELL}
fi
echo $count > $failures
[ $count -ge {GPU_FAILURES} ] || exit 0
{_INSTANCE}{_LET_GO if managed else ""}\
aws autoscaling set-instance-health --region ${{AWS::Region}} --instance-id "$instance" --health-status Unhealthy
"""
    service = f"""[Unit]
Description=Give this instance up when its GPU, Docker or ECS's agent no longer answers
After={IMAGE_UNIT}.service ecs.service
[Service]
Type=oneshot
ExecStart=/usr/local/bin/{GPU_UNIT}
"""
    timer = """[Unit]
Description=Ask them every minute
[Timer]
OnBootSec=5min
OnUnitInactiveSec=1min
[Install]
WantedBy=timers.target
"""
    return _program(GPU_UNIT, script) + _unit(f"{GPU_UNIT}.service", service) + _unit(f"{GPU_UNIT}.timer", timer)


_SPOT = _program(
    SPOT_UNIT,
    f"""while :; do
  {_METADATA.rstrip().replace(chr(10), chr(10) + "  ")}
  notice=$metadata/meta-data/spot/instance-action
  if curl --silent --fail --header "X-aws-ec2-metadata-token: $token" $notice; then break; fi
  sleep {SPOT_LOOK_SECONDS}
done
docker ps --quiet --filter label=com.amazonaws.ecs.container-name={CONTAINER} \\
  | xargs --no-run-if-empty docker stop --time ${{StopSeconds}}
""",
) + _unit(
    f"{SPOT_UNIT}.service",
    f"""[Unit]
Description=End the task as soon as Spot says that this instance goes
After=docker.service
[Service]
ExecStart=/usr/local/bin/{SPOT_UNIT}
Restart=on-failure
RestartSec={SPOT_LOOK_SECONDS}
[Install]
WantedBy=multi-user.target
""",
)
"""ECS drains such an instance, but at 100 % healthy it ends no task before another has come, which takes longer than
the notice. /readyz of a task that ends is red, so the balancer lets it go, and what it has is answered in time."""


def ecs_user_data(spot: bool = False) -> str:
    """Script for an instance of a cluster. To fill in: Cluster, Fleet, Group, Image, LogGroup, StopSeconds."""
    units = (f"{IMAGE_UNIT}.service", f"{GPU_UNIT}.timer", *([f"{SPOT_UNIT}.service"] if spot else []))
    watches = _watch(managed=True) + (_SPOT if spot else "")
    return (
        _HEAD + _LOG + _AGENT + _FOLDERS + _TOOLS + _IMAGE + watches + _READY + _start(*units, f"{READY_UNIT}.service")
    )


def asg_user_data(variables: dict[str, str], stop_seconds: int, needs_keys: bool) -> str:
    """Script for an instance that runs the container itself. To fill in: Fleet, Group, Image, LogGroup, KeysSecret, and
    the names of the variables.

    The container is on the host's network: behind a bridge, the hop limit of 1 would keep it from the instance's role.
    """
    parts = (_HEAD, _LOG, "systemctl disable --now ecs.service || true\n", _FOLDERS, _TOOLS, _IMAGE)
    services = _watch(managed=False) + _READY + _unit(f"{CONTAINER}.service", _container_unit(stop_seconds, needs_keys))
    units = (f"{IMAGE_UNIT}.service", f"{GPU_UNIT}.timer", f"{READY_UNIT}.service", f"{CONTAINER}.service")
    return "".join(parts) + _environment_file(variables) + services + _start(*units)


def _environment_file(variables: dict[str, str]) -> str:
    lines = "\n".join(f"{name}={value}" for name, value in variables.items())
    return f"\ninstall -d -m 0700 /etc/gleaner\ncat > /etc/gleaner/environment <<'VARIABLES'\n{lines}\nVARIABLES\n"


def _container_unit(stop_seconds: int, needs_keys: bool) -> str:
    """Docker's own restart policy would hide a service that ends again and again; systemd's log shows it.

    Not `--gpus`: a device that its hook adds is lost when systemd reads its units anew; the runtime's are not.
    """
    start = [
        "/usr/bin/docker run --rm --name gleaner --runtime nvidia --network host --read-only --init",
        f"--user {USER} --cap-drop ALL --security-opt no-new-privileges --shm-size {SHARED_MEMORY_MIB}m",
        *(f"--tmpfs {folder}:size={size}m" for folder, size in TEMPORARY.items()),
        f"--volume {MODELS_ON_HOST}:{MODELS_INSIDE}",
        "--env-file /etc/gleaner/environment",
        f"--stop-timeout {stop_seconds}",
        "--log-driver awslogs --log-opt awslogs-region=${AWS::Region} --log-opt awslogs-group=${LogGroup}",
        "${Image}",
    ]
    if needs_keys:
        start.insert(-1, "--volume /run/gleaner/keys:/run/keys:ro --env GLEANER_API_KEYS_FILE=/run/keys")
    command = " \\\n  ".join(start)
    keys = """ExecStartPre=/bin/bash -c 'install -d -m 0755 /run/gleaner && aws secretsmanager get-secret-value \\
  --region ${AWS::Region} --secret-id ${KeysSecret} --query SecretString --output text > /run/gleaner/keys'
"""
    return f"""[Unit]
Description=Gleaner
After=docker.service network-online.target {IMAGE_UNIT}.service
Requires=docker.service {IMAGE_UNIT}.service
[Service]
Restart=always
RestartSec=2
TimeoutStopSec={stop_seconds + 10}
{keys if needs_keys else ""}ExecStart={command}
ExecStop=/usr/bin/docker stop gleaner
[Install]
WantedBy=multi-user.target
"""
