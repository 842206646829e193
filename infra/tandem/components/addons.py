"""EKS add-ons."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws


class Addons(pulumi.ComponentResource):
    """What EKS installs into the cluster and keeps at a version.

    Creates: add-ons.
    Cost: none beside the pods' own.
    Updated in place: versions.
    """

    def __init__(
        self,
        name: str,
        versions: Mapping[str, str | None],
        *,
        cluster_name: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`versions` maps an add-on's name to its version, or to None for the cluster version's default."""
        super().__init__("tandem:compute:Addons", name, {}, opts)
        for addon, version in versions.items():
            aws.eks.Addon(
                f"{name}-{addon}",
                cluster_name=cluster_name,
                addon_name=addon,
                addon_version=version,
                resolve_conflicts_on_create="OVERWRITE",
                # What somebody tuned in the cluster outlives an upgrade.
                resolve_conflicts_on_update="PRESERVE",
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.register_outputs({})
