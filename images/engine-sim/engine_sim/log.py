"""What of other programs' logging is shown, and how."""

from __future__ import annotations

import logging

from aiohttp.http_exceptions import BadHttpMessage


class NoHttp(logging.Filter):
    """A caller that speaks no HTTP/1 is one line: the gateway asks a new worker by HTTP/2 first, to find out what it is."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, BadHttpMessage):
            record.msg, record.args, record.exc_info = "a caller that speaks no HTTP/1 was turned away", (), None
        return True


def set_up() -> None:
    """For the whole process."""
    logging.getLogger("aiohttp.server").addFilter(NoHttp())
