"""`tandem cluster-token`: what the kubeconfigs of our stacks execute."""

from __future__ import annotations

import json

import click

from tandem.ops import token


@click.command("cluster-token")
@click.option("--cluster", required=True, help="Name of the EKS cluster.")
@click.option("--region", required=True, help="Its region.")
def command(cluster: str, region: str) -> None:
    """Print the credential by which EKS knows the caller (for kubeconfigs)."""
    click.echo(json.dumps(token.exec_credential(cluster, region)))
