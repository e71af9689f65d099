"""User data: an instance's boot script as shell text, with CloudFormation's `${…}` to be filled in later. Pure.

    first boot      folders, image pulled, agent configured (ECS) or the container's unit written (no ECS); its log is
                    sent, well or not, since a disk does not outlive its instance
    every boot      complete the launch hook: out of the warm pool an instance boots without running user data again
    every minute    does the GPU answer? An instance whose GPU is lost says that it is unhealthy, and is replaced

Without the hook an instance of the warm pool would be stopped in the middle of its first boot.
"""

from __future__ import annotations

from infra.stacks.container import MODELS_INSIDE, MODELS_ON_HOST, SHARED_MEMORY_MIB, TEMPORARY, USER

HOOK = "ready"
READY_UNIT = "gleaner-instance-ready"

GPU_UNIT = "gleaner-gpu-watch"
GPU_FAILURES = 3
"""Minutes in a row without an answer of the GPU until the instance is given up."""
READY_TRIES = 30
"""To complete the launch hook, ten seconds apart: the hook may not be there yet when the instance is."""

_HEAD = """#!/bin/bash
set -euo pipefail
"""

_LOG = """
send_log() {
  metadata=http://169.254.169.254/latest
  token=$(curl --silent --fail --request PUT $metadata/api/token --header 'X-aws-ec2-metadata-token-ttl-seconds: 60')
  stream=boot/$(curl --silent --fail --header "X-aws-ec2-metadata-token: $token" $metadata/meta-data/instance-id)
  tail --bytes 200000 /var/log/cloud-init-output.log | python3 -c 'import json, sys, time
text = sys.stdin.buffer.read().decode("utf-8", "replace") or "-"
print(json.dumps([{"timestamp": int(time.time() * 1000), "message": text}]))' > /run/gleaner-boot.json
  aws logs create-log-stream --region ${AWS::Region} --log-group-name ${LogGroup} --log-stream-name "$stream" || true
  aws logs put-log-events --region ${AWS::Region} --log-group-name ${LogGroup} --log-stream-name "$stream" \\
    --log-events file:///run/gleaner-boot.json
}
trap 'send_log || true' EXIT
"""

_TOOLS = """
# The AWS CLI comes from the distribution's own repository, which is reached through the S3 endpoint.
command -v aws >/dev/null || dnf install --assumeyes --quiet awscli-2
"""

_FOLDERS = f"""
install -d -o {USER} -g {USER} -m 0750 {MODELS_ON_HOST}
"""

_PULL = """
systemctl start docker
for attempt in 1 2 3 4 5; do
  aws ecr get-login-password --region ${AWS::Region} \\
    | docker login --username AWS --password-stdin ${AWS::AccountId}.dkr.ecr.${AWS::Region}.${AWS::URLSuffix} \\
    && docker pull --quiet ${Image} && break
  sleep $((attempt * 3))
done
docker image inspect ${Image} >/dev/null
"""

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

_READY = f"""
cat > /usr/local/bin/{READY_UNIT} <<'SCRIPT'
#!/bin/bash
set -euo pipefail
metadata=http://169.254.169.254/latest
token=$(curl --silent --fail --request PUT $metadata/api/token --header 'X-aws-ec2-metadata-token-ttl-seconds: 60')
instance=$(curl --silent --fail --header "X-aws-ec2-metadata-token: $token" $metadata/meta-data/instance-id)
# An instance that was not launched into a hook has nothing to complete; one that was may be told so too early.
for _ in $(seq {READY_TRIES}); do
  if aws autoscaling complete-lifecycle-action --region ${{AWS::Region}} --auto-scaling-group-name ${{Group}} \\
    --lifecycle-hook-name {HOOK} --instance-id "$instance" --lifecycle-action-result CONTINUE; then exit 0; fi
  sleep 10
done
SCRIPT
chmod 0755 /usr/local/bin/{READY_UNIT}
cat > /etc/systemd/system/{READY_UNIT}.service <<'UNIT'
[Unit]
Description=Tell the Auto Scaling group that this instance has booted
After=network-online.target cloud-final.service
Wants=network-online.target
[Service]
Type=oneshot
ExecStart=/usr/local/bin/{READY_UNIT}
[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable {READY_UNIT}.service
systemctl start --no-block {READY_UNIT}.service
"""
"""After cloud-final: on the first boot that is when this very script has ended, and well."""


