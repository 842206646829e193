"""The matrix: for each type of the aws stand-in, resources that go through every step of a life. Rows stand after what they refer to."""

from __future__ import annotations

from tests.local.aws.life_cycles import cluster, edge, identity, network, security_groups, storage

ROWS = tuple(row for group in (network, security_groups, identity, storage, cluster, edge) for row in group.ROWS)
