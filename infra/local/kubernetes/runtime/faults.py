"""What a call of the CRI can fail with. The text is for the person who reads the pod's events."""

from __future__ import annotations

import errno

import grpc
from tandem.errors import TandemError

from local.kubernetes.images import UnknownImage


class RuntimeFault(TandemError):
    """A call cannot be done; `code` is what the kubelet is told."""

    def __init__(self, message: str, code: grpc.StatusCode = grpc.StatusCode.INTERNAL) -> None:
        super().__init__(message)
        self.code = code


def not_found(kind: str, identifier: str) -> RuntimeFault:
    """There is no sandbox or container with this id."""
    return RuntimeFault(
        f"{kind} {identifier} - not found: it was removed, or belongs to another node", grpc.StatusCode.NOT_FOUND
    )


def refused(message: str) -> RuntimeFault:
    """The request asks for what this runtime does not do, or does not make sense."""
    return RuntimeFault(message, grpc.StatusCode.INVALID_ARGUMENT)


def not_possible_now(message: str) -> RuntimeFault:
    """The request is fine but the state of its object is not."""
    return RuntimeFault(message, grpc.StatusCode.FAILED_PRECONDITION)


def as_fault(error: Exception) -> RuntimeFault | None:
    """How `error` is told to the kubelet; None if it is a bug of ours."""
    if isinstance(error, RuntimeFault):
        return error
    if isinstance(error, UnknownImage):
        return RuntimeFault(str(error), grpc.StatusCode.NOT_FOUND)
    if isinstance(error, TandemError):
        return RuntimeFault(str(error), grpc.StatusCode.FAILED_PRECONDITION)
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        code = grpc.StatusCode.RESOURCE_EXHAUSTED if full else grpc.StatusCode.INTERNAL
        return RuntimeFault(f"{error.filename or 'node'}: {error.strerror or error}", code)
    return None
