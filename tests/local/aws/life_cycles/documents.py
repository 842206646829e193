"""Policy documents that several rows give."""

from __future__ import annotations

import json


def policy(action: str) -> str:
    """Allows one action on everything."""
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": "*"}]})


def trust(service: str) -> str:
    """Lets one service take a role."""
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def bucket_policy(bucket: str, action: str) -> str:
    """Allows everybody one action on a bucket's objects."""
    statement = {"Effect": "Allow", "Principal": "*", "Action": action, "Resource": f"arn:aws:s3:::{bucket}/*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def image_limit(count: int) -> str:
    """Keeps so many untagged images."""
    rule = {
        "rulePriority": 1,
        "selection": {"tagStatus": "untagged", "countType": "imageCountMoreThan", "countNumber": count},
        "action": {"type": "expire"},
    }
    return json.dumps({"rules": [rule]})