_GPU = f"""
cat > /usr/local/bin/{GPU_UNIT} <<'SCRIPT'
#!/bin/bash
set -euo pipefail
failures=/run/{GPU_UNIT}
if timeout 30 nvidia-smi --query-gpu=uuid --format=csv,noheader >/dev/null; then echo 0 > $failures; exit 0; fi
count=$(($(cat $failures 2>/dev/null || echo 0) + 1))
echo $count > $failures
[ $count -ge {GPU_FAILURES} ] || exit 0
metadata=http://169.254.169.254/latest
token=$(curl --silent --fail --request PUT $metadata/api/token --header 'X-aws-ec2-metadata-token-ttl-seconds: 60')
instance=$(curl --silent --fail --header "X-aws-ec2-metadata-token: $token" $metadata/meta-data/instance-id)
aws autoscaling set-instance-health --region ${{AWS::Region}} --instance-id "$instance" --health-status Unhealthy
SCRIPT
chmod 0755 /usr/local/bin/{GPU_UNIT}
cat > /etc/systemd/system/{GPU_UNIT}.service <<'UNIT'
[Unit]
Description=Give this instance up when its GPU no longer answers
[Service]
Type=oneshot
ExecStart=/usr/local/bin/{GPU_UNIT}
UNIT
cat > /etc/systemd/system/{GPU_UNIT}.timer <<'UNIT'
[Unit]
Description=Ask the GPU every minute
[Timer]
OnBootSec=5min
OnUnitInactiveSec=1min
[Install]
WantedBy=timers.target
UNIT
systemctl daemon-reload
systemctl enable --now {GPU_UNIT}.timer
"""


def ecs_user_data() -> str:
    """For an instance of a cluster. To fill in: Cluster, Group, Image, LogGroup, StopSeconds."""
    return _HEAD + _LOG + _AGENT + _FOLDERS + _TOOLS + _PULL + _GPU + _READY


def asg_user_data(variables: dict[str, str], stop_seconds: int, needs_keys: bool) -> str:
    """For an instance that runs the container itself. To fill in: Group, Image, LogGroup, KeysSecret.

    The container is on the host's network: behind a bridge, the hop limit of 1 would keep it from the instance's role.
    """
    parts = (_HEAD, _LOG, "systemctl disable --now ecs.service || true\n", _FOLDERS, _TOOLS, _PULL)
    return "".join(parts) + _environment_file(variables) + _unit(stop_seconds, needs_keys) + _GPU + _READY


def _environment_file(variables: dict[str, str]) -> str:
    lines = "\n".join(f"{name}={value}" for name, value in variables.items())
    return f"\ninstall -d -m 0700 /etc/gleaner\ncat > /etc/gleaner/environment <<'VARIABLES'\n{lines}\nVARIABLES\n"


def _unit(stop_seconds: int, needs_keys: bool) -> str:
    """Docker's own restart policy would hide a service that ends again and again; systemd's log shows it."""
    start = [
        "/usr/bin/docker run --rm --name gleaner --gpus all --network host --read-only --init",
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
    return f"""
cat > /etc/systemd/system/gleaner.service <<'UNIT'
[Unit]
Description=Gleaner
After=docker.service network-online.target
Requires=docker.service
[Service]
Restart=always
RestartSec=2
TimeoutStopSec={stop_seconds + 10}
{keys if needs_keys else ""}ExecStart={command}
ExecStop=/usr/bin/docker stop gleaner
[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable gleaner.service
systemctl start --no-block gleaner.service
"""
