"""The AWS account as preflight sees it: typed, read-only, and never raising for what AWS, the network or the credentials do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from tandem.ops import clients
from tandem.ops.preflight.answers import Known, Reading, Unread

T = TypeVar("T")

PATIENCE: Final = Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 2, "mode": "standard"})
"""Seconds. A check of many: without a network each must give up soon."""
SERVICES: Final = ("acm", "ec2", "eks", "iam", "route53", "s3", "service-quotas", "ssm", "sts")
AWS_DOMAINS: Final = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
WHY_LENGTH: Final = 240
NOT_FOUND: Final = (
    *("404", "NoSuchHostedZone", "NoSuchEntity", "ResourceNotFoundException", "ParameterNotFound"),
    "InvalidCapacityReservationId.NotFound",
)


@dataclass(frozen=True)
class Caller:
    """Whose credentials these are."""

    account_id: str
    arn: str


@dataclass(frozen=True)
class VersionSupport:
    """A minor version of Kubernetes in EKS."""

    status: str
    """`STANDARD_SUPPORT`, `EXTENDED_SUPPORT` or `UNSUPPORTED`."""
    standard_ends: datetime | None


@dataclass(frozen=True)
class ReservationState:
    """A capacity reservation, or the one of a Capacity Block."""

    state: str
    zone_id: str
    instance_type: str
    instances: int
    block: bool
    ends: datetime | None


@dataclass(frozen=True)
class CertificateState:
    """A certificate in ACM."""

    status: str
    names: tuple[str, ...]
    expires: datetime | None


@dataclass(frozen=True)
class ZoneState:
    """A Route 53 zone."""

    domain: str
    private: bool


@dataclass(frozen=True)
class Decision:
    """What IAM's simulator says of one action on all resources."""

    decision: str
    """`allowed`, `implicitDeny` or `explicitDeny`."""
    missing_context: tuple[str, ...]
    """Condition keys that decide and that the simulator was not told."""


