"""What Image Builder does to make a machine image, as the text of its component: shell scripts by phase. Pure.

    build     the AWS CLI and the container image, which a parameter names; then what this one instance has written
              goes: the registry's token, and the agent's memory of a cluster
    validate  the image is in Docker's store
    test      on an instance that was started from the finished machine image: Docker runs, and has it

Models are not baked in: they move on their own (`GLEANER_MODEL_REMOTE`), and a stale one would only be fetched anew.
"""

from __future__ import annotations

import json
import zlib

SCHEMA = "1.0"
_STRICT = "set -euo pipefail\n"
_IMAGE = (
    "image=$(aws ssm get-parameter --region ${AWS::Region} --name ${WantedContainer}"
    " --query Parameter.Value --output text)\n"
)

_TOOLS = """\
# From the distribution's own repository, which is reached through the S3 endpoint.
command -v aws >/dev/null || dnf install --assumeyes --quiet awscli-2
"""

_PULL = """\
systemctl start docker
registry=${AWS::AccountId}.dkr.ecr.${AWS::Region}.${AWS::URLSuffix}
aws ecr get-login-password --region ${AWS::Region} | docker login --username AWS --password-stdin "$registry"
docker pull --quiet "$image"
docker logout "$registry"
"""

_FORGET = """\
# The agent started with this instance and may have tried to join a cluster; its copy would take itself for this one.
systemctl stop ecs || true
rm -rf /var/lib/ecs/data /var/log/ecs /root/.docker/config.json
"""

_THERE = """\
systemctl is-active --quiet docker || systemctl start docker
docker image inspect "$image" >/dev/null
"""

STEPS = {
    "build": {"Tools": _TOOLS, "Pull": _IMAGE + _PULL, "Forget": _FORGET},
    "validate": {"ImageIsThere": _IMAGE + _THERE},
    "test": {"ImageIsThere": _IMAGE + _THERE},
}


def document() -> str:
    """The component's document, JSON being YAML too. To fill in: WantedContainer."""
    phases = [
        {"name": phase, "steps": [_step(name, script) for name, script in steps.items()]}
        for phase, steps in STEPS.items()
    ]
    return json.dumps({"name": "container-image", "schemaVersion": SCHEMA, "phases": phases}, indent=1)


def version_of(*contents: str) -> str:
    """A version that follows the content: components and recipes never change, they are replaced under another version.

    Its last part is below Image Builder's limit of 2³⁰.
    """
    return f"1.0.{zlib.crc32(chr(0).join(contents).encode()) % 2**30}"


def _step(name: str, script: str) -> dict[str, object]:
    return {"name": name, "action": "ExecuteBash", "inputs": {"commands": [_STRICT + script]}}
