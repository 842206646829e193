"""Which file holds the handler of which type. Files are imported when a program first uses one of their types."""

from __future__ import annotations

import functools
import importlib
import threading

from local.aws.plugin.handler import Handler

_MODULES: dict[str, tuple[str, ...]] = {
    "acm": ("aws:acm/certificate:Certificate", "aws:acm/certificateValidation:CertificateValidation"),
    "autoscaling": ("aws:autoscaling/schedule:Schedule", "aws:autoscaling/tag:Tag"),
    "budgets": ("aws:budgets/budget:Budget",),
    "cloudwatch": ("aws:cloudwatch/logGroup:LogGroup", "aws:cloudwatch/metricAlarm:MetricAlarm"),
    "ec2_network": (
        "aws:ec2/vpc:Vpc",
        "aws:ec2/subnet:Subnet",
        "aws:ec2/internetGateway:InternetGateway",
        "aws:ec2/eip:Eip",
        "aws:ec2/natGateway:NatGateway",
        "aws:ec2/tag:Tag",
    ),
    "ec2_routing": (
        "aws:ec2/routeTable:RouteTable",
        "aws:ec2/route:Route",
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        "aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation",
    ),
    "ec2_endpoints": ("aws:ec2/vpcEndpoint:VpcEndpoint", "aws:ec2/flowLog:FlowLog"),
    "ec2_security": (
        "aws:ec2/securityGroup:SecurityGroup",
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
    ),
    "ec2_compute": ("aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/placementGroup:PlacementGroup"),
    "ec2_peering": (
        "aws:ec2/vpcPeeringConnection:VpcPeeringConnection",
        "aws:ec2/vpcPeeringConnectionAccepter:VpcPeeringConnectionAccepter",
        "aws:ec2/peeringConnectionOptions:PeeringConnectionOptions",
    ),
    "transit_gateway": (
        "aws:ec2transitgateway/transitGateway:TransitGateway",
        "aws:ec2transitgateway/vpcAttachment:VpcAttachment",
        "aws:ec2transitgateway/peeringAttachment:PeeringAttachment",
        "aws:ec2transitgateway/peeringAttachmentAccepter:PeeringAttachmentAccepter",
        "aws:ec2transitgateway/routeTable:RouteTable",
        "aws:ec2transitgateway/route:Route",
        "aws:ec2transitgateway/routeTableAssociation:RouteTableAssociation",
        "aws:ec2transitgateway/routeTablePropagation:RouteTablePropagation",
    ),
    "ecr": (
        "aws:ecr/repository:Repository",
        "aws:ecr/lifecyclePolicy:LifecyclePolicy",
        "aws:ecr/repositoryPolicy:RepositoryPolicy",
        "aws:ecr/replicationConfiguration:ReplicationConfiguration",
    ),
    "eks": ("aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"),
    "eks_recorded": (
        "aws:eks/addon:Addon",
        "aws:eks/accessEntry:AccessEntry",
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
    ),
    "elbv2": ("aws:lb/loadBalancer:LoadBalancer", "aws:lb/targetGroup:TargetGroup"),
    "elbv2_listeners": (
        "aws:lb/listener:Listener",
        "aws:lb/listenerRule:ListenerRule",
        "aws:lb/listenerCertificate:ListenerCertificate",
        "aws:lb/targetGroupAttachment:TargetGroupAttachment",
    ),
    "iam": (
        "aws:iam/role:Role",
        "aws:iam/rolePolicy:RolePolicy",
        "aws:iam/policy:Policy",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "aws:iam/instanceProfile:InstanceProfile",
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
    ),
    "kms": ("aws:kms/key:Key", "aws:kms/alias:Alias"),
    "route53": (
        "aws:route53/zone:Zone",
        "aws:route53/record:Record",
        "aws:route53/healthCheck:HealthCheck",
        "aws:route53/zoneAssociation:ZoneAssociation",
    ),
    "s3": ("aws:s3/bucket:Bucket",),
    "s3_settings": (
        "aws:s3/bucketVersioning:BucketVersioning",
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        "aws:s3/bucketPolicy:BucketPolicy",
        "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
        "aws:s3/bucketLogging:BucketLogging",
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
        "aws:s3/bucketReplicationConfig:BucketReplicationConfig",
    ),
    "secretsmanager": ("aws:secretsmanager/secret:Secret", "aws:secretsmanager/secretVersion:SecretVersion"),
    "sns": ("aws:sns/topic:Topic", "aws:sns/topicPolicy:TopicPolicy", "aws:sns/topicSubscription:TopicSubscription"),
    "ssm": ("aws:ssm/parameter:Parameter",),
    "wafv2": (
        "aws:wafv2/webAcl:WebAcl",
        "aws:wafv2/webAclAssociation:WebAclAssociation",
        "aws:wafv2/webAclLoggingConfiguration:WebAclLoggingConfiguration",
    ),
}
_FILE_OF = {kind: module for module, kinds in _MODULES.items() for kind in kinds}
_IMPORT = threading.Lock()


def types() -> tuple[str, ...]:
    """Every type the stand-in covers."""
    return tuple(sorted(_FILE_OF))


def handler(kind: str) -> Handler | None:
    """The handler of a Pulumi token, or None when the stand-in does not cover it."""
    return _loaded(_FILE_OF[kind])[kind] if kind in _FILE_OF else None


def _loaded(module: str) -> dict[str, Handler]:
    with _IMPORT:
        return _load(module)


@functools.cache
def _load(module: str) -> dict[str, Handler]:
    loaded = importlib.import_module(f"local.aws.plugin.services.{module}")
    return {handler.type: handler for handler in loaded.HANDLERS}
