"""As many resources as asked for that say nothing: components alone, or the plainest ones of the providers that a stack of ours uses."""

import os
from collections.abc import Callable

import pulumi


def nothing(name: str) -> None:
    pulumi.ComponentResource("trivial:index:Nothing", name)


def with_providers() -> Callable[[str], None]:
    import pulumi_aws as aws
    import pulumi_kubernetes as kubernetes

    plain = pulumi.ResourceOptions(provider=aws.Provider("aws", region=os.environ["AWS_REGION"]))
    if os.environ["TRIVIAL_PROVIDER"] == "aws":
        return lambda name: aws.cloudwatch.LogGroup(name, name=f"trivial-{pulumi.get_stack()}-{name}", opts=plain)
    cluster = pulumi.ResourceOptions(provider=kubernetes.Provider("kubernetes"))
    return lambda name: kubernetes.core.v1.ConfigMap(name, data={"nothing": name}, opts=cluster)


make = with_providers() if os.environ.get("TRIVIAL_PROVIDER") else nothing
for number in range(int(os.environ["TRIVIAL_RESOURCES"])):
    make(f"nothing-{number}")
