"""Rules on the pipeline of machine images: what would fail half an hour into a build, or in the fleet afterwards. Pure.

recipe    starts from AWS's newest GPU image; an encrypted disk
component a version that follows its content; pulls the wanted image, looks for it in the finished machine image, and
          forgets the instance it was made on
building  IMDSv2; ends when it fails, and says so; writes where Image Builder's own role may write
result    noted in a parameter that Image Builder's own role may write, as an image's id
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from infra.environments import GPU_IMAGE
from infra.stacks.machine_image import version_of
from infra.stacks.template import Finding, Template, of

OWN_PARAMETERS, OWN_LOGS = "/imagebuilder/", "/aws/imagebuilder/"
"""What the service-linked role of Image Builder may write."""
LONGEST_DOCUMENT = 16_000


def recipes(template: Template) -> Iterator[Finding]:
    """An image's id grows old without anybody's noticing; a parameter names the newest at every build."""
    for name, recipe in of(template, "AWS::ImageBuilder::ImageRecipe"):
        if recipe["ParentImage"] != f"ssm:{GPU_IMAGE}":
            yield name, f"starts from {recipe['ParentImage']}, not from AWS's newest GPU image"
        if not all(disk["Ebs"].get("Encrypted") for disk in recipe.get("BlockDeviceMappings", [{"Ebs": {}}])):
            yield name, "has a disk that is not encrypted"


def components(template: Template) -> Iterator[Finding]:
    """A component never changes: under a version that is taken, another content is refused."""
    for name, component in of(template, "AWS::ImageBuilder::Component"):
        text, filled_in = component["Data"]["Fn::Sub"]
        if component["Version"] != version_of(text, filled_in["WantedContainer"]):
            yield name, f"has another content than version {component['Version']}"
        if len(text.encode()) > LONGEST_DOCUMENT:
            yield name, f"has {len(text.encode())} bytes, of {LONGEST_DOCUMENT}"
        told = scripts(text)
        for phase, needed, lack in (
            ("build", "docker pull", "pulls no image"),
            ("build", "docker logout", "leaves the registry's token in the machine image"),
            ("build", "/var/lib/ecs/data", "leaves the agent's memory in the machine image"),
            ("test", "docker image inspect", "does not look whether the machine image has the image"),
        ):
            if needed not in told.get(phase, ""):
                yield name, lack
        for step in _steps(text):
            if not all(each.startswith("set -euo pipefail") for each in step["inputs"]["commands"]):
                yield name, f"goes on after a command of {step['name']} that failed"


def building(template: Template) -> Iterator[Finding]:
    """An instance that nobody looks at."""
    for name, each in of(template, "AWS::ImageBuilder::InfrastructureConfiguration"):
        metadata = each.get("InstanceMetadataOptions", {})
        if metadata.get("HttpTokens") != "required" or metadata.get("HttpPutResponseHopLimit") != 1:
            yield name, "does not insist on IMDSv2 within one hop"
        if not each.get("TerminateInstanceOnFailure"):
            yield name, "leaves its instance running when a build fails"
        if not each.get("SnsTopicArn"):
            yield name, "tells nobody when a build fails"
    for name, group in of(template, "AWS::Logs::LogGroup"):
        if _has_pipeline(template) and not str(group.get("LogGroupName", "")).startswith(OWN_LOGS):
            yield name, f"is not under {OWN_LOGS}, where builds log"


def results(template: Template) -> Iterator[Finding]:
    """Elsewhere the build succeeds, and then cannot say which image it made."""
    for name, each in of(template, "AWS::ImageBuilder::DistributionConfiguration"):
        noted = [one for place in each["Distributions"] for one in place.get("SsmParameterConfigurations", ())]
        if not noted:
            yield name, "is noted in no parameter, so the fleet does not find it"
        for one in noted:
            if not one["ParameterName"].startswith(OWN_PARAMETERS) or one.get("DataType") != "aws:ec2:image":
                yield name, f"is noted in {one['ParameterName']}, not as an image under {OWN_PARAMETERS}"
    for name, pipeline in of(template, "AWS::ImageBuilder::ImagePipeline"):
        if not pipeline.get("ImageTestsConfiguration", {}).get("ImageTestsEnabled"):
            yield name, "tries no machine image before it is noted"
        if not pipeline.get("DistributionConfigurationArn"):
            yield name, "is noted in no parameter, so the fleet does not find it"


def _has_pipeline(template: Template) -> bool:
    return bool(of(template, "AWS::ImageBuilder::ImagePipeline"))


def scripts(text: str) -> dict[str, str]:
    """What a component's document runs in each phase."""
    return {
        phase["name"]: "\n".join(command for step in phase["steps"] for command in step["inputs"]["commands"])
        for phase in json.loads(text)["phases"]
    }


def _steps(text: str) -> list[dict[str, Any]]:
    return [step for phase in json.loads(text)["phases"] for step in phase["steps"]]


RULES: tuple[Callable[[Template], Iterator[Finding]], ...] = (recipes, components, building, results)
