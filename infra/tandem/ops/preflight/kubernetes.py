"""Whether EKS still supports the version, and has the releases of the node image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from tandem.config.stack import Stack
from tandem.ops.preflight.account import VersionSupport
from tandem.ops.preflight.answers import Answer, Check, fails, judged, ok
from tandem.ops.preflight.groups import clusters

SUPPORT_LEFT: Final = timedelta(days=60)
"""Standard support must last as long: an upgrade of clusters and nodes wants planning, and AWS does it on its own day else."""
IMAGE_FLAVOURS: Final = {"AL2023_x86_64_NVIDIA": "nvidia", "AL2023_x86_64_STANDARD": "standard"}


def checks(stacks: Mapping[str, Stack], now: datetime) -> Iterator[Check]:
    """One a cluster for its version, one a node group for its image."""
    for name, stack, plan in clusters(stacks):
        region, version, support = stack.site.region, stack.kubernetes_version, stack.support
        yield Check(
            f"{name}: Kubernetes {version} is in {support} support",
            lambda account, region=region, version=version, support=support: judged(  # type: ignore[misc]
                account.version_support(region, version), lambda found: judge_version(found, version, support, now)
            ),
            real_only=True,
        )
        for group in plan.node_groups:
            flavour, release = IMAGE_FLAVOURS[group.ami_type], group.ami_release
            pattern = image_name(version, flavour, release)
            yield Check(
                f"{name}: node image of {group.name} ({release or 'the newest'})",
                lambda account, region=region, pattern=pattern, release=release, version=version: judged(  # type: ignore[misc]
                    account.images(region, pattern), lambda found: judge_image(found, pattern, release, version)
                ),
                real_only=True,
            )


def judge_version(found: VersionSupport | None, version: str, support: str, now: datetime) -> Answer:
    """`support` is what the stack file asks for: `standard` or `extended`."""
    move = "Move kubernetes_version to a newer one, a minor version at a time"
    if found is None:
        return fails(f"EKS has no version {version}", move)
    if support == "extended" and found.status in ("STANDARD_SUPPORT", "EXTENDED_SUPPORT"):
        return ok(found.status)
    if found.status != "STANDARD_SUPPORT":
        return fails(f"EKS says {found.status}", move)
    ends = found.standard_ends
    if ends is not None and ends.replace(tzinfo=ends.tzinfo or UTC) - now < SUPPORT_LEFT:
        return fails(f"standard support ends on {ends:%Y-%m-%d}, in less than {SUPPORT_LEFT.days} days", move)
    return ok(f"in standard support until {ends:%Y-%m-%d}" if ends else "in standard support")


def image_name(version: str, flavour: str, release: str | None) -> str:
    """The name of EKS's node image: a release `1.35.2-20261115` is the image `...-1.35-v20261115`."""
    day = release.rpartition("-")[2] if release else "*"
    return f"amazon-eks-node-al2023-x86_64-{flavour}-{version}-v{day}"


def judge_image(found: tuple[str, ...], pattern: str, release: str | None, version: str) -> Answer:
    """`found` are names of images like `pattern`."""
    if release is not None and not release.startswith(f"{version}."):
        return fails(f"release {release} is not of Kubernetes {version}", f"Name a release that begins with {version}.")
    if not found:
        return fails(
            f"Amazon has no image {pattern}", "Name a release that the EKS documentation lists, or leave it out"
        )
    return ok(f"the newest is {found[-1]}")