class Account:
    """Reads of one account, in whichever region is asked for."""

    def __init__(self, variables: Mapping[str, str], region: str) -> None:
        self._variables = variables
        self._region = region
        self._clients: dict[tuple[str, str], Any] = {}

    @cached_property
    def simulated_at(self) -> str | None:
        """Where an endpoint is set that is not AWS's own; None where everything goes to AWS."""
        for service in SERVICES:
            url = _read(lambda service=service: str(self._client(service, self._region).meta.endpoint_url))  # type: ignore[misc]
            if isinstance(url, Known) and not (urlsplit(url.value).hostname or "").endswith(AWS_DOMAINS):
                return url.value
        return None

    @cached_property
    def caller(self) -> Reading[Caller]:
        """Who asks."""
        return _read(lambda: _caller(self._client("sts", self._region).get_caller_identity()))

    def quota(self, region: str, code: str) -> Reading[float]:
        """vCPUs of the EC2 quota `code`."""

        def read() -> float:
            found = self._client("service-quotas", region).get_service_quota(ServiceCode="ec2", QuotaCode=code)
            return float(found["Quota"]["Value"])

        return _read(read)

    def offerings(self, region: str, types: Sequence[str]) -> Reading[frozenset[tuple[str, str]]]:
        """Pairs of instance type and AZ id where the region offers it."""

        def read() -> frozenset[tuple[str, str]]:
            pages = self._client("ec2", region).get_paginator("describe_instance_type_offerings")
            filters = [{"Name": "instance-type", "Values": list(types)}]
            found = pages.paginate(LocationType="availability-zone-id", Filters=filters)
            return frozenset(
                (offer["InstanceType"], offer["Location"]) for page in found for offer in page["InstanceTypeOfferings"]
            )

        return _read(read)

    def efa_devices(self, region: str, instance_type: str) -> Reading[int]:
        """EFA devices that the type can have; 0 where it has no EFA."""

        def read() -> int:
            found = self._client("ec2", region).describe_instance_types(InstanceTypes=[instance_type])
            network = found["InstanceTypes"][0]["NetworkInfo"]
            return int(network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)) if network.get("EfaSupported") else 0

        return _read(read)

    def version_support(self, region: str, version: str) -> Reading[VersionSupport | None]:
        """How EKS supports a minor version; None where it knows none such."""

        def read() -> VersionSupport | None:
            found = self._client("eks", region).describe_cluster_versions(clusterVersions=[version])["clusterVersions"]
            for row in found:
                if row["clusterVersion"] == version:
                    status = str(row.get("versionStatus") or row["status"]).upper()
                    return VersionSupport(status, row.get("endOfStandardSupportDate"))
            return None

        return _read(read, absent=lambda: None)

    def images(self, region: str, name: str) -> Reading[tuple[str, ...]]:
        """Names of Amazon's images like `name`, which may hold `*`."""

        def read() -> tuple[str, ...]:
            client = self._client("ec2", region)
            found = client.describe_images(Owners=["amazon"], Filters=[{"Name": "name", "Values": [name]}])
            return tuple(sorted(image["Name"] for image in found["Images"]))

        return _read(read)

    def reservation(self, region: str, reservation_id: str) -> Reading[ReservationState | None]:
        """A capacity reservation; None where the account has none such."""

        def read() -> ReservationState | None:
            client = self._client("ec2", region)
            found = client.describe_capacity_reservations(CapacityReservationIds=[reservation_id])
            rows = found["CapacityReservations"]
            return _reservation(rows[0]) if rows else None

        return _read(read, absent=lambda: None)

    def certificate(self, region: str, arn: str) -> Reading[CertificateState | None]:
        """A certificate; None where there is none such."""

        def read() -> CertificateState:
            found = self._client("acm", region).describe_certificate(CertificateArn=arn)["Certificate"]
            names = (found["DomainName"], *found.get("SubjectAlternativeNames", ()))
            return CertificateState(found["Status"], tuple(dict.fromkeys(names)), found.get("NotAfter"))

        return _read(read, absent=lambda: None)

    def hosted_zone(self, zone_id: str) -> Reading[ZoneState | None]:
        """A Route 53 zone; None where there is none such."""

        def read() -> ZoneState:
            found = self._client("route53", self._region).get_hosted_zone(Id=zone_id)["HostedZone"]
            return ZoneState(found["Name"].rstrip("."), bool(found.get("Config", {}).get("PrivateZone")))

        return _read(read, absent=lambda: None)

    def decisions(self, principal: str, actions: Sequence[str]) -> Reading[Mapping[str, Decision]]:
        """What IAM's simulator says of each action, for a user or a role."""

        def read() -> Mapping[str, Decision]:
            pages = self._client("iam", self._region).get_paginator("simulate_principal_policy")
            found = pages.paginate(PolicySourceArn=principal, ActionNames=list(actions))
            return {
                row["EvalActionName"]: Decision(row["EvalDecision"], tuple(row.get("MissingContextValues", ())))
                for page in found
                for row in page["EvaluationResults"]
            }

        return _read(read)

    def role_arn(self, name: str) -> Reading[str]:
        """A role's ARN: that of its sessions leaves the path out."""
        return _read(lambda: str(self._client("iam", self._region).get_role(RoleName=name)["Role"]["Arn"]))

    def bucket_exists(self, region: str, name: str, owner: str) -> Reading[bool]:
        """Whether the caller reaches the bucket in the account `owner`. False: nobody has one of that name."""

        def read() -> bool:
            self._client("s3", region).head_bucket(Bucket=name, ExpectedBucketOwner=owner)
            return True

        return _read(read, absent=lambda: False)

    def _client(self, service: str, region: str) -> Any:
        key = (service, region)
        if key not in self._clients:
            self._clients[key] = clients.client(service, self._variables, region, PATIENCE)
        return self._clients[key]


def _read(read: Callable[[], T], absent: Callable[[], T] | None = None) -> Reading[T]:
    """What `read` gives; `absent` where AWS says that there is none."""
    try:
        return Known(read())
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if absent is not None and code in NOT_FOUND:
            return Known(absent())
        return _unread(error)
    except (BotoCoreError, ResponseParserError, ValueError) as error:
        # ValueError is botocore's word for an endpoint that is no URL.
        return _unread(error)
    except (KeyError, IndexError) as error:
        return Unread(f"the answer lacks {error}, which AWS documents")


def _unread(error: Exception) -> Unread:
    """The error on one line; a whole page that some proxy sent is none."""
    line = " ".join(str(error).split())
    return Unread(line if len(line) <= WHY_LENGTH else f"{line[:WHY_LENGTH]}...")


def _caller(found: Mapping[str, Any]) -> Caller:
    return Caller(found["Account"], found["Arn"])


def _reservation(found: Mapping[str, Any]) -> ReservationState:
    return ReservationState(
        state=found["State"],
        zone_id=found["AvailabilityZoneId"],
        instance_type=found["InstanceType"],
        instances=int(found["TotalInstanceCount"]),
        block=found.get("ReservationType") == "capacity-block",
        ends=found.get("EndDate"),
    )
