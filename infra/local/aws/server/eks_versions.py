"""UpdateClusterVersion and UpdateNodegroupVersion, which moto lacks. Both are done at once: there is nothing to roll."""

from __future__ import annotations

from typing import Any

_CLUSTER = "{0}/clusters/(?P<name>[^/]+)"
_PATHS = (f"{_CLUSTER}/updates$", f"{_CLUSTER}/node-groups/(?P<nodegroupName>[^/]+)/update-version$")


def install() -> None:
    """Make moto's EKS change versions."""
    from moto.core.responses import ActionResult
    from moto.eks import responses, urls

    def update_cluster_version(self: Any) -> Any:
        cluster = self.eks_backend.describe_cluster(self._get_param("name"))
        cluster.version = self._get_param("version")
        return ActionResult({"update": {"status": "Successful", "type": "VersionUpdate"}})

    def update_nodegroup_version(self: Any) -> Any:
        cluster, group = self._get_param("name"), self._get_param("nodegroupName")
        found = self.eks_backend.describe_nodegroup(cluster, group)
        template = self._get_param("launchTemplate")
        if template:
            found.launch_template = {**(found.launch_template or {}), **template}
        for given, kept in (("version", "version"), ("releaseVersion", "release_version")):
            if self._get_param(given):
                setattr(found, kept, self._get_param(given))
        return ActionResult({"update": {"status": "Successful", "type": "VersionUpdate"}})

    responses.EKSResponse.update_cluster_version = update_cluster_version
    responses.EKSResponse.update_nodegroup_version = update_nodegroup_version
    urls.url_paths.update(dict.fromkeys(_PATHS, urls.response.dispatch))
