"""Each rule on the pipeline of machine images, shown on its real template, spoilt in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from infra.stacks.machine_image import version_of
from infra.stacks.machine_image_rules import LONGEST_DOCUMENT
from infra.stacks.template_rules import findings
from tests.support.templates import Template, only

Read = Callable[[str], Template]
Change = Callable[[Template], object]
KIND = "AWS::ImageBuilder::"


def component(change: Callable[[str], str], versioned: bool = True) -> Change:
    """Change the document, under a version of its own unless the version is what is spoilt."""

    def spoil(template: Template) -> None:
        found = only(template, f"{KIND}Component")
        text, filled_in = found["Data"]["Fn::Sub"]
        found["Data"]["Fn::Sub"][0] = change(text)
        if versioned:
            found["Version"] = version_of(change(text), filled_in["WantedContainer"])

    return spoil


def without(words: str) -> Change:
    def cut(text: str) -> str:
        assert words in text
        return text.replace(words, "true")

    return component(cut)


def put(kind: str, **values: object) -> Change:
    return lambda template: only(template, f"{KIND}{kind}").update(values)


def noted(template: Template) -> dict[str, Any]:
    place = only(template, f"{KIND}DistributionConfiguration")["Distributions"][0]
    found: dict[str, Any] = place["SsmParameterConfigurations"][0]
    return found


def distributed(template: Template) -> dict[str, Any]:
    found: dict[str, Any] = only(template, f"{KIND}DistributionConfiguration")["Distributions"][0]
    return found


def metadata(**values: object) -> Change:
    def change(template: Template) -> None:
        only(template, f"{KIND}InfrastructureConfiguration")["InstanceMetadataOptions"].update(values)

    return change


SPOILT: dict[str, tuple[Change, str]] = {
    "an old parent": (put("ImageRecipe", ParentImage="ami-0123"), "starts from ami-0123"),
    "another parent": (
        put("ImageRecipe", ParentImage="ssm:/aws/service/ecs/optimized-ami/amazon-linux-2023/recommended/image_id"),
        "not from AWS's newest GPU image",
    ),
    "a bare disk": (
        lambda t: only(t, f"{KIND}ImageRecipe")["BlockDeviceMappings"][0]["Ebs"].update(Encrypted=False),
        "not encrypted",
    ),
    "the parent's disk": (lambda t: only(t, f"{KIND}ImageRecipe").pop("BlockDeviceMappings"), "not encrypted"),
    "a version that is taken": (
        component(lambda text: text + " ", versioned=False),
        "has another content than version",
    ),
    "too long": (component(lambda text: text.replace("# ", "#" * LONGEST_DOCUMENT)), f"of {LONGEST_DOCUMENT}"),
    "no pull": (without("docker pull"), "pulls no image"),
    "a token left": (without("docker logout"), "leaves the registry's token"),
    "an agent's memory": (without("/var/lib/ecs/data"), "leaves the agent's memory"),
    "not looked for": (without("docker image inspect"), "does not look whether"),
    "errors passed over": (without("set -euo pipefail"), "goes on after a command"),
    "IMDSv1": (metadata(HttpTokens="optional"), "IMDSv2"),
    "two hops": (metadata(HttpPutResponseHopLimit=2), "IMDSv2"),
    "left running": (put("InfrastructureConfiguration", TerminateInstanceOnFailure=False), "leaves its instance"),
    "nobody told": (
        lambda t: only(t, f"{KIND}InfrastructureConfiguration").pop("SnsTopicArn"),
        "tells nobody when a build fails",
    ),
    "logs elsewhere": (
        lambda t: only(t, "AWS::Logs::LogGroup").update(LogGroupName="/gleaner/machine"),
        "is not under /aws/imagebuilder/",
    ),
    "noted elsewhere": (
        lambda t: noted(t).update(ParameterName="/gleaner-options/machine-image"),
        "not as an image under /imagebuilder/",
    ),
    "noted as text": (lambda t: noted(t).update(DataType="text"), "not as an image under /imagebuilder/"),
    "not noted": (lambda t: distributed(t).pop("SsmParameterConfigurations"), "so the fleet does not find it"),
    "not distributed": (
        lambda t: only(t, f"{KIND}ImagePipeline").pop("DistributionConfigurationArn"),
        "so the fleet does not find it",
    ),
    "not tried": (
        lambda t: only(t, f"{KIND}ImagePipeline")["ImageTestsConfiguration"].update(ImageTestsEnabled=False),
        "tries no machine image",
    ),
}


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_spoilt_is_found(template: Read, what: str) -> None:
    change, words = SPOILT[what]
    spoilt = template("options-machine")
    change(spoilt)
    assert any(words in finding for finding in findings(spoilt)), findings(spoilt)
