"""moto made repeatable: the same requests with the same seeds and times give the same identifiers.

moto draws every identifier from `mock_random` and most dates from `core.utils.utcnow`. Two things would still differ
between a first run and its replay: backends (with their default VPC and so on) that some read happened to create, and
key material from the operating system. Both are tied to fixed seeds here.

`prepare` must run before any moto service is imported: services bind `utcnow` when they are imported.
"""

from __future__ import annotations

import datetime
import hashlib
import importlib
import os
import time as wall
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

ENVIRONMENT = {
    "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
    "MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION": "true",
    "MOTO_ACM_VALIDATION_WAIT": "0",
    # moto asks botocore for region lists; neither may ever look for credentials outside.
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": "us-east-1",
}
ACCOUNT = "123456789012"
"""The account where none is named. A stack that allows just this one can never reach a real account."""
PRELOADED = [
    "ec2",
    "eks",
    "elbv2",
    "iam",
    "sts",
    "s3",
    "kms",
    "secretsmanager",
    "ecr",
    "acm",
    "logs",
    "wafv2",
    "budgets",
    "route53",
    "cloudwatch",
    "autoscaling",
    "sns",
    "ssm",
]
"""Services imported at start, in this order, because some draw random values while they are imported."""

_DATETIME_READERS = ("s3", "ecr", "budgets", "cloudwatch", "autoscaling")
"""Services whose models call `datetime.now` themselves."""


def _clock_class(now: Callable[[], float]) -> type[datetime.datetime]:
    """`datetime.datetime` with `now` taken from the given clock; other instances still count as its instances."""

    class AnyDatetime(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, datetime.datetime)

    class Clock(datetime.datetime, metaclass=AnyDatetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:  # type: ignore[override]
            return datetime.datetime.fromtimestamp(now(), tz)

    return Clock


class World:
    """moto's clock, random source and WSGI application. Use one in a process: moto's state is global."""

    def __init__(self, account: str = ACCOUNT) -> None:
        self._account = account
        os.environ.update(ENVIRONMENT)
        self._now: float | None = None
        from moto.core import base_backend, utils

        utils.utcnow = self._utcnow
        from moto.moto_api._internal import mock_random

        self._random = mock_random
        self._random.seed(0)
        for service in PRELOADED:
            importlib.import_module(f"moto.{service}.models")
            importlib.import_module(f"moto.{service}.responses")
        self._tie_key_material_to_seeds()
        self._tie_clocks()
        self._tie_backends_to_seeds(base_backend.AccountSpecificBackend)
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

        self._shorten_dispatch()
        self.application: Any = DomainDispatcherApplication(create_backend_app)
        # The answer depends on the host alone, and moto scans all of its services for it.
        self.application.get_backend_for_host = lru_cache(self.application.get_backend_for_host)

    def now(self) -> float:
        """Seconds since the epoch; the recorded time while a change is executed or replayed."""
        return wall.time() if self._now is None else self._now

    def set_moment(self, seed: int, time: float) -> None:
        """Make all that follows depend on `seed` and `time` only, until `end_moment`."""
        self._random.seed(seed)
        self._now = time

    def end_moment(self) -> None:
        self._now = None

    def _utcnow(self) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self.now(), datetime.UTC).replace(tzinfo=None)

    def _shorten_dispatch(self) -> None:
        """One account: no search for the owner of an access key, which would load IAM for every partition."""
        from moto.core.responses import BaseResponse

        BaseResponse.get_current_account = lambda response: self._account

    def _tie_key_material_to_seeds(self) -> None:
        from moto.kms import models, utils

        models.generate_master_key = lambda: self._random.randbytes(utils.MASTER_KEY_LEN)

    def _tie_clocks(self) -> None:
        """Services that do not use `utcnow`."""
        from moto.secretsmanager import models as secretsmanager

        secretsmanager.time = SimpleNamespace(time=self.now)
        clock = _clock_class(self.now)
        for service in _DATETIME_READERS:
            module: Any = importlib.import_module(f"moto.{service}.models")
            if isinstance(module.datetime, type):
                module.datetime = clock
            else:
                module.datetime = SimpleNamespace(**{**vars(datetime), "datetime": clock})

    def _tie_backends_to_seeds(self, backends: Any) -> None:
        original = backends.__getitem__
        world = self

        def get_backend(self: Any, region_name: str) -> Any:
            region = "aws" if region_name == "global" else region_name
            if region in self.keys():
                return original(self, region)
            state = world._random.getstate()
            name = f"{self.service_name}/{self.account_id}/{region}"
            world._random.seed(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))
            try:
                return original(self, region)
            finally:
                world._random.setstate(state)

        backends.__getitem__ = get_backend
