"""For each resource type: a first form, a form changed in place, and one that must replace it.

Both matrices use this table: the one that speaks the protocol itself and the one that goes through the real engine.
`ref(name, output)` gives an output of an earlier resource: a value in the one, an Output in the other.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Ref = Callable[..., Any]
Inputs = dict[str, Any]


def _same_id(outputs: Inputs, name: str) -> str:
    return name


@dataclass(frozen=True)
class LifeCycle:
    """One resource of the matrix. The three forms are functions of `ref`; None says that there is no such change."""

    name: str
    kind: str
    first: Callable[[Ref], Inputs]
    changed: Inputs | None = None
    """Inputs that replace those of `first` in place."""
    replaced: Inputs | None = None
    """Inputs that force a replacement."""
    drift: tuple[str, str, Callable[[Inputs, str], Inputs]] | None = None
    """Service, operation and its arguments (from outputs and id) that changes the object behind the provider's back."""
    import_id: Callable[[Inputs, str], str] = _same_id
    outputs: tuple[str, ...] = ("arn",)
    """Outputs that later resources refer to."""
    kept_tags: bool = field(default=True)

    def form(self, ref: Ref, stage: str) -> Inputs:
        """The inputs at a stage: `first`, `changed` or `replaced`."""
        inputs = self.first(ref)
        if stage == "changed" and self.changed:
            return {**inputs, **self.changed}
        if stage == "replaced" and self.replaced:
            return {**inputs, **self.replaced}
        return inputs


def policy(action: str) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": "*"}]})


def trust(service: str) -> str:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def ecr_rule(count: int) -> str:
    rule = {
        "rulePriority": 1,
        "selection": {"tagStatus": "untagged", "countType": "imageCountMoreThan", "countNumber": count},
        "action": {"type": "expire"},
    }
    return json.dumps({"rules": [rule]})


