"""What AWS would add to a declared resource: enough for the next one, and clearly no real identifier."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

ANSWERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "aws:secretsmanager/getSecretVersion:getSecretVersion": {
        "secretString": json.dumps({"api_key": "test-key", "admin_api_key": "test-admin-key"})
    }
}
"""What a program may ask the cloud for, and what it is told here: the API keys are nobody's."""


def arn(name: str) -> str:
    """The ARN of a resource by its logical name."""
    return f"arn:aws:test:us-east-1:123456789012:{name}"


def outputs(kind: str, name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of a resource of the type `kind`, beside its inputs."""
    computed: dict[str, Any] = {"arn": arn(name)}
    match kind:
        case "aws:eks/cluster:Cluster":
            computed |= {
                "endpoint": "https://cluster.test",
                "certificateAuthority": {"data": "Y2E="},
                "identities": [{"oidcs": [{"issuer": "https://issuer.test"}]}],
            }
        case "aws:eks/nodeGroup:NodeGroup":
            computed |= {"nodeGroupName": f"{name}-0000000"}
        case "aws:ec2/launchTemplate:LaunchTemplate":
            computed |= {"latestVersion": 1}
        case "aws:ecr/repository:Repository":
            computed |= {"repositoryUrl": f"registry.test/{inputs['name']}"}
        case "aws:lb/loadBalancer:LoadBalancer":
            computed |= {"dnsName": "edge.test", "zoneId": "Z0"}
        case "aws:acm/certificate:Certificate":
            option = {"resourceRecordName": "_proof.test", "resourceRecordType": "CNAME", "resourceRecordValue": "v"}
            computed |= {"domainValidationOptions": [option]}
        case "aws:kms/key:Key":
            computed |= {"keyId": f"{name}-key"}
        case "aws:route53/record:Record":
            computed |= {"fqdn": inputs["name"]}
        case "aws:iam/role:Role":
            computed |= {"name": f"{name}-0000000"}
    return computed
