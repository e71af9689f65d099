"""Which machine image instances start from: AWS's own, or one of ours with the container image in it. Pure; data.

Names of SSM parameters. Image Builder's own role may read those of AWS, and write those under `/imagebuilder` only.
"""

from __future__ import annotations

from enum import StrEnum

GPU_IMAGE = "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id"
"""AWS's own: driver, container toolkit, Docker and the ECS agent."""

BAKED_GIB = 40
"""The disk of a machine image: AWS's own takes 30, the container image 8 unpacked."""


class Baking(StrEnum):
    """Whether an environment has a pipeline that makes machine images, and what starts it."""

    OFF = "off"
    ON_DEMAND = "on-demand"
    """`make machine-image` alone."""
    WEEKLY = "weekly"
    """Also by itself once a week, for the patches of AWS's image."""


def baked_image(fleet: str) -> str:
    """The parameter with the newest machine image of ours; there is none before the first is made."""
    return f"/imagebuilder/{fleet}/machine-image"


def wanted_container(fleet: str) -> str:
    """The parameter with the container image, repository and tag, that goes into the next machine image."""
    return f"/{fleet}/container-image"