def bucket_policy(bucket: str, action: str) -> str:
    statement = {"Effect": "Allow", "Principal": "*", "Action": action, "Resource": f"arn:aws:s3:::{bucket}/*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def tag_drift(target: Callable[[Inputs, str], str] = _same_id) -> tuple[str, str, Callable[[Inputs, str], Inputs]]:
    return (
        "ec2",
        "create_tags",
        lambda outputs, name: {"Resources": [target(outputs, name)], "Tags": [{"Key": "drifted", "Value": "yes"}]},
    )


EKS_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"

NETWORK = (
    LifeCycle(
        "vpc",
        "aws:ec2/vpc:Vpc",
        lambda ref: {"cidrBlock": "10.200.0.0/16", "tags": {"use": "test"}},
        {"enableDnsHostnames": True, "tags": {"use": "change", "more": "yes"}},
        drift=(
            "ec2",
            "modify_vpc_attribute",
            lambda outputs, name: {"VpcId": name, "EnableDnsSupport": {"Value": False}},
        ),
    ),
    LifeCycle(
        "vpc-alone", "aws:ec2/vpc:Vpc", lambda ref: {"cidrBlock": "10.201.0.0/16"}, None, {"cidrBlock": "10.202.0.0/16"}
    ),
    LifeCycle(
        "subnet-a",
        "aws:ec2/subnet:Subnet",
        lambda ref: {"vpcId": ref("vpc"), "cidrBlock": "10.200.1.0/24", "availabilityZone": "us-east-1a"},
        {"mapPublicIpOnLaunch": True},
        drift=tag_drift(),
    ),
    LifeCycle(
        "subnet-b",
        "aws:ec2/subnet:Subnet",
        lambda ref: {"vpcId": ref("vpc"), "cidrBlock": "10.200.2.0/24", "availabilityZone": "us-east-1b"},
    ),
    LifeCycle(
        "subnet-c",
        "aws:ec2/subnet:Subnet",
        lambda ref: {"vpcId": ref("vpc"), "cidrBlock": "10.200.3.0/24", "availabilityZone": "us-east-1c"},
        None,
        {"cidrBlock": "10.200.4.0/24"},
    ),
    LifeCycle(
        "internet",
        "aws:ec2/internetGateway:InternetGateway",
        lambda ref: {"vpcId": ref("vpc")},
        {"tags": {"use": "change"}},
        drift=tag_drift(),
    ),
    LifeCycle(
        "address", "aws:ec2/eip:Eip", lambda ref: {"domain": "vpc"}, {"tags": {"use": "change"}}, drift=tag_drift()
    ),
    LifeCycle(
        "nat",
        "aws:ec2/natGateway:NatGateway",
        lambda ref: {"allocationId": ref("address"), "subnetId": ref("subnet-a")},
        {"tags": {"use": "change"}},
        drift=tag_drift(),
    ),
    LifeCycle(
        "table",
        "aws:ec2/routeTable:RouteTable",
        lambda ref: {"vpcId": ref("vpc")},
        {"tags": {"a": "b"}},
        drift=tag_drift(),
    ),
    LifeCycle(
        "route",
        "aws:ec2/route:Route",
        lambda ref: {
            "routeTableId": ref("table"),
            "destinationCidrBlock": "0.0.0.0/0",
            "gatewayId": ref("internet"),
        },
        None,
        {"destinationCidrBlock": "192.0.2.0/24"},
        import_id=lambda outputs, name: f"{outputs['routeTableId']}_{outputs['destinationCidrBlock']}",
    ),
    LifeCycle(
        "association",
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        lambda ref: {"subnetId": ref("subnet-a"), "routeTableId": ref("table")},
        import_id=lambda outputs, name: f"{outputs['subnetId']}/{outputs['routeTableId']}",
    ),
    LifeCycle(
        "group",
        "aws:ec2/securityGroup:SecurityGroup",
        lambda ref: {"vpcId": ref("vpc"), "name": "first", "description": "one"},
        {"tags": {"use": "change"}},
        drift=tag_drift(),
    ),
    LifeCycle(
        "group-other",
        "aws:ec2/securityGroup:SecurityGroup",
        lambda ref: {"vpcId": ref("vpc")},
        None,
        {"description": "another"},
    ),
    LifeCycle(
        "default-group",
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        lambda ref: {"vpcId": ref("vpc")},
        {"tags": {"use": "change"}},
        drift=tag_drift(),
    ),
    LifeCycle(
        "ingress",
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        lambda ref: {
            "securityGroupId": ref("group"),
            "ipProtocol": "tcp",
            "fromPort": 30000,
            "toPort": 30000,
            "cidrIpv4": "10.200.0.0/16",
            "description": "one",
        },
        {"fromPort": 30001, "toPort": 30002, "description": "two"},
        {"cidrIpv4": None, "cidrIpv6": "2001:db8::/32"},
        drift=(
            "ec2",
            "modify_security_group_rules",
            lambda outputs, name: {
                "GroupId": outputs["securityGroupId"],
                "SecurityGroupRules": [
                    {
                        "SecurityGroupRuleId": name,
                        "SecurityGroupRule": {
                            "IpProtocol": "tcp",
                            "FromPort": 1,
                            "ToPort": 2,
                            "CidrIpv4": "10.0.0.0/8",
                        },
                    }
                ],
            },
        ),
    ),
    LifeCycle(
        "egress",
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        lambda ref: {
            "securityGroupId": ref("group"),
            "ipProtocol": "-1",
            "referencedSecurityGroupId": ref("group"),
        },
        {"tags": {"use": "change"}},
        drift=tag_drift(),
    ),
    LifeCycle(
        "s3-endpoint",
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        lambda ref: {
            "vpcId": ref("vpc"),
            "serviceName": "com.amazonaws.us-east-1.s3",
            "routeTableIds": [ref("table")],
        },
        {"tags": {"use": "change"}},
        {"serviceName": "com.amazonaws.us-east-1.dynamodb"},
        drift=tag_drift(),
    ),
    LifeCycle(
        "sts-endpoint",
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        lambda ref: {
            "vpcId": ref("vpc"),
            "serviceName": "com.amazonaws.us-east-1.sts",
            "vpcEndpointType": "Interface",
            "subnetIds": [ref("subnet-b"), ref("subnet-a")],
            "securityGroupIds": [ref("group")],
            "privateDnsEnabled": True,
        },
    ),
)

IDENTITY = (
    LifeCycle(
        "role",
        "aws:iam/role:Role",
        lambda ref: {"assumeRolePolicy": trust("eks.amazonaws.com"), "tags": {"use": "test"}},
        {"assumeRolePolicy": trust("ec2.amazonaws.com"), "description": "changed", "tags": {"use": "change"}},
        drift=("iam", "update_role", lambda outputs, name: {"RoleName": name, "Description": "drifted"}),
    ),
    LifeCycle(
        "role-other",
        "aws:iam/role:Role",
        lambda ref: {"assumeRolePolicy": trust("eks.amazonaws.com"), "name": "named"},
        None,
        {"path": "/other/"},
    ),
    LifeCycle(
        "inline",
        "aws:iam/rolePolicy:RolePolicy",
        lambda ref: {"role": ref("role"), "name": "inline", "policy": policy("s3:GetObject")},
        {"policy": policy("s3:PutObject")},
        {"name": "inline-two"},
        drift=(
            "iam",
            "put_role_policy",
            lambda outputs, name: {
                "RoleName": outputs["role"],
                "PolicyName": outputs["name"],
                "PolicyDocument": policy("s3:*"),
            },
        ),
        outputs=(),
    ),
    LifeCycle(
        "attachment",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        lambda ref: {"role": ref("role"), "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"},
        None,
        {"policyArn": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"},
        outputs=(),
    ),
    LifeCycle(
        "key",
        "aws:kms/key:Key",
        lambda ref: {"description": "one", "deletionWindowInDays": 7},
        {"description": "two", "enableKeyRotation": True},
        {"customerMasterKeySpec": "RSA_2048", "keyUsage": "SIGN_VERIFY", "enableKeyRotation": False},
        drift=("kms", "update_key_description", lambda outputs, name: {"KeyId": name, "Description": "drifted"}),
    ),
    LifeCycle(
        "alias",
        "aws:kms/alias:Alias",
        lambda ref: {"name": "alias/one", "targetKeyId": ref("key")},
        None,
        {"name": "alias/two"},
    ),
    LifeCycle(
        "secret",
        "aws:secretsmanager/secret:Secret",
        lambda ref: {"name": "one", "description": "one", "recoveryWindowInDays": 0},
        {"description": "two"},
        {"name": "two"},
        drift=("secretsmanager", "update_secret", lambda outputs, name: {"SecretId": name, "Description": "drifted"}),
    ),
)

STORAGE = (
    LifeCycle(
        "bucket",
        "aws:s3/bucket:Bucket",
        lambda ref: {"bucket": "tandem-weights-one", "forceDestroy": True},
        {"tags": {"use": "change"}},
        drift=(
            "s3",
            "put_bucket_tagging",
            lambda outputs, name: {"Bucket": name, "Tagging": {"TagSet": [{"Key": "drifted", "Value": "yes"}]}},
        ),
    ),
    LifeCycle(
        "bucket-other",
        "aws:s3/bucket:Bucket",
        lambda ref: {"bucket": "tandem-other-one"},
        None,
        {"bucket": "tandem-other-two"},
    ),
    LifeCycle(
        "versioning",
        "aws:s3/bucketVersioning:BucketVersioning",
        lambda ref: {"bucket": ref("bucket"), "versioningConfiguration": {"status": "Enabled"}},
        {"versioningConfiguration": {"status": "Suspended"}},
        drift=(
            "s3",
            "put_bucket_versioning",
            lambda outputs, name: {"Bucket": name, "VersioningConfiguration": {"Status": "Enabled"}},
        ),
        outputs=(),
    ),
    LifeCycle(
        "public-access",
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        lambda ref: {"bucket": ref("bucket"), "blockPublicAcls": True},
        {"blockPublicPolicy": True},
        drift=(
            "s3",
            "put_public_access_block",
            lambda outputs, name: {"Bucket": name, "PublicAccessBlockConfiguration": {"BlockPublicAcls": False}},
        ),
        outputs=(),
    ),
    LifeCycle(
        "encryption",
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        lambda ref: {
            "bucket": ref("bucket"),
            "rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}}],
        },
        {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms"}, "bucketKeyEnabled": True}]},
        outputs=(),
    ),
    LifeCycle(
        "policy",
        "aws:s3/bucketPolicy:BucketPolicy",
        lambda ref: {"bucket": ref("bucket"), "policy": bucket_policy("tandem-weights-one", "s3:GetObject")},
        {"policy": bucket_policy("tandem-weights-one", "s3:PutObject")},
        drift=(
            "s3",
            "put_bucket_policy",
            lambda outputs, name: {"Bucket": name, "Policy": bucket_policy(name, "s3:*")},
        ),
        outputs=(),
    ),
    LifeCycle(
        "lifecycle",
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
        lambda ref: {
            "bucket": ref("bucket"),
            "rules": [
                {"id": "old", "status": "Enabled", "noncurrentVersionExpiration": {"noncurrentDays": 30}, "filter": {}}
            ],
        },
        {
            "rules": [
                {"id": "old", "status": "Enabled", "noncurrentVersionExpiration": {"noncurrentDays": 60}, "filter": {}}
            ]
        },
        outputs=(),
    ),
    LifeCycle(
        "ownership",
        "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
        lambda ref: {"bucket": ref("bucket"), "rule": {"objectOwnership": "BucketOwnerEnforced"}},
        {"rule": {"objectOwnership": "BucketOwnerPreferred"}},
        outputs=(),
    ),
    LifeCycle(
        "repository",
        "aws:ecr/repository:Repository",
        lambda ref: {"name": "tandem/engine-sim", "imageTagMutability": "IMMUTABLE"},
        {"imageTagMutability": "MUTABLE", "imageScanningConfiguration": {"scanOnPush": True}},
        drift=(
            "ecr",
            "put_image_tag_mutability",
            lambda outputs, name: {"repositoryName": name, "imageTagMutability": "IMMUTABLE"},
        ),
    ),
    LifeCycle(
        "images",
        "aws:ecr/lifecyclePolicy:LifecyclePolicy",
        lambda ref: {"repository": ref("repository"), "policy": ecr_rule(10)},
        None,
        {"policy": ecr_rule(20)},
        outputs=(),
    ),
    LifeCycle(
        "logs",
        "aws:cloudwatch/logGroup:LogGroup",
        lambda ref: {"name": "/tandem/flow", "retentionInDays": 30},
        {"retentionInDays": 90, "tags": {"use": "change"}},
        {"name": "/tandem/other"},
        drift=("logs", "put_retention_policy", lambda outputs, name: {"logGroupName": name, "retentionInDays": 7}),
    ),
    LifeCycle(
        "budget",
        "aws:budgets/budget:Budget",
        lambda ref: {
            "name": "month",
            "budgetType": "COST",
            "timeUnit": "MONTHLY",
            "limitAmount": "1000",
            "limitUnit": "USD",
            "notifications": [
                {
                    "comparisonOperator": "GREATER_THAN",
                    "notificationType": "FORECASTED",
                    "threshold": 100,
                    "thresholdType": "PERCENTAGE",
                    "subscriberEmailAddresses": ["ops@example.com"],
                }
            ],
        },
        {"limitAmount": "2000"},
        {"name": "other"},
    ),
)


CLUSTER = (
    LifeCycle(
        "flow",
        "aws:ec2/flowLog:FlowLog",
        lambda ref: {
            "vpcId": ref("vpc"),
            "trafficType": "ALL",
            "logDestinationType": "s3",
            "logDestination": ref("bucket", "arn"),
        },
        {"tags": {"use": "change"}},
        {"trafficType": "REJECT"},
        drift=tag_drift(),
    ),
    LifeCycle(
        "template",
        "aws:ec2/launchTemplate:LaunchTemplate",
        lambda ref: {
            "name": "decode",
            "instanceType": "p5en.48xlarge",
            "updateDefaultVersion": True,
            "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
            "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 500, "volumeType": "gp3"}}],
            "networkInterfaces": [
                {
                    "deviceIndex": 0,
                    "networkCardIndex": 0,
                    "interfaceType": "interface",
                    "securityGroups": [ref("group")],
                },
                {"deviceIndex": 1, "networkCardIndex": 1, "interfaceType": "efa-only"},
            ],
            "tagSpecifications": [{"resourceType": "instance", "tags": {"use": "test"}}],
        },
        {"instanceType": "p5.48xlarge"},
        {"name": "decode-two"},
        outputs=("arn", "latestVersion"),
        drift=(
            "ec2",
            "create_launch_template_version",
            lambda outputs, name: {"LaunchTemplateId": name, "LaunchTemplateData": {"InstanceType": "m5.large"}},
        ),
    ),
    LifeCycle(
        "placement",
        "aws:ec2/placementGroup:PlacementGroup",
        lambda ref: {"name": "close", "strategy": "cluster"},
        {"tags": {"use": "change"}},
        {"strategy": "spread"},
    ),
    LifeCycle(
        "cluster",
        "aws:eks/cluster:Cluster",
        lambda ref: {
            "name": "home",
            "roleArn": ref("role", "arn"),
            "version": "1.36",
            "vpcConfig": {
                "subnetIds": [ref("subnet-a"), ref("subnet-b")],
                "endpointPrivateAccess": True,
                "endpointPublicAccess": True,
            },
            "accessConfig": {"authenticationMode": "API"},
            "enabledClusterLogTypes": ["api", "audit"],
        },
        {"tags": {"use": "change"}, "enabledClusterLogTypes": ["api", "audit", "scheduler"]},
        drift=(
            "eks",
            "tag_resource",
            lambda outputs, name: {"resourceArn": outputs["arn"], "tags": {"drifted": "yes"}},
        ),
    ),
    LifeCycle(
        "nodes",
        "aws:eks/nodeGroup:NodeGroup",
        lambda ref: {
            "clusterName": ref("cluster"),
            "nodeGroupName": "decode",
            "nodeRoleArn": ref("role", "arn"),
            "subnetIds": [ref("subnet-a")],
            "scalingConfig": {"minSize": 1, "maxSize": 4, "desiredSize": 2},
            "launchTemplate": {"id": ref("template"), "version": "1"},
            "labels": {"tandem.dev/node-class": "bandwidth"},
            "taints": [{"key": "tandem.dev/node-class", "value": "bandwidth", "effect": "NO_SCHEDULE"}],
        },
        {
            "scalingConfig": {"minSize": 1, "maxSize": 5, "desiredSize": 3},
            "labels": {"tandem.dev/node-class": "compute"},
        },
        {"nodeGroupName": "decode-two"},
        drift=(
            "eks",
            "update_nodegroup_config",
            lambda outputs, name: {
                "clusterName": outputs["clusterName"],
                "nodegroupName": outputs["nodeGroupName"],
                "scalingConfig": {"minSize": 1, "maxSize": 9, "desiredSize": 9},
            },
        ),
    ),
    LifeCycle(
        "addon",
        "aws:eks/addon:Addon",
        lambda ref: {"clusterName": ref("cluster"), "addonName": "vpc-cni"},
        {"configurationValues": "{}", "tags": {"use": "change"}},
        {"addonName": "coredns"},
    ),
    LifeCycle(
        "entry",
        "aws:eks/accessEntry:AccessEntry",
        lambda ref: {"clusterName": ref("cluster"), "principalArn": ref("role", "arn")},
        {"kubernetesGroups": ["viewers"]},
        {"type": "EC2_LINUX"},
        outputs=(),
    ),
    LifeCycle(
        "entry-policy",
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        lambda ref: {
            "clusterName": ref("cluster"),
            "principalArn": ref("role", "arn"),
            "policyArn": EKS_POLICY,
            "accessScope": {"type": "cluster"},
        },
        None,
        {"accessScope": {"type": "namespace", "namespaces": ["tandem"]}},
        outputs=(),
    ),
    LifeCycle(
        "pod-identity",
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        lambda ref: {
            "clusterName": ref("cluster"),
            "namespace": "tandem",
            "serviceAccount": "gateway",
            "roleArn": ref("role", "arn"),
        },
        {"tags": {"use": "change"}},
        {"serviceAccount": "engine"},
        outputs=(),
        import_id=lambda outputs, name: f"{outputs['clusterName']},{outputs['associationId']}",
    ),
)


def _forward(blue: Any, green: Any, weight: int) -> Inputs:
    groups = [{"arn": blue, "weight": 100 - weight}, {"arn": green, "weight": weight}]
    return {"type": "forward", "forward": {"targetGroups": groups}}


_REFUSAL = {"contentType": "text/plain", "messageBody": "no", "statusCode": "404"}

EDGE = (
    LifeCycle(
        "balancer",
        "aws:lb/loadBalancer:LoadBalancer",
        lambda ref: {
            "name": "edge",
            "subnets": [ref("subnet-a"), ref("subnet-b")],
            "securityGroups": [ref("group")],
            "idleTimeout": 300,
        },
        {"idleTimeout": 600, "dropInvalidHeaderFields": True, "tags": {"use": "change"}},
        {"name": "edge-two"},
        drift=(
            "elbv2",
            "modify_load_balancer_attributes",
            lambda outputs, name: {
                "LoadBalancerArn": name,
                "Attributes": [{"Key": "idle_timeout.timeout_seconds", "Value": "61"}],
            },
        ),
    ),
    *(
        LifeCycle(
            colour,
            "aws:lb/targetGroup:TargetGroup",
            lambda ref: {
                "port": 30000,
                "protocol": "HTTP",
                "targetType": "ip",
                "vpcId": ref("vpc"),
                "deregistrationDelay": 30,
                "healthCheck": {"path": "/health", "interval": 5, "timeout": 2},
            },
            {"healthCheck": {"path": "/readiness", "interval": 5, "timeout": 2}, "deregistrationDelay": 60},
            {"port": 30001},
            drift=(
                "elbv2",
                "modify_target_group",
                lambda outputs, name: {"TargetGroupArn": name, "HealthCheckPath": "/drifted"},
            ),
        )
        for colour in ("blue", "green")
    ),
    LifeCycle(
        "certificate",
        "aws:acm/certificate:Certificate",
        lambda ref: {"domainName": "tandem.example.com", "validationMethod": "DNS"},
        {"tags": {"use": "change"}},
        {"domainName": "other.example.com"},
        drift=(
            "acm",
            "add_tags_to_certificate",
            lambda outputs, name: {"CertificateArn": name, "Tags": [{"Key": "drifted", "Value": "yes"}]},
        ),
    ),
    LifeCycle(
        "validation",
        "aws:acm/certificateValidation:CertificateValidation",
        lambda ref: {"certificateArn": ref("certificate", "arn")},
        outputs=("certificateArn",),
    ),
    LifeCycle(
        "listener",
        "aws:lb/listener:Listener",
        lambda ref: {
            "loadBalancerArn": ref("balancer", "arn"),
            "port": 443,
            "protocol": "HTTPS",
            "sslPolicy": "ELBSecurityPolicy-TLS13-1-2-2021-06",
            "certificateArn": ref("validation", "certificateArn"),
            "defaultActions": [{"type": "fixed-response", "fixedResponse": _REFUSAL}],
        },
        {"defaultActions": [{"type": "fixed-response", "fixedResponse": {**_REFUSAL, "statusCode": "403"}}]},
        drift=("elbv2", "modify_listener", lambda outputs, name: {"ListenerArn": name, "Port": 8443}),
    ),
    LifeCycle(
        "rule",
        "aws:lb/listenerRule:ListenerRule",
        lambda ref: {
            "listenerArn": ref("listener", "arn"),
            "priority": 10,
            "conditions": [{"pathPattern": {"values": ["/v1/models", "/v1/chat/completions"]}}],
            "actions": [_forward(ref("blue", "arn"), ref("green", "arn"), 10)],
        },
        {"priority": 20},
        drift=(
            "elbv2",
            "set_rule_priorities",
            lambda outputs, name: {"RulePriorities": [{"RuleArn": name, "Priority": 99}]},
        ),
    ),
    LifeCycle(
        "acl",
        "aws:wafv2/webAcl:WebAcl",
        lambda ref: {
            "name": "edge",
            "scope": "REGIONAL",
            "defaultAction": {"allow": {}},
            "visibilityConfig": {
                "cloudwatchMetricsEnabled": True,
                "metricName": "edge",
                "sampledRequestsEnabled": False,
            },
            "rules": [
                {
                    "name": "rate",
                    "priority": 1,
                    "action": {"block": {}},
                    "statement": {"rateBasedStatement": {"limit": 1000, "aggregateKeyType": "IP"}},
                    "visibilityConfig": {
                        "cloudwatchMetricsEnabled": True,
                        "metricName": "rate",
                        "sampledRequestsEnabled": False,
                    },
                }
            ],
        },
        {"description": "changed", "tags": {"use": "change"}},
        {"name": "edge-two"},
        drift=(
            "wafv2",
            "tag_resource",
            lambda outputs, name: {"ResourceARN": outputs["arn"], "Tags": [{"Key": "drifted", "Value": "yes"}]},
        ),
        import_id=lambda outputs, name: f"{name}/{outputs['name']}/{outputs['scope']}",
    ),
    LifeCycle(
        "acl-association",
        "aws:wafv2/webAclAssociation:WebAclAssociation",
        lambda ref: {"resourceArn": ref("balancer", "arn"), "webAclArn": ref("acl", "arn")},
        outputs=(),
    ),
)

GROUPS = {"network": NETWORK, "identity": IDENTITY, "storage": STORAGE, "cluster": CLUSTER, "edge": EDGE}
ALL = tuple(cycle for group in GROUPS.values() for cycle in group)
