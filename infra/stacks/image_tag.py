"""The parameter `ImageTag`: which image of the repository a stack is about."""

from __future__ import annotations

from aws_cdk import CfnParameter
from aws_cdk import aws_ecr as ecr
from constructs import Construct


def tagged_image(scope: Construct, repository: ecr.IRepository, description: str) -> str:
    """The name of the image whose tag is the stack's parameter."""
    tag = CfnParameter(scope, "ImageTag", type="String", description=description, allowed_pattern=r"[\w.-]{1,128}")
    return f"{repository.repository_uri}:{tag.value_as_string}"
